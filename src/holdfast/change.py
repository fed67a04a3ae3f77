"""Lasting changes: if most rounds are skipped for long, what was an outlier is now the stream."""

__all__ = ["Changing"]

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.entrywise import copy_row
from holdfast.flatten import flat_size, flatten, restore
from holdfast.guard import Guarded
from holdfast.learners.mixture import Mixture
from holdfast.learners.scaled import Scaled, median_deviation
from holdfast.protocols import Player
from holdfast.rule import rarely_called, rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import assign

_RECENT = 100  # rows from which new scales are taken
_FAR = 2.0  # times its limit: a size that the filters had not kept before the trouble
_SHRUNK = 0.2  # of the usual deviation of a feature
_EARLY, _FEW = 300, 25  # in so many first rounds, so few rows tell whether features vary less than before
_SURE = 18.0  # natural logarithms: rows look old by chance less than once in 6e7 times
_KEPT = 10  # times patience: for so many rounds the old state is kept


class Limits(NamedTuple):
    """The largest sizes that the feature filter and the target filter keep."""

    features: float
    target: float


class ChangingState(NamedTuple):
    """A guarded learner, the recent rows, and the learner before the last change."""

    guard: Any
    old: Any  # the learner before the last change
    buffer: np.ndarray  # to copy the state of a learner
    recent: np.ndarray  # measured rows, each with its target in the last column
    kept: np.ndarray  # which of them were learned from: 1 or 0
    usual: np.ndarray  # a fading mean of the absolute deviation of each feature
    rounds: float  # measured
    bad: float  # grows by 1 in a skipped round, falls by 1 in a kept one, not below 0
    limits: Limits  # when `bad` was last 0
    old_limits: Limits  # of the learner before the last change
    age: float  # rounds since the change; infinity if there is no old state
    chance: float  # with which a row after the change looks like one before
    run: float  # rows without a break that look like those before the change


