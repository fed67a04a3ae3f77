"""Is a stream frozen: has the same value come more often in a row than is likely for it?"""

import math
from typing import NamedTuple

from holdfast.rule import rule

_LEAST = 5  # equal values: fewer are never called frozen
_KNOWN = 20  # changes of the value, before anything is called frozen


class RepeatsState(NamedTuple):
    """What is known of runs of equal values."""

    last: float  # value
    same: float  # how often it came in a row
    changes: float  # how often a value was another than that before it
    repeats: float  # how often it was the same, in runs that have ended
    longest: float  # run that has ended


@rule
class Repeats:
    """The last value has come so often in a row that this happens with probability `chance`² at most.

    If values repeat independently with the share p of the past, n more of the same have probability p^n. And
    the run must be twice as long as any before it: so a stream whose values do not repeat independently, such
    as rain, gives few alarms, at most log2(T) in T rows beyond those that are likely.

    Parameters
    ----------
    chance
        A probability. It is squared, because every row is the start of a run.

    Guarantee
    ---------
    None but the number of alarms above.

    Examples
    --------
    >>> repeats = Repeats()
    >>> state = repeats.begin()
    >>> for value in [1.0, 2.0, 3.0] * 20 + [7.0] * 5:
    ...     state, frozen = repeats.follow(state, value)
    >>> state.same, frozen
    (5.0, True)
    """

    chance: float = 1e-3

    def check(self) -> None:
        if not 0.0 < self.chance < 1.0:
            raise ValueError(f"chance is a probability: expected 0 < chance < 1, got {self.chance}")

    def begin(self) -> RepeatsState:
        """The state before the first value."""
        return RepeatsState(math.nan, 0.0, 0.0, 0.0, 0.0)

    def valid(self, state: RepeatsState) -> bool:
        """Whether values can lead to this state."""
        return min(state.same, state.changes, state.repeats, state.longest) >= 0.0

    def follow(self, state: RepeatsState, value: float) -> tuple[RepeatsState, bool]:
        """The state after a value, and whether the stream is frozen."""
        last, same, changes, repeats, longest = state
        if value != last:
            repeats += max(same - 1.0, 0.0)
            return RepeatsState(value, 1.0, changes + 1.0, repeats, max(longest, same)), False
        state = RepeatsState(last, same + 1.0, changes, repeats, longest)
        return state, self.is_frozen(state, same + 1.0)

    def is_frozen(self, state: RepeatsState, same: float) -> bool:
        """Whether a run of so many is frozen, after what has ended before it."""
        return same >= 2.0 * state.longest and self.is_unlikely(state, same)

    def is_unlikely(self, state: RepeatsState, same: float) -> bool:
        """The same, however long runs were before."""
        if state.changes < _KNOWN or same < _LEAST:
            return False
        share = (state.repeats + 1.0) / (state.repeats + state.changes + 2.0)
        return (same - 1.0) * math.log(share) <= 2.0 * math.log(self.chance)

    def fewest(self) -> float:
        """No shorter run is frozen."""
        return float(_LEAST)

    def first_frozen(self, state: RepeatsState, least: float, most: float) -> float:
        """The first length, from `least` to `most`, at which a run is frozen; 0 if there is none."""
        if not self.is_frozen(state, most):
            return 0.0
        while least < most:  # once it is frozen, it stays so
            middle = math.floor(0.5 * (least + most))
            if self.is_frozen(state, middle):
                most = middle
            else:
                least = middle + 1.0
        return most
