"""A round as a value: what is known of it when it ends, and the verdict on it."""

__all__ = ["Round", "Verdict"]

import math
from typing import Any, NamedTuple


class Round(NamedTuple):
    """What is known of a round when it ends. The gradient of its loss is slope * x.

    `row` and `target` are x and y as the learner sees them: `LearnerOptions.in_units` sets them. A learner
    without units needs neither.
    """

    slope: float
    x: Any
    y: float = math.nan  # NaN: there is no target
    row: Any = None
    target: float = 0.0


def after_round(learner: Any, state: Any, round: Round) -> Any:
    """The state of a learner after a round that is not in its units yet.

    For loops in Python. A learner inside another one is updated without it: the compiler cannot call a
    function from within itself.
    """
    return learner.update(state, learner.in_units(state, round))


class Verdict(NamedTuple):
    """Whether a round was kept, and what was measured, by each check of the player.

    A check compares a size with a threshold. `check_names()` of the player has their names, in the same
    order. A size is NaN if it was not measured, and a threshold is NaN if the check was not asked: that is so
    for all checks if the round is not readable.
    """

    kept: bool
    refused_by: int  # the place of the check that refused it first; -1: kept, or not readable
    sizes: tuple[float, ...]
    thresholds: tuple[float, ...]
    column: int = -1  # of the farthest cell of a row that was refused for its features, if it is known

    @property
    def size(self) -> float:
        """What the last check has measured: the only one of `Filtered`, and the gradient of `Guarded`."""
        return self.sizes[-1]

    @property
    def threshold(self) -> float:
        """The threshold of the last check."""
        return self.thresholds[-1]