@rule
class Changing:
    """A guarded learner that starts again from the recent rows when the stream has changed for good.

    A filter cannot tell a burst of bad rows from a change of units. It skips both, and the learner's scales
    stay where they were. Here a stream has changed if

    - `patience` more rounds were skipped than kept, one after the other; or
    - most of the recent rounds were skipped, and now a filter keeps a round of twice the size it kept before;
    - or most features vary less than a fifth as much as usual (which no filter skips). In the first 300
      rounds 25 rows decide, and the learner starts from scratch: the rows before were a bad start.

    Then scales are taken from the last 100 rows, filters forget all sizes, and `after_change` of the learner
    keeps its weights but not how sure they are. The state before is kept for 10 `patience` rounds. If rows
    look like those before, so many in a row that it is not by chance, that state returns: usually after 4
    rows. In a burst of fewer than `patience` bad rows nothing is changed, so nothing has to return.

    Sparse rows are not stored: only the scale of the target is taken from recent rounds.

    Parameters
    ----------
    guard : Guarded
        With a learner that scales its rows, such as `Scaled(..., target=True)`.
    patience : int
        So many bad rows in a row are withstood, and after a change about so many good ones are lost. The
        filters should withstand as many: give the same to `TopShare(..., patience=)`.

    Guarantee: none. Theorem H holds for the rounds between two changes, in the units of their rounds.

    Examples
    --------
    >>> import holdfast as hf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((3000, 2))
    >>> y = X @ [1.0, 2.0]
    >>> y[1500:] += 1000.0
    >>> guard = hf.Guarded(hf.Scaled(hf.learners.RobustRidge(), target=True))
    >>> player = Changing(guard, patience=50)
    >>> record = hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=("predictions",))
    >>> error = abs(record.predictions - y)
    >>> bool(error[1500:1550].min() > 900.0), bool(error[1600:].mean() < 0.1)
    (True, True)
    """

    guard: Player
    patience: int = 500

    def check(self):
        if not isinstance(self.guard, Guarded):
            name = type(self.guard).__name__
            raise TypeError(
                f"Changing needs the sizes that a guard measures, and {name} is none: use Guarded"
            )
        if not isinstance(self.guard.learner, Scaled | Mixture):
            raise TypeError(
                f"a change is a change of scales, and {self.guard.learner!r} has none: write Scaled(...)"
            )
        if self.patience < 10:
            raise ValueError(f"patience counts rounds, at least 10: got {self.patience}")

    def core(self):
        return self.guard

    def check_dim(self, dim):
        self.guard.check_dim(dim)

    def init(self, dim):
        guard, old = self.guard.init(dim), self.guard.learner.init(dim)
        count = min(self.patience, _RECENT)
        arrays = (np.zeros(flat_size(old)[0]), np.zeros((count, dim + 1)), np.zeros(count), np.zeros(dim))
        return ChangingState(guard, old, *arrays, *first_numbers())

    def valid(self, state):
        whole = is_whole(state.rounds) and state.rounds >= 0.0
        return whole and self.guard.valid(state.guard) and self.guard.learner.valid(state.old)

    def reset(self, state, dim):
        guard = self.guard.reset(state.guard, dim)
        old = self.guard.learner.reset(state.old, dim)
        assign(state.usual, np.zeros(len(state.usual)))
        arrays = (state.buffer, state.recent, state.kept, state.usual)
        return ChangingState(guard, old, *arrays, *first_numbers())

    def to_lazy(self, state, summed):
        old = self.guard.learner.to_lazy(state.old, summed)
        return state._replace(
            guard=self.guard.to_lazy(state.guard, summed),
            old=old,
            buffer=np.zeros(flat_size(old)[0]),
            recent=np.zeros((len(state.recent), 1)),
            usual=np.zeros(0),
        )

    def set_target(self, state, y):
        return with_guard(state, self.guard.set_target(state.guard, y))

    def predict(self, state):
        return self.guard.predict(state.guard)

    def current_weights(self, state):
        return self.guard.current_weights(state.guard)

    def observe(self, state, slope, x):
        guard, decision = self.guard.observe(state.guard, slope, x)
        state = with_guard(state, guard)
        if not decision.size < math.inf:
            return state, decision
        state = remember(state, x, decision)
        if state.age < _KEPT * self.patience:
            state = self.compare_with_old(state, x)
        if self.has_changed(state, decision):
            state = self.start_again(state, state.recent, False)
        else:
            count = block_size(state)
            if state.rounds % count == 0.0:
                state = self.compare_with_usual(state, count)
        return state, decision

    def has_changed(self, state, decision):
        """Whether the stream has changed for good, after this decision."""
        count = len(state.recent)
        if state.rounds < count:
            return False
        if state.bad >= self.patience:
            return True
        if decision.kept and state.bad >= 0.5 * count:
            far = decision.features.size > _FAR * state.limits.features
            return far or decision.target.size > _FAR * state.limits.target
        return False

    @rarely_called
    def compare_with_usual(self, state, count):
        """The state after so many more rows: a new one if features vary much less in them than before."""
        end = (int(state.rounds) - 1) % len(state.recent) + 1
        rows, kept = state.recent[end - count : end], state.kept[end - count : end]
        if state.rounds == _EARLY + count:
            assign(state.usual, np.zeros(len(state.usual)))  # means are not compared with medians
        is_early = count < len(state.recent)
        if have_shrunk(rows, kept, state.usual, is_early):
            return self.start_again(state, rows, is_early)
        return state

    @rarely_called
    def start_again(self, state, rows, from_scratch):
        """The state after a change, with scales from these rows. The learner before it becomes `old`."""
        guard = state.guard
        old = copied(guard.learner, state.old, state.buffer)
        alike = 1.0
        for i in range(len(rows)):
            is_near = self.looks_near(old, state.limits, rows[i, :-1], float(rows[i, -1]), rows.shape[1] > 1)
            alike += 1.0 if is_near else 0.0
        if from_scratch:
            learner = self.learner_of(guard.learner, rows)
        else:
            learner = self.guard.learner.after_change(guard.learner, rows)
        assign(state.usual, np.zeros(len(state.usual)))
        arrays = (state.buffer, state.recent, state.kept, state.usual)
        limits = Limits(math.inf, math.inf)
        return ChangingState(
            self.guard.forget_sizes(guard, learner),
            old,
            *arrays,
            *(state.rounds, 0.0, limits, state.limits, 0.0, alike / (len(rows) + 2.0), 0.0),
        )

    def learner_of(self, state, rows):
        """The first state of the learner, with scales from these rows."""
        learner = self.guard.learner
        y, state = state.y, learner.reset(state, rows.shape[1] - 1)
        for i in range(len(rows)):
            state = learner.set_target(state, float(rows[i, -1]))
            state = learner.update(state, 0.0, rows[i, :-1])
        return learner.set_target(state, y)

    def compare_with_old(self, state, x):
        """Count the rows that look as before the change; if they are enough, the old state returns."""
        is_near = self.looks_near(state.old, state.old_limits, x, state.guard.y, True)
        run, arrays = (
            state.run + 1.0 if is_near else 0.0,
            (state.buffer, state.recent, state.kept, state.usual),
        )
        numbers = (
            state.rounds,
            state.bad,
            state.limits,
            state.old_limits,
            state.age + 1.0,
            state.chance,
            run,
        )
        state = ChangingState(state.guard, state.old, *arrays, *numbers)
        if state.chance < 0.5 and run * math.log(state.chance) < -_SURE:
            return self.return_to_old(state)
        return state

    @rarely_called
    def return_to_old(self, state):
        """The state before the last change, with the target of this round."""
        learner = copied(state.old, state.guard.learner, state.buffer)
        learner = self.guard.learner.set_target(learner, state.guard.y)
        guard = self.guard.forget_sizes(state.guard, learner)
        assign(state.usual, np.zeros(len(state.usual)))
        arrays = (state.buffer, state.recent, state.kept, state.usual)
        numbers = (state.rounds, 0.0, state.old_limits, state.old_limits, math.inf, state.chance, 0.0)
        return ChangingState(guard, state.old, *arrays, *numbers)

    def looks_near(self, learner_state, limits, x, y, has_row):
        """Whether a row and its target are within these limits, as the learner sees them."""
        learner = self.guard.learner
        learner_state = learner.set_target(learner_state, y)
        near = (
            not has_row
            or self.guard.norm.dual().of(learner.transform_row(learner_state, x)) <= limits.features
        )
        return near and abs(learner.transform_target(learner_state)) <= limits.target


