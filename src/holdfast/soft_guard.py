"""A guard for regression: a surprising target teaches little, instead of nothing."""

__all__ = ["SoftGuarded"]

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.entrywise import copy_row
from holdfast.filters.everything import Everything
from holdfast.filters.topshare import TopShare
from holdfast.game import Decision
from holdfast.guard import GuardedDecision
from holdfast.learners.needs import check_hints
from holdfast.norms import HUGE, L1, LONG
from holdfast.protocols import Filter, Learner, Norm
from holdfast.rule import rarely_called, rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import dot_transformed, length, place, place_of_largest, values_of

_NORMAL = 1.25  # the standard deviation of normal residuals over their mean absolute value
_RATE = 0.01  # of the mean residual, after the first 100 kept rounds
_PRIOR = 10.0  # rounds for which the first value of the mean residual, 1, counts
_NEAR = 4.0  # a residual counts up to so many mean residuals in that mean
_LEAST = 1e-3  # spreads: smaller residuals count as this, or a target without noise would look surprising
_RECENT = 0.02  # the rate at which the share of surprising targets fades
_MOST = 0.25  # if a larger share of the targets is surprising, none of them teaches
_BURST = 10.0  # so many more rounds skipped than kept are a burst
_FAR = 2.0  # times the threshold before the burst: no larger size is kept in it
_SHORT = 75.0  # skipped rounds: fewer are no change, because most of the recent rows must be new
_YOUNG = 150.0  # kept rounds: until then _SHORT skipped ones are a change
_GOOD = 3.0  # mean residuals: a far row that is predicted so well is not wrong
_ROWS = 100  # from which scales are taken after a change
_WILD = 1e6  # a target so many spreads away teaches nothing: losses would be lost in rounding


class SoftGuardedState(NamedTuple):
    """The state of a learner behind a soft guard."""

    learner: Any
    features: Any
    target: Any
    repeats: Any
    previous: np.ndarray  # the last row; empty for sparse rows
    recent: np.ndarray  # the last rows, each with its target in the last column
    limits: np.ndarray  # the usual thresholds of features and target
    run: float  # how many rows in a row are equal to it
    residual: float  # a fading mean of absolute residuals of kept rounds, in the learner's units
    kept: float  # rounds, in which there was a residual
    rounds: float  # measured
    surprising: float  # the recent share of rounds that the target filter refused
    bad: float  # grows by 1 if a filter refuses a row or a target, falls by 1 if not, not below 0
    y: float  # the target of this round


