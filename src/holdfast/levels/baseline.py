"""The level of one number over time: what is usual, and how far from it a value may be."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.levels.frozen_columns import Repeats, RepeatsState
from holdfast.norms import HUGE
from holdfast.rule import rarely_called, replaced, rule

FIRST = 16  # values, from whose median the level begins
_FAR = 64.0  # spreads: a value beyond does not count
_AT_FIRST = 8.0  # spreads, the first limit: a normal value is farther once in 10 million
_MARGIN = 1.5  # limits: so fewer values are odd than exceed the limit
_SEASON = 4.0  # rates: a phase comes less often than the level, so it moves faster
_LEAST, _TINY = 1e-12, 1e-300  # of a spread, over the level: less is rounding


class LevelState(NamedTuple):
    """What a baseline remembers."""

    rows: float  # readable values
    level: float
    spread: float  # half of the values are nearer to what was expected
    width: float  # a share `coverage` is nearer
    limit: float  # a share 1 - `alarms` is nearer
    odd: float  # how many more odd values than others, since the first of them
    first_odd: float  # its row
    odds: float  # the odd values since then
    phase: float  # of the season
    fresh: float  # values of this block that were kept and are no repetition
    farthest: float  # of them, from what was expected
    farthest_before: float  # of the block before
    season: np.ndarray  # what to add to the level, by phase
    stored: np.ndarray  # the first values; later the odd ones
    repeats: RepeatsState


@rule
class Baseline:
    """Follow the level of a stream of single numbers.

    *Level.* It begins as the median of the first 16 values, and moves towards each value that is kept, by
    `rate` times the distance or the spread, whichever is less: no value moves it more than an ordinary one.

    *Spread, width and limit* are the distances within which half of the values are, a share `coverage`, and
    all but a share `alarms`. They follow as in `holdfast.intervals.Tracker`, with steps of 0.05. A value is
    *kept* if it is within 1.5 limits, else it is *odd*. Odd values that are farther than 64 spreads do not
    count. For the limit, only the first of several odd values counts, or a run of bad ones would widen it.

    Such steps lower the limit by 5 % in 1,000 values only. So at the end of each block of 1 / `alarms` kept
    values it falls to the farthest of the last two blocks: if values are alike, the next one is farther with
    a chance of at most `alarms`. Repetitions of a value are in no block.

    If the first 16 values are equal, each other one is odd. After `patience` such values they are usual: the
    limit is then one that keeps half of them.

    *Change.* If since the first odd value `patience` more were odd than not, all starts again from these. If
    they are equal, steps of this size are usual: the limit is that of the change.

    *Season.* Each row of a season has its own distance from the level. In the n-th season it moves by 1/n of
    what is left, but not by less than 4 `rate`. The rate of the level is at most 2 / (season + 1), so it does
    not follow the season. A value that is not a finite number is a row of the season, too.

    *Frozen* is what `Repeats` says. Then nothing else changes. The same odd value `patience` times in a row
    is frozen, too, and no change, if so many equal ones are unlikely; it may have been so before.

    Parameters:
        coverage: The share of the values in the interval.
        season: The number of rows after which values repeat; 0 for none.
        patience: So many odd values in a row are a change.
        alarms: At most this share of the values of a clean stream begins to be odd.
        rate: How fast the level moves, in (0, 1].
        repeats (Repeats): For frozen streams; by default with the chance `alarms`.
        factors (computed): Of spread, width and limit: for a value that is nearer, and for one that is not.
        level_rate, phase_rate (computed): By how much the level moves, and its distance in a row of the
            season.
        block (computed): The values of a block.

    Guarantee: Theorem I (`docs/math.md`, 12), because it holds for any rule for counting: for spread and
    width between two changes, for the limit between two ends of blocks. None for the level.

    >>> baseline = Baseline()
    >>> state = baseline.begin()
    >>> for value in np.random.default_rng(0).normal(50.0, 2.0, 1000).tolist():
    ...     state, kept, changed, frozen = baseline.follow(state, value)
    >>> baseline.follow(state, 80.0)[1], abs(state.level - 50.0) < 1.0
    (False, True)
    """

    coverage: float = 0.9
    season: int = 0
    patience: int = 20
    alarms: float = 1e-3
    rate: float = 0.05
    repeats: Any = None
    factors: Any = None
    level_rate: Any = None
    phase_rate: Any = None
    block: Any = None

    def check(self) -> Any:
        if not 0.0 < self.coverage < 1.0:
            raise ValueError(f"coverage is a share of the values, in (0, 1): got {self.coverage}")
        if self.season < 0:
            raise ValueError(f"season is a number of rows, 0 for none: got {self.season}")
        if self.patience < 2:
            raise ValueError(f"patience counts odd values, at least 2: got {self.patience}")
        if not 0.0 < self.alarms < 0.5:
            raise ValueError(f"alarms is a share of the values, in (0, 0.5): got {self.alarms}")
        if not 0.0 < self.rate <= 1.0:
            raise ValueError(f"rate is a part of a distance, in (0, 1]: got {self.rate}")
        shares = (0.5, self.coverage, 1.0 - self.alarms)
        factors = [math.exp(_STEP * (share + end)) for share in shares for end in (-1.0, 0.0)]
        repeats = Repeats(self.alarms) if self.repeats is None else self.repeats
        level_rate = min(self.rate, 2.0 / (self.season + 1.0)) if self.season > 0 else self.rate
        rates = {"level_rate": level_rate, "phase_rate": min(_SEASON * self.rate, 1.0)}
        block = float(math.ceil(1.0 / self.alarms))
        return replaced(self, repeats=repeats, factors=tuple(factors), block=block, **rates)

    def begin(self) -> LevelState:
        """The state before the first value."""
        season, stored = np.zeros(max(self.season, 1)), np.zeros(max(FIRST, 2 * self.patience))
        numbers = (0.0, math.nan, math.inf, math.inf, math.inf, 0.0, 0.0, 0.0)
        return LevelState(*numbers, 0.0, 0.0, 0.0, 0.0, season, stored, self.repeats.begin())

    def valid(self, state: LevelState) -> bool:
        """Whether `follow` can go on from a state, which may be from a damaged file."""
        counts = 0.0 <= state.rows < HUGE and 0.0 <= state.odd <= self.patience and state.odds >= 0.0
        phase = 0.0 <= state.phase < max(self.season, 1) and state.phase == math.floor(state.phase)
        blocks = 0.0 <= state.fresh < self.block and min(state.farthest, state.farthest_before) >= 0.0
        return counts and phase and blocks and self.repeats.valid(state.repeats)

    def expected(self, state: LevelState) -> float:
        """The middle of the interval of the next value; NaN before 16 values."""
        if self.season == 0:
            return state.level
        return state.level + float(state.season[int(state.phase)])

    def score(self, state: LevelState, value: float) -> float:
        """The distance of a value over the farthest that is kept."""
        if not -HUGE < value < HUGE:
            return math.inf
        if state.rows < FIRST:
            return 0.0
        far = abs(value - self.expected(state))
        return far / (_MARGIN * max(state.limit, state.spread))

    def follow(self, state: LevelState, value: float) -> tuple[LevelState, bool, bool, bool]:
        """The state after a value, and whether it was kept, is the last of a change, and is frozen.

        One that is not a finite number is not kept, and changes nothing but the phase of the season.
        """
        if not -HUGE < value < HUGE:
            return self.without_value(state), False, False, False
        repeats, frozen = self.repeats.follow(state.repeats, value)
        (
            rows, level, spread, width, limit, odd, first_odd, odds,
            phase, fresh, farthest, farthest_before, season, stored, _,
        ) = state  # fmt: skip
        if frozen:
            return self.paused(state, repeats), False, False, True
        if rows < FIRST:
            stored[int(rows)] = value
            if rows + 1.0 == FIRST:
                level, spread = usual(stored[:FIRST])
                width, limit = self.first_width(spread), _AT_FIRST * spread
            rest = (0.0, 0.0, 0.0, self.next_phase(phase), 0.0, 0.0, 0.0, season, stored, repeats)
            return LevelState(rows + 1.0, level, spread, width, limit, *rest), True, False, False
        place, usual_now = 0, 0.0
        if self.season > 0:
            place = int(phase)
            usual_now, phase = float(season[place]), self.next_phase(phase)
        distance = value - level - usual_now
        far = abs(distance)
        kept = far <= _MARGIN * (limit if limit > spread else spread)
        if not kept and repeats.same >= self.patience and self.repeats.is_unlikely(repeats, repeats.same):
            return self.paused(state, repeats), False, False, True
        reach = spread
        spread, width, limit = self.moved(far, spread, width, limit, level, kept, odd, repeats.same)
        changed = False
        if kept:
            nearest = distance if distance > -reach else -reach
            level += self.level_rate * (nearest if nearest < reach else reach)
            if self.season > 0:
                part = 1.0 / (1.0 + math.floor((rows - FIRST) / self.season))
                if part > self.phase_rate:
                    reach *= _AT_FIRST
                season[place] += max(part, self.phase_rate) * max(min(distance, reach), -reach)
            if repeats.same == 1.0:
                fresh += 1.0
                farthest = far if far > farthest else farthest
                if fresh >= self.block:
                    limit = min(limit, max(farthest, farthest_before, spread))
                    fresh, farthest, farthest_before = 0.0, 0.0, farthest
            if odd > 0.0:
                odd -= 1.0
                if odd == 0.0 and spread > least_spread(level):
                    odds = 0.0
        else:
            first_odd = first_odd if odd > 0.0 else rows
            stored[int(odds) % len(stored)] = value - usual_now
            odd, odds = odd + 1.0, odds + 1.0
            if odds >= self.patience > odd and not spread > least_spread(level):
                spread = self.first_spread(stored[: int(self.patience)] - level)
                width, limit, odds = self.first_width(spread), _AT_FIRST * spread, 0.0
            if odd >= self.patience:
                before = level
                level, spread = usual(stored[: min(int(odds), len(stored))])
                if not spread > least_spread(level):
                    spread = max(spread, abs(level - before) / _AT_FIRST)
                width, limit = self.first_width(spread), _AT_FIRST * spread
                odd, odds, changed = 0.0, 0.0, True
                fresh, farthest, farthest_before = 0.0, 0.0, 0.0
        found = LevelState(
            rows + 1.0, level, spread, width, limit, odd, first_odd, odds,
            phase, fresh, farthest, farthest_before, season, stored, repeats,
        )  # fmt: skip
        return found, kept, changed, False

    def next_phase(self, phase: float) -> float:
        """The phase of the season in the row after this one."""
        return phase + 1.0 if phase + 1.0 < self.season else 0.0

    def without_value(self, state: LevelState) -> LevelState:
        """The state after a row that has no number."""
        if self.season == 0:
            return state
        return LevelState(*state[:8], self.next_phase(state.phase), *state[9:])

    def paused(self, state: LevelState, repeats: RepeatsState) -> LevelState:
        """The state after a row of a frozen stream: what was odd before it is over."""
        rest = (0.0, state.first_odd, 0.0, self.next_phase(state.phase), *state[9:14], repeats)
        return LevelState(state.rows + 1.0, state.level, state.spread, state.width, state.limit, *rest)

    def moved(
        self,
        far: float,
        spread: float,
        width: float,
        limit: float,
        level: float,
        kept: bool,
        odd: float,
        same: float,
    ) -> tuple[float, float, float]:
        """Spread, width and limit after a value at this distance, the `same`-th that is equal, with `odd` odd
        ones before it.
        """
        near = kept or far <= _FAR * spread
        least = least_spread(level)
        nearer, farther, nearer_w, farther_w, nearer_l, farther_l = self.factors
        if same == 1.0 and (near or far <= spread):
            spread *= nearer if far <= spread else farther
        if near or far <= width:
            width *= nearer_w if far <= width else farther_w
        if (near and (kept or odd == 0.0)) or far <= limit:
            limit *= nearer_l if far <= limit else farther_l
        return (
            spread if spread > least else least,
            width if width > least else least,
            limit if limit > least else least,
        )

    def first_spread(self, distances: np.ndarray) -> float:
        """The spread of equal values and of odd ones at these distances: half of the odd ones are kept."""
        ordered = np.sort(np.abs(distances))
        return max(float(ordered[len(ordered) // 2]) / (_MARGIN * _AT_FIRST), _TINY)

    def first_width(self, spread: float) -> float:
        """The width for `coverage` if distances fall off exponentially."""
        return spread * -math.log(1.0 - self.coverage) / math.log(2.0)


_STEP = 0.05  # of ln width


def least_spread(level: float) -> float:
    """The spread of equal values."""
    least = _LEAST * abs(level)
    return least if least > _TINY else _TINY


@rarely_called
def usual(values: np.ndarray) -> tuple[float, float]:
    """The lower median of some values, and that of the distances from it.

    If half of the values are equal, it is the smallest distance above 0, which is how fine the values are.
    """
    middle = (len(values) - 1) // 2
    level = float(np.sort(values)[middle])
    distances = np.sort(np.abs(values - level))
    while middle < len(values) - 1 and not distances[middle] > 0.0:
        middle += 1
    return level, max(float(distances[middle]), least_spread(level))
