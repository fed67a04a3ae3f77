"""The default player: one gate on rows, units that hold, several memories, and a fallback with a proof."""

import math
from typing import Any

import numpy as np

from holdfast.entrywise import copy_row, fill_missing
from holdfast.filters.topshare import TopShare
from holdfast.learners.bettors import Bettors
from holdfast.learners.missing_cells import FillMissing, SkipMissing, missing_with
from holdfast.losses import Absolute
from holdfast.norms import HUGE
from holdfast.protocols import Filter, Loss, Row, Weights
from holdfast.rounds import Round, Verdict
from holdfast.rule import rarely_called, replaced, rule
from holdfast.steady import stored
from holdfast.steady.epochs import count_learned, forget_epoch, new_epoch
from holdfast.steady.forecasts import (
    ask,
    average,
    judge,
    row_asked,
    since_start,
    start_hedge,
    target_unit,
    weights_asked,
    weights_now,
)
from holdfast.steady.hedge import Hedge
from holdfast.steady.ridges import Ridges
from holdfast.steady.starting import (
    first_forecast,
    is_compared,
    replace_units,
    replayed_at_once,
    start_again,
)
from holdfast.steady.state import (
    EPOCH,
    HIGH,
    LOW,
    NEVER,
    ROUNDS,
    Y_FACTOR,
    SteadyState,
    first_numbers,
    nothing_asked,
    with_filters,
)
from holdfast.steady.units import are_valid, count_row, forget_units, new_units, repeated
from holdfast.vectors import assign, dot, largest, place_of_largest, squash, standardise

_STORED = 256  # rounds: until then, units are compared with those of the last half, every 32 rounds
FEW_STORED = 32  # the same for a game of one of many keys
USUAL = 8.0  # usual residuals: a target that is so near is never refused