def first_numbers():
    limits = Limits(math.inf, math.inf)
    return (0.0, 0.0, limits, limits, math.inf, 1.0, 0.0)


def with_guard(state, guard):
    arrays = (state.buffer, state.recent, state.kept, state.usual)
    numbers = (state.rounds, state.bad, state.limits, state.old_limits, state.age, state.chance, state.run)
    return ChangingState(guard, state.old, *arrays, *numbers)


def remember(state, x, decision):
    """The state with one more recent row, and with the limits of the filters while rounds are kept."""
    i = int(state.rounds) % len(state.recent)
    copy_row(state.recent[i], x)
    state.recent[i, -1] = state.guard.y
    state.kept[i] = 1.0 if decision.kept else 0.0
    bad = max(state.bad - 1.0, 0.0) if decision.kept else state.bad + 1.0
    limits = state.limits
    if bad == 0.0:
        limits = Limits(float(decision.features.threshold), float(decision.target.threshold))
    arrays = (state.buffer, state.recent, state.kept, state.usual)
    numbers = (state.rounds + 1.0, bad, limits, state.old_limits, state.age, state.chance, state.run)
    return ChangingState(state.guard, state.old, *arrays, *numbers)


def block_size(state):
    """The number of rows in which features must vary less than before."""
    return _FEW if state.rounds <= _EARLY and len(state.recent) % _FEW == 0 else len(state.recent)


def copied(state, other, buffer):
    """A copy of a state, in the arrays of another of the same layout."""
    flatten(state, buffer, 0)
    copy, _ = restore(other, buffer, 0)
    return copy


def have_shrunk(rows, kept, usual, by_medians):
    """Whether most features vary much less in these rows than usual. Also moves `usual`."""
    count, known, shrunk = float(np.sum(kept)), 0, 0
    if count < 0.5 * len(rows):
        return False
    for j in range(len(usual)):
        deviation = median_size(rows[kept > 0.0, j]) if by_medians else mean_size(rows, kept, count, j)
        if usual[j] > 0.0:
            known += 1
            shrunk += 1 if 0.0 < deviation < _SHRUNK * usual[j] else 0
            usual[j] += 0.1 * (deviation - usual[j])
        else:
            usual[j] = deviation
    return 2 * shrunk > known


def median_size(values):
    """The median of the deviations that are not 0: a few wild rows and a stuck sensor do not matter."""
    _, square, _ = median_deviation(values)
    return math.sqrt(max(square, 0.0))


def mean_size(rows, kept, count, j):
    """The mean deviation of a column, which takes no sorting."""
    mean, deviation = 0.0, 0.0
    for i in range(len(rows)):
        mean += kept[i] * rows[i, j] / count
    for i in range(len(rows)):
        deviation += kept[i] * abs(rows[i, j] - mean) / count
    return deviation