@rule
class SoftGuarded:
    """A learner for regression, behind filters on its rows and targets. A surprising target teaches little.

    A row is measured by its farthest cell, in units of the running scale. So one wild cell is seen, whatever
    the other columns are. A far row is kept all the same if its target is predicted well.

    A target is measured by its distance from the running center or from the prediction, whichever is smaller:
    a rare target that the learner predicts is no outlier. The first is in units of the running scale, the
    second in units of the usual residual.

    If all filters keep a round, it is learned from. If only the target filter refuses it, it moves the
    weights but not the scales (`update_weights`), unless more than a quarter of the recent rounds were
    refused. So it goes with learners that a large residual hardly moves, such as `RobustRidge`. The record
    calls such a round skipped. All other rounds teach nothing.

    If 10 more rounds were skipped than kept, one after the other, it is a burst. The filters then remember no
    size above twice their threshold before the burst, and keep none. So bad rows do not become usual by being
    many, even if most of the stream is bad so far. If more than `patience` are skipped, the stream has
    changed: scales are taken from the last 100 rows (`after_change`), and the filters start again. For a
    guard that has kept fewer than 150 rounds since the start or the last change, 75 skipped ones are enough:
    perhaps the first rows were the bad ones.

    Parameters
    ----------
    learner : a learner
        Such as `Scaled(RobustRidge(), target=True, clip=1e6)`. A clip would hide how far a cell is.
    features, target : filters
        For sizes of rows and targets.
    repeats : a filter
        For the number of times that a row came in a row, as from a sensor that is stuck; only for dense rows.
        The record says so with a size of the features that is too large by the same factor as that number.
    norm : a norm
        Rows are measured in its dual. The dual of `L1` is the largest absolute entry.
    patience : int
        So many bad rows in a row are withstood, and after a change about so many good ones are lost.

    Guarantee: none for the whole. What the filters keep is as small as they promise, in the units of the
    round; a round that is not kept can move the weights as far as the learner lets it.

    Examples
    --------
    >>> import holdfast as hf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 2))
    >>> y = X @ [1.0, 2.0]
    >>> y[300:320] += 1000.0
    >>> player = SoftGuarded(hf.Scaled(hf.learners.RobustRidge(), target=True, clip=1e6))
    >>> record = hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=("predictions", "kept"))
    >>> bool(record.kept[300:320].any()), bool(abs(record.predictions - y)[320:].max() < 0.2)
    (False, True)
    """

    learner: Learner
    features: Filter = TopShare(0.1, slack=15.0)
    target: Filter = TopShare(0.1, slack=15.0)
    repeats: Filter = Everything()
    norm: Norm = L1()
    patience: int = 1000

    def check(self):
        if self.patience < 10:
            raise ValueError(f"patience counts rounds, at least 10: got {self.patience}")

    def learns_little(self):
        return True

    def check_dim(self, dim):
        check_hints(self.learner)
        self.learner.check_dim(dim)
        self.norm.check_dim(dim)

    def init(self, dim):
        memories = (self.features.init(dim), self.target.init(dim), self.repeats.init(dim))
        arrays = (np.zeros(dim), np.zeros((_ROWS, dim + 1)), np.full(2, math.inf))
        return SoftGuardedState(self.learner.init(dim), *memories, *arrays, *first_numbers(), 0.0)

    def valid(self, state):
        return (
            self.learner.valid(state.learner)
            and self.features.valid(state.features)
            and self.target.valid(state.target)
            and self.repeats.valid(state.repeats)
            and state.residual > 0.0
            and is_whole(state.rounds)
            and state.rounds >= 0.0
        )

    def reset(self, state, dim):
        learner = self.learner.reset(state.learner, dim)
        return SoftGuardedState(learner, *self.cleared(state, dim), 0.0)

    def cleared(self, state, dim):
        """All fields but the learner and the target, as in the first state."""
        memories = (
            self.features.reset(state.features, dim),
            self.target.reset(state.target, dim),
            self.repeats.reset(state.repeats, dim),
        )
        state.previous[:] = 0.0
        state.limits[:] = math.inf
        return (*memories, state.previous, state.recent, state.limits, *first_numbers())

    def to_lazy(self, state, summed):
        learner = self.learner.to_lazy(state.learner, summed)
        return state._replace(learner=learner, previous=np.zeros(0), recent=np.zeros((_ROWS, 1)))

    def forget_sizes(self, state, learner):
        """The state with this learner, and with filters that remember no sizes: for `Changing`."""
        dim = length(self.learner.predict(learner))
        return SoftGuardedState(learner, *self.cleared(state, dim), state.y)

    def set_target(self, state, y):
        memories = (state.features, state.target, state.repeats)
        arrays = (state.previous, state.recent, state.limits)
        numbers = (state.run, state.residual, state.kept, state.rounds, state.surprising, state.bad)
        return SoftGuardedState(self.learner.set_target(state.learner, y), *memories, *arrays, *numbers, y)

    def predict(self, state):
        return self.learner.predict(state.learner)

    def current_weights(self, state):
        return self.learner.predict(state.learner)

    def observe(self, state, slope, x):
        learner, norm = state.learner, self.norm.dual()
        row = self.learner.transform_row(learner, x)
        size, target = norm.of(row), self.learner.transform_target(learner)
        w = self.learner.predict(learner)
        error = abs(target - dot_transformed(w, row))  # the prediction is not yet limited to known targets
        distance = min(abs(target), max(error, _LEAST) / (_NORMAL * state.residual))
        entry = norm.entry_bound(row, size)
        finite = size < math.inf and entry < HUGE and abs(slope) * entry < HUGE
        if not (finite and entry + abs(slope) < LONG and abs(target) < LONG):
            unknown = Decision(False, size, math.nan), Decision(False, distance, math.nan)
            return state, GuardedDecision(False, math.inf, math.nan, unknown[0], unknown[1], -1)
        limits, burst = state.limits, state.bad >= _BURST
        features, feature_threshold, near = state.features, _FAR * limits[0], False
        if not (burst and size > feature_threshold):
            features, feature_threshold, near = self.features.decide(state.features, size)
        surprise, target_threshold, likely = state.target, _FAR * limits[1], False
        if not (burst and distance > target_threshold):
            surprise, target_threshold, likely = self.target.decide(state.target, distance)
        run = 1.0
        if not self.repeats.keeps_all() and len(state.previous) > 0:
            run = state.run + 1.0 if is_repeated(state.previous, x) else 1.0
        repeats, most, fresh = self.repeats.decide(state.repeats, run)
        residual, kept, surprising = state.residual, state.kept, state.surprising
        surprising += _RECENT * ((0.0 if likely else 1.0) - surprising)
        near = near or (likely and kept >= _ROWS and error <= _GOOD * residual)
        if near and fresh:
            if likely:
                learner = self.learner.update_transformed(learner, slope, x, row)
                if error > 0.0:  # there is none while the target has no scale
                    kept += 1.0
                    step = min(error, _NEAR * residual) - residual
                    residual = max(residual + max(1.0 / (kept + _PRIOR), _RATE) * step, _LEAST)
            elif surprising < _MOST and distance < _WILD:
                learner = self.learner.update_weights(learner, slope, x, row)
        if near and not fresh:  # the audit says by which factor the row was repeated too often
            size = feature_threshold * (run / most if most > 0.0 else 2.0)
        decision = GuardedDecision(
            near and likely and fresh,
            abs(slope) * size,
            math.inf,
            Decision(near and fresh, size, feature_threshold),
            Decision(likely, distance, target_threshold),
            -1 if near else place_of_largest(row),
        )
        remember(state.recent, state.rounds, x, state.y)
        rounds = state.rounds + 1.0
        bad = max(state.bad - 1.0, 0.0) if near and likely else state.bad + 1.0
        if bad == 0.0:  # a filter that has seen hardly anything but zeros has no limit yet
            limits[0] = feature_threshold if feature_threshold > 0.0 else math.inf
            limits[1] = target_threshold if target_threshold > 0.0 else math.inf
        enough = max(self.patience + _BURST, _SHORT) if kept >= _YOUNG else _SHORT
        changed = bad > enough and rounds >= _ROWS
        arrays = (state.previous, state.recent, limits)
        numbers = (run, residual, kept, rounds, surprising, bad)
        state = SoftGuardedState(learner, features, surprise, repeats, *arrays, *numbers, state.y)
        return self.start_again(state) if changed else state, decision

    @rarely_called
    def start_again(self, state):
        """The state after a change: scales from the recent rows, and filters that remember no sizes."""
        return self.forget_sizes(state, self.learner.after_change(state.learner, state.recent))


def first_numbers():
    return (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)


def remember(recent, rounds, x, y):
    row = recent[int(rounds) % len(recent)]
    copy_row(row, x)
    row[-1] = y


def is_repeated(previous, x):
    """Whether a row equals the previous one, which it replaces."""
    values, same = values_of(x), True
    for j in range(len(values)):
        i = place(x, j)
        if previous[i] != values[j]:
            previous[i], same = values[j], False
    return same