@rule
class Steady:
    """A player that is judged by the forecasts it gave when it was asked, whatever happened since.

    - *Units* of columns and target are order statistics of deviations, and change rarely
      (`holdfast.steady.units`). Cells beyond `knee` units are squashed, for learning and for predicting: they
      count as knee + ln(1 + rest), at most `most`.
    - One *gate*: a row is refused if its farthest cell is too large. It then changes nothing that predicts:
      only the memory of the gate and, if it is the first of a run, the counts of the units.
    - A *learner* with several memories (`Ridges`, `Logits`). A target that surprises all its stubborn
      regressions is refused by `surprise`: such a round teaches the agile ones only, a little.
    - A *fallback* with a proof. `hedge` weighs it beside the regressions (`docs/math.md`, 11).

    Forecasts are those of the state at the beginning of a batch. Regressions are weighed by the losses of
    these forecasts, not by those one row ahead.

    After 8, 16 and 32 rounds, units are measured and all rounds so far are learned from. Until round
    `stored`, units are compared with those of the last half of the rounds: if those of all features or that
    of the target are much smaller, or elsewhere, or the gate would refuse the first rounds in that of one
    feature, then the first rounds were bad ones, and everything starts again from the others.

    Parameters:
        learner (Ridges or Logits): The regressions.
        loss: By which forecasts are judged. For numbers it is in units of the target.
        gate, surprise: For the size of rows, and for residuals of stubborn regressions.
        fallback (Bettors), hedge (Hedge): As above.
        knee, most: Cells are linear up to `knee` units, and at most `most`.
        near: A row whose cells are all within so many units is never refused, nor is a residual up to 8 usual
            ones.
        wrong: The share of the values of a column that may be wrong, for its unit.
        delay: The number of rounds of a batch. 0: batches begin where `start_batch` is called.
        weighted: Whether rounds have weights: the slope of a round over that of its loss.
        stored: How many of the first rounds are stored, at least 32.
        missing: As in `Scaled`.

    Guarantee: For convex losses with bounded slopes (not for `Squared`), and every set of inliers: on the
    inliers the loss exceeds that of every linear model on squashed columns by at most what Theorem D of
    `docs/math.md` says. Nothing is assumed about the other rounds.

    >>> import holdfast as hf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((600, 2))
    >>> y = X @ [1.0, 2.0]
    >>> X[100::20] *= 1000.0
    >>> record = hf.play(Steady(), hf.Replay(X, y, hf.Absolute()), keep=("predictions", "kept"))
    >>> bool(record.kept[100::20].any()), bool(abs(record.predictions - y)[599] < 0.1)
    (False, True)
    """

    learner: Any = Ridges()
    loss: Loss = Absolute()
    gate: Filter = TopShare(0.15, slack=15.0, window=3000, patience=1000)
    surprise: Filter = TopShare(0.15, slack=8.0, window=3000, patience=1000)
    fallback: Any = Bettors(largest=40.0, constant=True)
    hedge: Any = Hedge()
    knee: float = 30.0
    most: float = 40.0
    near: float = 15.0
    wrong: float = 0.12
    delay: int = 1
    weighted: bool = False
    stored: int = _STORED
    missing: Any = 0.0

    def check(self) -> Any:
        if not 1.0 <= self.knee <= self.most < math.inf:
            raise ValueError(
                "knee and most are numbers of units, 1 <= knee <= most: "
                f"got knee={self.knee:g} and most={self.most:g}"
            )
        if self.delay < 0:
            raise ValueError(f"delay is the number of rounds of a batch, 0 for any: got {self.delay}")
        if self.stored < FEW_STORED:
            raise ValueError(f"stored counts first rounds, at least {FEW_STORED}: got {self.stored}")
        missing = missing_with(self.missing)
        # One type of player for all shares: `FillMissing` leaves all missing cells if the share is 0.
        return replaced(self, missing=FillMissing(0.0) if isinstance(missing, SkipMissing) else missing)

    def check_names(self) -> tuple[str, ...]:
        """The size of a row is its farthest cell; that of a target is its distance, in usual residuals."""
        return ("features", "target")

    def learns_little(self) -> bool:
        """True for numbers: a refused target teaches the agile regressions, and the fallback, a little."""
        return self.learner.scales_target()

    def check_dim(self, dim: int) -> None:
        self.gate.init(dim)

    def columns(self, dim: int) -> int:
        """How many columns have units: the target is the last, if it has one."""
        return dim + 1 if self.learner.scales_target() else dim

    def init(self, dim: int) -> SteadyState:
        learner, columns = self.learner.init(dim + 1), self.columns(dim)
        count = len(learner.each)
        hedge, losses = self.hedge.init(count + 1), np.zeros(count + 1)
        parts = (new_units(columns), self.fallback.init(dim + 1), start_hedge(self, hedge, losses))
        buffers = (np.zeros(dim + 1), np.zeros(dim + 1), np.zeros(dim + 1), losses)
        first = (np.zeros((self.stored, dim + 2)), np.zeros((2, columns)), np.zeros(2))
        filters = (self.gate.init(dim), self.surprise.init(dim))
        asked, numbers = nothing_asked(count, dim), first_numbers()
        return SteadyState(learner, *filters, *parts, asked, *buffers, *first, new_epoch(), numbers)

    def valid(self: Any, state: SteadyState) -> bool:
        rounds = float(state.numbers[ROUNDS])
        whole = rounds >= 0.0 and math.floor(rounds) == rounds
        parts = self.learner.valid(state.learner) and self.fallback.valid(state.fallback)
        filters = self.gate.valid(state.gate) and self.surprise.valid(state.surprise)
        rest = are_valid(state.units) and bool(np.all(state.learned.numbers >= 0.0))
        return whole and parts and filters and self.hedge.valid(state.hedge) and rest

    def reset(self: Any, state: SteadyState, dim: int) -> SteadyState:
        asked = state.asked
        frozen = (asked.v, asked.fallback, asked.center, asked.factors, asked.numbers)
        for array in (*frozen, state.v, state.runs):
            assign(array, np.zeros(len(array)))
        asked.numbers[EPOCH] = NEVER
        for k in range(len(asked.each)):
            assign(asked.each[k], np.zeros(dim + 1))
        assign(state.numbers, first_numbers())
        forget_epoch(state.learned)
        forget_units(state.units)
        self.fallback.reset(state.fallback, dim + 1)
        start_hedge(self, state.hedge, state.losses)
        filters = (self.gate.reset(state.gate, dim), self.surprise.reset(state.surprise, dim))
        self.learner.reset(state.learner, dim + 1)
        return with_filters(state, *filters)

    def predict(self, state: SteadyState) -> Weights:
        return weights_asked(self, state)

    def current_weights(self, state: SteadyState) -> Weights:
        return weights_now(self, state)

    def start_batch(self, state: SteadyState) -> SteadyState:
        """The state at the beginning of a batch of any length: its forecasts are given now."""
        if self.delay == 0:
            ask(self, state)
        return state

    def first_forecast(self) -> int:
        """It starts after 8 readable rounds, and is asked when the batch ends in which it started."""
        return first_forecast(self.delay)

    def replayed_at_once(self) -> int:
        return replayed_at_once(self.stored)

    def to_stored(self, state: SteadyState) -> SteadyState:
        return stored.to_stored(self, state)

    def from_stored(self, state: SteadyState) -> SteadyState:
        return stored.from_stored(self, state)

    def to_prior(self, state: SteadyState) -> SteadyState:
        return stored.to_prior(self, state)

    def observe(self, state: SteadyState, round: Round) -> tuple[SteadyState, Verdict]:
        dim, x, y, numbers = len(state.row) - 1, round.x, round.y, state.numbers
        row, is_usual = standardise(weights_now(self, state), x)
        if not is_usual:
            row = self.missing.clear(row, x)
        size, unknown = largest(row[:dim]), (math.nan, math.nan)
        if not (size < HUGE and abs(y) < HUGE):
            return state, Verdict(False, -1, (size + math.inf, abs(y) + math.inf), unknown, -1)
        count, weight = int(numbers[ROUNDS]), self.weight_of(state, round)
        if count < self.stored:
            copy_row(state.first[count, : dim + 1], x)
            state.first[count, dim], state.first[count, dim + 1] = y, weight
        gate, surprise = state.gate, state.surprise
        near, threshold, started = True, math.inf, numbers[EPOCH] >= 0.0
        if started:
            gate, threshold, _ = self.gate.decide(gate, size)
            threshold = max(threshold, self.near)
            near = size <= threshold
        numbers[ROUNDS] += 1.0
        likely, distance, limit, column = True, math.nan, math.nan, -1  # not measured
        if started:
            fill_missing(state.raw, x, state.units.center[:dim])
        if near and started:
            if not is_usual:
                squash(row, self.knee, self.most)
            seen = Round(round.slope, row_asked(self, state, x, row), y, row, 0.0)
            surprise, likely, distance, limit = self.learn(state, surprise, seen, weight, True)
            state.runs[0] = 0.0
        elif not near:
            column = place_of_largest(row[:dim])
            if state.runs[0] == 0.0:
                self.count(state, y, True)
            state.runs[0] = 1.0
        if count < self.stored and is_compared(count + 1):
            gate, surprise, again = self.start_again(state, gate, surprise)
            near = near or again
        if self.delay > 0 and int(numbers[ROUNDS]) % self.delay == 0:
            ask(self, state)
        refused_by = -1 if near and likely else (1 if near else 0)
        verdict = Verdict(near and likely, refused_by, (size, distance), (threshold, limit), column)
        return with_filters(state, gate, surprise), verdict

    @rarely_called
    def start_again(self, state: SteadyState, gate: Any, surprise: Any) -> tuple[Any, Any, bool]:
        """`holdfast.steady.starting.start_again`; rare, and so not inlined."""
        return start_again(self, state, gate, surprise)

    @rarely_called
    def replace_units(self, state: SteadyState) -> None:
        """`holdfast.steady.starting.replace_units`; rare, and so not inlined."""
        replace_units(self, state)

    def standardised(self, state: SteadyState, x: Row) -> np.ndarray:
        """The row in units, in the buffer of the state. Missing cells are 0, unless they are too many."""
        return self.missing.clear(standardise(weights_now(self, state), x)[0], x)

    def weight_of(self, state: SteadyState, round: Round) -> float:
        """The weight of a round: its slope over that of the loss, as the forecast had it."""
        if not self.weighted:
            return 1.0
        w = weights_asked(self, state)
        own = self.loss.slope(dot(w, round.x), w.target_in_units(round.y))
        return min(abs(round.slope) / abs(own), 1e100) if own != 0.0 else 1.0

    def learn(
        self, state: SteadyState, surprise: Any, round: Round, weight: float, judged: bool
    ) -> tuple[Any, bool, float, float]:
        """Learn from a round that the gate keeps. Returns the state of the filter of targets, and of this one
        whether it is likely, its size and the threshold.

        `round.row` is in the buffer of the state, and squashed. If `judged`, forecasts were given for it: for
        `round.x`, which is in their units. The values to count are in the buffer `raw`.
        """
        (center, factor), row, numbers = target_unit(self, state.units), round.row, state.numbers
        y = (round.y - center) * factor if factor > 0.0 else 0.0
        self.learner.forecast(state.learner, row)
        distance, z = min(self.learner.distance(state.learner, y), 1e300), dot(state.fallback.w, row)
        unit, same = 0.0, False
        if judged and state.asked.numbers[EPOCH] != NEVER:
            unit = weight * since_start(self, state.start, float(state.asked.numbers[Y_FACTOR]))
        if unit > 0.0:
            same = judge(self, state, round, z, unit)
        surprise, threshold, _ = self.surprise.decide(surprise, distance)
        threshold = max(threshold, USUAL)
        likely = distance <= threshold
        if likely or self.learner.is_near(state.learner, y):
            numbers[LOW], numbers[HIGH] = min(numbers[LOW], round.y), max(numbers[HIGH], round.y)
        first = state.runs[1] == 0.0
        due = judged and self.count(state, round.y, likely)
        counts = weight / (1.0 + repeated(state.units, len(row) - 1))
        self.learner.learn(state.learner, state.hedge.parts, row, y, likely, first, counts)
        lost = 0.0 if same else -1.0
        if unit > 0.0 and not same:
            own = self.loss.value(z, y) * weight * since_start(self, state.start, factor)
            lost = max(float(state.losses[-1]) - own, 0.0)
        count_learned(state.learned, state.fallback, row, z, lost)
        slope = self.loss.slope(z, y)
        if abs(slope) < math.inf:
            self.fallback.update(state.fallback, Round(weight * slope, row, y, row, 0.0))
        if due:
            self.replace_units(state)
        if self.delay != 1:
            average(state.learner.each, state.fallback.w, state.hedge.parts, state.v)  # or `ask` does
        return surprise, likely, distance, threshold

    def count(self, state: SteadyState, y: float, likely: bool) -> bool:
        """Count the values in the buffer `raw`, and the target y. Returns whether a unit should be replaced.

        Of a run of refused rows, or of refused targets, only the first counts. So a burst of any length does
        not move units, while refused rows that come one by one do, if they are more than the share.
        """
        raw, dim = state.raw, len(state.row) - 1
        raw[dim] = y
        columns = self.columns(dim) if likely or state.runs[1] == 0.0 else dim
        state.runs[1] = 0.0 if likely else 1.0
        return count_row(state.units, raw, columns, self.wrong, float(state.learner.numbers[0]))
