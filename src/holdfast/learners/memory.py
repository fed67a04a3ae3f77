"""The parameter `memory` of learners that forget: after n more rounds a round counts (1 - 1 / memory)ⁿ."""

import math


def check_memory(rule):
    """Raise unless `memory` is a number of rounds or None. For None, return the rule with infinity instead.

    Compiled code needs a number. None and infinity both mean that nothing is forgotten.
    """
    if rule.memory is None:
        return type(rule)(**rule._asdict() | {"memory": math.inf})
    if not rule.memory >= 2.0:
        raise ValueError(
            f"memory counts rounds, at least 2, or is None to forget nothing: got {rule.memory:g}"
        )
    return None


def refuse_bound(learner):
    """Raise if a learner forgets: then it has no bound on its regret over all rounds."""
    if learner.memory < math.inf:
        raise ValueError(
            f"a learner that forgets has no bound on its regret: use memory=None, got memory={learner.memory:g}"
        )
