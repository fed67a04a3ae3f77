"""What a learner asks of a game, in words."""

from typing import NamedTuple


class Needs(NamedTuple):
    """What a learner needs, and what its bound is worth.

    `needs()` of a learner tells it. `bound(state, u)` is then the most that its regret against u can be, on
    the rounds that the state has learned from, in any game that has what it needs.
    """

    domain: str  # where the weights may lie
    size: str  # what the gradients are measured in
    losses: str  # what they must be for the bound to hold
    proved: bool  # in docs/math.md; if not, the constants are from the literature and were only tried


EUCLIDEAN, RANGE = "Euclidean", "range"


def refuse_without_hints(learner):
    """Raise if nobody tells a learner what it must know before a gradient comes."""
    if learner.takes_hints():
        name = type(learner).__name__
        raise TypeError(
            f"{name} must be told how large a gradient can be before it comes: write Clipped({name}(...))"
        )
