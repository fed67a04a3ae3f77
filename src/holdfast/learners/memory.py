"""The parameter `memory` of learners that forget: after n more rounds a round counts (1 - 1 / memory)ⁿ."""

import math
from typing import Any

from holdfast.rule import replaced


def check_memory(rule: Any) -> Any:
    """Raise unless `memory` is a number of rounds or None. For None, return the rule with infinity instead.

    Compiled code needs a number. None and infinity both mean that nothing is forgotten.
    """
    if rule.memory is None:
        return replaced(rule, memory=math.inf)
    if not rule.memory >= 2.0:
        raise ValueError(
            f"memory counts rounds, at least 2, or is None to forget nothing: got {rule.memory:g}"
        )
    return None


def refuse_bound(learner: Any) -> None:
    """Raise if a learner forgets: then it has no bound on its regret over all rounds."""
    if learner.memory < math.inf:
        raise ValueError(
            "a learner that forgets has no bound on its regret: "
            f"use memory=None, got memory={learner.memory:g}"
        )
