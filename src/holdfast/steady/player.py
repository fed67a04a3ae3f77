"""The default player: one gate on rows, units that hold, several memories, and a fallback with a proof."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.entrywise import copy_row
from holdfast.filters.topshare import TopShare
from holdfast.game import Decision
from holdfast.guard import GuardedDecision
from holdfast.learners.bettors import Bettors
from holdfast.learners.missing_cells import missing_with
from holdfast.losses import Absolute
from holdfast.matrices import sum_of_rows
from holdfast.norms import HUGE
from holdfast.protocols import Filter, Loss
from holdfast.rule import rarely_called, rule
from holdfast.steady.asked import EPOCH, HIGH, LOW, Y_CENTER, Y_FACTOR, Asked, nothing_asked
from holdfast.steady.epochs import Epoch, count_learned, forget_epoch, new_epoch
from holdfast.steady.hedge import Hedge
from holdfast.steady.ridges import Ridges
from holdfast.steady.units import (
    Units,
    are_valid,
    count_row,
    forget_units,
    have_changed,
    is_off,
    measure_units,
    new_units,
    repeated,
    replaced,
    unit_octave,
)
from holdfast.vectors import (
    ScaledWeights,
    add,
    assign,
    dot,
    largest,
    place_of_largest,
    scale_by,
    squash,
    standardise,
)

_SOONEST, _FIRST = 8, 32  # rounds: after 8, 16 and 32 of them units are measured, and all are learned from
_STORED = 256  # rounds: until then, units are compared with those of the last half, every 32 rounds
FEW_STORED = 32  # the same for a game of one of many keys
_NO_CLIP = 1e300  # the gate must see how far a cell is
_NEAR = 8.0  # units: a stored row with a farther cell is not learned from
USUAL = 8.0  # usual residuals: a target that is so near is never refused
_SURE = 3.0  # a margin counts as at most this where forecasts of labels are judged


class SteadyState(NamedTuple):
    """The state of the default."""

    learner: Any
    units: Units
    gate: Any
    surprise: Any
    fallback: Any
    hedge: Any
    asked: Asked
    v: np.ndarray  # the weights of the deployed forecast, now
    row: np.ndarray  # a buffer: the row as it is learned from
    raw: np.ndarray  # a buffer: the row in its own units, missing cells filled, and the target
    losses: np.ndarray  # a buffer
    first: np.ndarray  # the first rounds, each with its target and its weight
    start: np.ndarray  # centers and factors at the last start
    runs: np.ndarray  # 1 if the last row was refused; 1 if the last target was
    learned: Epoch  # what the theorem needs of the rounds since the fallback started again
    rounds: float  # readable ones
    epoch: float  # how often units were replaced; -1 before the first start
    low: float  # the range of the targets that were predictable
    high: float
    y: float  # the target of this round


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
    `stored`, units are compared with those of the last half of the rounds: if they differ much, the first
    rounds were bad ones, and everything starts again from the others.

    Parameters
    ----------
    learner : Ridges or Logits
    loss : a loss
        By which forecasts are judged. For numbers it is in units of the target.
    gate, surprise : filters
        For the size of rows, and for residuals of stubborn regressions.
    fallback : Bettors
    hedge : Hedge
    knee, most : floats
        Cells are linear up to `knee` units, and at most `most`.
    near : float
        A row whose cells are all within so many units is never refused, nor is a residual up to 8 usual ones.
    wrong : float
        The share of the values of a column that may be wrong, for its unit.
    delay : int
        The number of rounds of a batch. 0: batches begin where `start_batch` is called.
    weighted : bool
        Whether rounds have weights: the slope of a round over that of its loss.
    stored : int
        How many of the first rounds are stored, at least 32.
    missing : float
        As in `Scaled`.

    Guarantee
    ---------
    For convex losses with bounded slopes (not for `Squared`), and every set of inliers: on the inliers the
    loss exceeds that of every linear model on squashed columns by at most what Theorem D of `docs/math.md`
    says. Nothing is assumed about the other rounds.

    Examples
    --------
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

    def check(self):
        if not 1.0 <= self.knee <= self.most < math.inf:
            raise ValueError(
                "knee and most are numbers of units, 1 <= knee <= most: "
                f"got knee={self.knee:g} and most={self.most:g}"
            )
        if self.delay < 0:
            raise ValueError(f"delay is the number of rounds of a batch, 0 for any: got {self.delay}")
        if self.stored < FEW_STORED:
            raise ValueError(f"stored counts first rounds, at least {FEW_STORED}: got {self.stored}")
        return self._make((*self[:-1], missing_with(self.missing)))

    def learns_little(self):
        """True for numbers: a refused target teaches the agile regressions, and the fallback, a little."""
        return self.learner.scales_target()

    def check_dim(self, dim):
        self.gate.init(dim)

    def columns(self, dim):
        """How many columns have units: the target is the last, if it has one."""
        return dim + 1 if self.learner.scales_target() else dim

    def init(self, dim):
        learner = self.learner.init(dim + 1)
        parts = (self.gate.init(dim), self.surprise.init(dim), self.fallback.init(dim + 1))
        asked = nothing_asked(len(learner.each), dim)
        columns = self.columns(dim)
        arrays = (np.zeros(dim + 1), np.zeros(dim + 1), np.zeros(dim + 1), np.zeros(len(learner.each) + 1))
        first = (np.zeros((self.stored, dim + 2)), np.zeros((2, columns)), np.zeros(2))
        parts = (new_units(columns), *parts, self.hedge.init(len(learner.each) + 1), asked)
        return SteadyState(learner, *parts, *arrays, *first, new_epoch(), *self.first_numbers())

    def first_numbers(self):
        """The last five fields of the first state."""
        return (0.0, -1.0, math.inf, -math.inf, 0.0)

    def valid(self, state):
        whole = state.rounds >= 0.0 and math.floor(state.rounds) == state.rounds
        parts = self.learner.valid(state.learner) and self.fallback.valid(state.fallback)
        filters = self.gate.valid(state.gate) and self.surprise.valid(state.surprise)
        rest = are_valid(state.units) and bool(np.all(state.learned.numbers >= 0.0))
        return whole and parts and filters and self.hedge.valid(state.hedge) and rest

    def reset(self, state, dim):
        asked = state.asked
        frozen = (asked.v, asked.fallback, asked.center, asked.factors, asked.numbers)
        for array in (*frozen, state.v, state.runs):
            assign(array, np.zeros(len(array)))
        forget_epoch(state.learned)
        asked.numbers[EPOCH] = -1.0
        for k in range(len(asked.each)):
            assign(asked.each[k], np.zeros(dim + 1))
        return SteadyState(
            self.learner.reset(state.learner, dim + 1),
            forget_units(state.units),
            self.gate.reset(state.gate, dim),
            self.surprise.reset(state.surprise, dim),
            self.fallback.reset(state.fallback, dim + 1),
            self.hedge.reset(state.hedge, len(state.hedge.parts)),
            *self.arrays(state),
            *self.first_numbers(),
        )

    def arrays(self, state):
        """The arrays of a state from `asked` on, in the order of its fields."""
        buffers = (state.v, state.row, state.raw, state.losses)
        return (state.asked, *buffers, state.first, state.start, state.runs, state.learned)

    def set_target(self, state, y):
        numbers = (state.rounds, state.epoch, state.low, state.high)
        parts = (state.learner, state.units, state.gate, state.surprise, state.fallback, state.hedge)
        return SteadyState(*parts, *self.arrays(state), *numbers, y)

    # -- forecasts

    def predict(self, state):
        asked = state.asked
        numbers, v = asked.numbers, (asked.v, asked.center, asked.factors, asked.row, _NO_CLIP)
        low, high, factor = float(numbers[LOW]), float(numbers[HIGH]), float(numbers[Y_FACTOR])
        low, high, spread = self.target_range(low, high, factor)
        if self.weighted and not spread > 0.0:
            spread = 1.0  # else the slope of a first round would be 0, and its weight unknown
        return ScaledWeights(
            *v, float(numbers[Y_CENTER]), spread, low, high, self.missing, self.knee, self.most
        )

    def current_weights(self, state):
        """The weights after the last round, whatever was asked before."""
        dim, units = len(state.row) - 1, state.units
        v = (state.v, units.center[:dim], units.factors[:dim], state.row, _NO_CLIP)
        center, factor = self.target_unit(state)
        low, high, spread = self.target_range(state.low, state.high, factor)
        return ScaledWeights(*v, center, spread, low, high, self.missing, self.knee, self.most)

    def target_unit(self, state):
        """Center and factor of the target."""
        if self.learner.scales_target():
            return float(state.units.center[-1]), float(state.units.factors[-1])
        return 0.0, 1.0

    def target_range(self, low, high, factor):
        """The limits for `ScaledWeights`, and the unit: half a range, or a unit, beyond known targets."""
        spread = 1.0 / factor if factor > 0.0 else 0.0
        if not (low <= high and self.learner.scales_target()):
            return math.inf, -math.inf, spread
        margin = max(0.5 * (high - low), spread)
        return low - margin + spread, high + margin - spread, spread

    def start_batch(self, state):
        """The state at the beginning of a batch of any length: its forecasts are given now."""
        return self.ask(state) if self.delay == 0 else state

    def ask(self, state):
        """The state with the forecasts of now, and with the losses of the last batch."""
        asked = state.asked
        hedge, fallback = self.hedge.after_batch(state.hedge, self.loss_unit(state)), state.fallback
        if asked.numbers[EPOCH] < 0.0 and state.epoch >= 0.0:
            fallback = self.restarted(state, fallback)
        parts = (state.learner, state.units, state.gate, state.surprise, fallback, hedge)
        numbers = (state.rounds, state.epoch, state.low, state.high, state.y)
        state = SteadyState(*parts, *self.arrays(state), *numbers)
        self.average(state)
        self.freeze(state)
        return state

    def freeze(self, state):
        """Let the forecasts be those of now."""
        asked, units, dim = state.asked, state.units, len(state.row) - 1
        assign(asked.v, state.v)
        assign(asked.fallback, state.fallback.w)
        for k in range(len(asked.each)):
            assign(asked.each[k], state.learner.each[k])
        assign(asked.center, units.center[:dim])
        assign(asked.factors, units.factors[:dim])
        center, factor = self.target_unit(state)
        numbers = asked.numbers
        numbers[Y_CENTER], numbers[Y_FACTOR], numbers[EPOCH] = center, factor, state.epoch
        numbers[LOW], numbers[HIGH] = state.low, state.high

    def restarted(self, state, fallback):
        """The fallback, started again from its weights: the theorem is about the rounds from here on."""
        forget_epoch(state.learned)
        return self.fallback.restarted(fallback, fallback.w)

    def loss_unit(self, state):
        """The unit of losses for `hedge`, in units of the target at the last start; 0 if there is none."""
        if state.epoch < 0.0:
            return 0.0
        return self.learner.loss_unit(state.learner) * self.since_start(self.target_unit(state)[1], state)

    def since_start(self, factor, state):
        """A unit of the target, given by its factor, in units of the last start."""
        if not self.learner.scales_target():
            return 1.0
        return float(state.start[1, -1]) / factor if factor > 0.0 else 0.0

    def start_unit(self, state):
        """The unit of the target at the last start: losses of forecasts are in it."""
        if not self.learner.scales_target():
            return 1.0
        return 1.0 / float(state.start[1, -1]) if state.start[1, -1] > 0.0 else 0.0

    def replayed_at_once(self):
        return max(_FIRST, self.stored // 2)

    # -- many keys

    def to_stored(self, state):
        """Zeros for buffers, for first rounds that are not needed any more, and for forecasts that are those
        of now.
        """
        learner, asked = state.learner, state.asked
        for array in (state.row, state.raw, state.losses, asked.row):
            assign(array, np.zeros(len(array)))
        self.learner.clear_buffers(learner)
        if state.rounds >= self.stored:
            unit = float(state.start[1, -1])
            state.first[:] = 0.0
            state.start[:] = 0.0
            state.start[1, -1] = unit
        if self.delay == 1:
            for array in (state.v, asked.v, asked.fallback, asked.center, asked.factors, asked.numbers):
                assign(array, np.zeros(len(array)))
            asked.each[:] = 0.0
        return state

    def from_stored(self, state):
        if self.delay == 1 and state.rounds > 0.0:
            self.average(state)
            self.freeze(state)
        return state

    def to_prior(self, state):
        """The state with units and weights, but without what filters and residuals were like.

        Its rounds are counted as whole batches, so that batches begin with the first row of a key.
        """
        dim, batch = len(state.row) - 1, max(self.delay, 1)
        rounds = float(-(-self.stored // batch) * batch)
        state.units.last[:] = math.nan
        state = SteadyState(
            self.learner.to_prior(state.learner),
            state.units,
            self.gate.reset(state.gate, dim),
            self.surprise.reset(state.surprise, dim),
            self.restarted(state, state.fallback),
            state.hedge,
            *self.arrays(state),
            *(rounds, state.epoch, state.low, state.high, 0.0),
        )
        return self.ask(state)

    # -- a round

    def observe(self, state, slope, x):
        dim = len(state.row) - 1
        row = self.standardised(state, x)
        size, y = largest(row[:dim]), state.y
        if not (size < HUGE and abs(y) < HUGE):
            unknown = Decision(False, size + math.inf, math.nan), Decision(False, abs(y) + math.inf, math.nan)
            return state, GuardedDecision(False, math.inf, math.nan, unknown[0], unknown[1], -1)
        stored = int(state.rounds)
        weight = self.weight_of(state, slope, x)
        if stored < self.stored:
            copy_row(state.first[stored, : dim + 1], x)
            state.first[stored, dim], state.first[stored, dim + 1] = y, weight
        near, threshold, gate = True, math.inf, state.gate
        if state.epoch >= 0.0:
            gate, threshold, _ = self.gate.decide(state.gate, size)
            threshold = max(threshold, self.near)
            near = size <= threshold
        state = self.counted(state, gate)
        surprising, farthest = Decision(True, math.nan, math.nan), -1  # not measured
        if near and state.epoch >= 0.0:
            state, surprising = self.learn(state, x, squash(row, self.knee, self.most), weight, True)
            state.runs[0] = 0.0
        elif not near:
            farthest = place_of_largest(row[:dim])
            if state.runs[0] == 0.0:
                self.count(state, x, state.learner.rounds, True)
            state.runs[0] = 1.0
        if stored < self.stored and is_compared(stored + 1):
            state, started = self.compare(state)
            near = near or started
        if self.delay > 0 and int(state.rounds) % self.delay == 0:
            state = self.ask(state)
        row_decision = Decision(near, size, threshold)
        kept = near and surprising.kept
        return state, GuardedDecision(kept, size, threshold, row_decision, surprising, farthest)

    def counted(self, state, gate):
        """The state with one more readable round."""
        numbers = (state.rounds + 1.0, state.epoch, state.low, state.high, state.y)
        parts = (state.learner, state.units, gate, state.surprise, state.fallback, state.hedge)
        return SteadyState(*parts, *self.arrays(state), *numbers)

    def standardised(self, state, x):
        """The row in units, in the buffer of the state. Missing cells are 0, unless they are too many."""
        return self.missing.clear(standardise(self.current_weights(state), x), x)

    def weight_of(self, state, slope, x):
        """The weight of a round: its slope over that of the loss, as the forecast had it."""
        if not self.weighted:
            return 1.0
        w = self.predict(state)
        own = self.loss.slope(dot(w, x), w.transform_target(state.y))
        return min(abs(slope) / abs(own), 1e100) if own != 0.0 else 1.0

    def learn(self, state, x, row, weight, judged):
        """The state after a round that the gate keeps, and the decision on its target.

        `row` is in the buffer of the state, and squashed. If `judged`, forecasts were given for it.
        """
        center, factor = self.target_unit(state)
        y = (state.y - center) * factor if factor > 0.0 else 0.0
        learner, hedge = state.learner, state.hedge
        distance = min(self.learner.distance(learner, row, y), 1e300)
        given = judged and state.asked.numbers[EPOCH] >= 0.0
        unit = self.since_start(float(state.asked.numbers[Y_FACTOR]), state) if given else 0.0
        if unit > 0.0:
            hedge = self.judge(state, x, row, unit)
        surprise, threshold, _ = self.surprise.decide(state.surprise, distance)
        threshold = max(threshold, USUAL)
        likely = distance <= threshold
        low, high = state.low, state.high
        if likely or self.learner.is_near(learner):
            low, high = min(low, state.y), max(high, state.y)
        first = state.runs[1] == 0.0
        due = judged and self.count(state, x, learner.rounds, likely)
        counts = weight / (1.0 + repeated(state.units, len(row) - 1))
        learner = self.learner.learn(learner, hedge.parts, row, y, likely, first, counts)
        fallback = state.fallback
        z = dot(fallback.w, row)
        slope, loss = self.loss.slope(z, y), self.loss.value(z, y) * self.since_start(factor, state)
        lost = max(float(state.losses[-1]) - loss, 0.0) if unit > 0.0 else -1.0
        count_learned(state.learned, fallback, row, z, lost)
        if abs(slope) < math.inf:
            fallback = self.fallback.update(fallback, weight * slope, row)
        parts = (learner, state.units, state.gate, surprise, fallback, hedge)
        numbers = (state.rounds, state.epoch, low, high, state.y)
        state = SteadyState(*parts, *self.arrays(state), *numbers)
        if due:
            state = self.replace_units(state)
        if self.delay != 1:
            self.average(state)  # or `ask` does
        return state, Decision(likely, distance, threshold)

    def count(self, state, x, rounds, likely):
        """Count the values of a row for the units. Returns whether a unit should be replaced.

        Of a run of refused rows, or of refused targets, only the first counts. So a burst of any length does
        not move units, while refused rows that come one by one do, if they are more than the share.
        """
        raw, units, dim = state.raw, state.units, len(state.row) - 1
        copy_row(raw, x)
        for j in range(dim):
            if raw[j] != raw[j]:
                raw[j] = units.center[j]
        raw[dim] = state.y
        columns = self.columns(dim) if likely or state.runs[1] == 0.0 else dim
        state.runs[1] = 0.0 if likely else 1.0
        return count_row(units, raw, columns, self.wrong, rounds)

    def average(self, state):
        """Set the weights of the deployed forecast: the mean of all regressions and of the fallback."""
        each, parts = state.learner.each, state.hedge.parts
        sum_of_rows(each, parts[: len(each)], state.v)
        add(state.v, float(parts[len(each)]), state.fallback.w)

    def judge(self, state, x, row, unit):
        """`hedge` after the losses of the forecasts that were given for this row.

        They are brought into the range of forecasts, margins into [-3, 3], and losses are in units of the
        target at the last start.
        """
        asked, losses = state.asked, state.losses
        numbers, y, seen = asked.numbers, state.y, row
        if numbers[EPOCH] != state.epoch:
            weights = self.predict(state)
            seen = squash(self.missing.clear(standardise(weights, x), x), self.knee, self.most)
        low, high, known = -_SURE, _SURE, float(numbers[Y_FACTOR])
        if self.learner.scales_target():
            center = float(numbers[Y_CENTER])
            least, most, spread = self.target_range(float(numbers[LOW]), float(numbers[HIGH]), known)
            low, high, y = -math.inf, math.inf, (y - center) * known
            if least <= most:
                low, high = (least - spread - center) * known, (most + spread - center) * known
        last = len(losses) - 1
        for k in range(last):
            z = min(max(dot(asked.each[k], seen), low), high)
            losses[k] = min(self.loss.value(z, y) * unit, HUGE)
        z = min(max(dot(asked.fallback, seen), low), high)
        losses[last] = min(self.loss.value(z, y) * unit, HUGE)
        z = min(max(dot(asked.v, seen), low), high)
        return self.hedge.collect(state.hedge, losses, min(self.loss.value(z, y) * unit, HUGE))

    # -- rarely

    @rarely_called
    def compare(self, state):
        """Start from all rounds, or from the last half of them if units differ. Returns whether it did."""
        stored, share = int(state.rounds), self.wrong
        columns = len(state.units.center)
        rows = state.first[(stored // 2 if stored > _FIRST else 0) : stored]
        if stored > _FIRST and not have_changed(state.start[0], state.start[1], rows[:, :columns], share):
            return state, False
        units, dim = measure_units(state.units, rows[:, :columns], share), len(state.row) - 1
        for j in range(columns):
            state.start[0, j], state.start[1, j] = units.center[j], units.factors[j]
        y = state.y
        state = SteadyState(
            self.learner.reset(state.learner, dim + 1),
            units,
            self.gate.reset(state.gate, dim),
            self.surprise.reset(state.surprise, dim),
            self.fallback.reset(state.fallback, dim + 1),
            self.hedge.reset(state.hedge, len(state.hedge.parts)),
            *self.arrays(state),
            *(state.rounds, max(state.epoch, 0.0) + 1.0, math.inf, -math.inf, y),
        )
        for i in range(len(rows)):
            state = self.set_target(state, float(rows[i, dim]))
            row = self.standardised(state, rows[i, :dim])
            size = largest(row[:dim])
            if size < HUGE:
                gate, _, _ = self.gate.decide(state.gate, size)
                parts = (state.learner, state.units, gate, state.surprise, state.fallback, state.hedge)
                numbers = (state.rounds, state.epoch, state.low, state.high, state.y)
                state = SteadyState(*parts, *self.arrays(state), *numbers)
                if size <= _NEAR:
                    row = squash(row, self.knee, self.most)
                    state, _ = self.learn(state, rows[i, :dim], row, float(rows[i, dim + 1]), False)
        fallback = self.restarted(state, state.fallback)
        parts = (state.learner, state.units, state.gate, state.surprise, fallback, state.hedge)
        numbers = (state.rounds, state.epoch, state.low, state.high, y)
        return SteadyState(*parts, *self.arrays(state), *numbers), True

    @rarely_called
    def replace_units(self, state):
        """Replace units that are off, and express all weights in the new ones. The fallback starts again."""
        learner, units, fallback = state.learner, state.units, state.fallback
        share, dim, w = self.wrong, len(state.row) - 1, fallback.w
        for j in range(len(units.center)):
            known = units.factors[j] > 0.0
            octave = unit_octave(units.counts[j], float(units.seen[j]), share)
            if octave == 0 or (known and not is_off(units, j, share)):
                continue
            moved, unit = replaced(units, j, share)
            if not known:
                if j == dim and state.start[1, j] == 0.0:
                    state.start[1, j] = units.factors[j]  # the first unit of a target that did not vary
                continue
            if j < dim:
                learner = self.learner.express_column(learner, j, moved, unit)
                w[dim] += w[j] * moved
                w[j] *= unit
            else:
                learner = self.learner.express_target(learner, moved, unit)
                w[dim] -= moved
                scale_by(w, 1.0 / unit)
        fallback = self.restarted(state, fallback)
        parts = (learner, units, state.gate, state.surprise, fallback, state.hedge)
        numbers = (state.rounds, state.epoch + 1.0, state.low, state.high, state.y)
        return SteadyState(*parts, *self.arrays(state), *numbers)


def is_compared(stored):
    """Whether units are measured after so many rounds."""
    return stored in (_SOONEST, 2 * _SOONEST) or stored % _FIRST == 0
