"""Passes over the rows of a table: several in `fit`, one in `partial_fit`."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from holdfast._compiled import prebuilt
from holdfast._compiled.compiling import FEW, expecting
from holdfast._compiled.long_calls import deferred_interrupts
from holdfast.adversaries import Replay, Weighted
from holdfast.adversaries.replay import replay_of_arrays
from holdfast.certificates.certified import Certified
from holdfast.continuing import Game
from holdfast.intervals.widths import with_near_rows
from holdfast.linear_model import LinearModels
from holdfast.losses import Pinball
from holdfast.options import refuse_weights
from holdfast.record import VERDICTS
from holdfast.sklearn.base import RobustEstimator
from holdfast.sklearn.judging import (
    KEEP,
    Forecasts,
    JudgedRows,
    is_warm_up,
    joined,
    judged,
    judged_again,
    last_threshold,
    nothing_judged,
    thinned,
)
from holdfast.sklearn.parameters import is_small, regularised, with_fields
from holdfast.sklearn.rows import Weights, are_unequal, centred, which_count
from holdfast.steady import Steady

Rows = NDArray[np.intp]  # indices in the table
Targets = Sequence[NDArray[np.float64]]  # of each model
Labels = Callable[[Rows], NDArray[Any]]  # those of rows

_SETTLED = 50  # rows; before, running scales may change much
_PIECE = 2_000  # rows in Python, after which the compiled game may be on disk
_SOON = 100_000  # rows that a compiled game takes less than a second for
_CHUNK = 2**21  # entries: 16 MB of float64

prebuilt.library()  # machine code is loaded with the estimators, not in their first `fit`


class LearningEstimator(RobustEstimator):
    """Lets each model learn from its rows, and collects the decisions on them."""

    def _learn_passes(
        self, X: Any, targets: Targets, taught: Sequence[Any], label_of: Labels, weights: Weights
    ) -> None:
        """Learn in several passes. The average is over the last one.

        A row is judged in the first pass, and a row that is skipped is left out of all later passes.
        """
        weights = self._relative(weights)
        rng, rows = check_random_state(self.random_state), np.flatnonzero(which_count(weights, X.shape[0]))
        used, passes, all_decisions = [mask.copy() for mask in taught], self._passes(X.shape[0]), []
        with expecting(passes * sum(int(mask[rows].sum()) for mask in taught), self._cost()):
            for number in range(passes):
                if number == passes - 1:
                    self._sums = [self._sum(game) for game in self._games]
                order = rng.permutation(rows) if self.shuffle else rows
                own = [order[mask[order]] for mask in used]
                in_place = self._is_in_place(own)
                with deferred_interrupts() if in_place else contextlib.nullcontext():
                    passed = self._learn(X, targets, weights, own, in_place, order if number == 0 else None)
                if number == 0:
                    self._sample = thinned(passed[0])
                if number < passes - 1:
                    again = number == 0
                    several = zip(targets, passed, self._games, strict=True)
                    passed = [self._final(X, *each, weights, again) for each in several]
                for mask, decisions in zip(used, passed, strict=True):
                    mask[decisions.rows[~decisions.kept]] = False
                all_decisions.append(passed)
                if number == 0 and passes > 1:
                    self._regularise(X, targets[0], passes - 1)
        self._monitor.enough = 0
        if self._events is not None:
            self._events.rows += X.shape[
                0
            ]  # `fit` tells no events: its rows need not be in the order of time
        self._add_to_audit(X, targets, label_of, weights, all_decisions)
        if not isinstance(self._loss, Pinball):  # which is not meant to be near the mean
            self._advise(X, targets[0], label_of, which_count(weights, X.shape[0]))

    def _regularise(self, X: Any, y: NDArray[np.float64], passes: int) -> None:
        """For a small table, start again with the best regularisation for the passes that are left."""
        if self._has_default_learner() and is_small(X, self._default):
            rows = self._sample.rows[self._sample.kept]
            some = X[rows].toarray() if sp.issparse(X) else X[rows]
            self._player = regularised(
                self._player, some, y[rows], self._models, self._missing_share(), passes
            )
            self._games = [None]

    def _learn_once(
        self, X: Any, targets: Targets, taught: Sequence[Any], label_of: Labels, weights: Weights
    ) -> None:
        """Learn in one pass, in the order of the rows."""
        counts = which_count(weights, X.shape[0])
        rows = [(mask & counts).nonzero()[0] for mask in taught]
        self._player = self._as_asked(self._player, False)
        weights = self._relative(weights)
        in_place = self._is_in_place(rows)
        with expecting(0, self._cost()), deferred_interrupts() if in_place else contextlib.nullcontext():
            passed = self._learn(X, targets, weights, rows, in_place, counts.nonzero()[0])
            self._sample = thinned(passed[0])
            self._tell_events(X, targets, counts, passed)
            self._add_to_audit(X, targets, label_of, weights, [passed])

    def _is_in_place(self, rows: Sequence[Rows]) -> bool:
        """Whether games go on in place, so that no state is copied.

        Then Ctrl-C waits until the end, or a model could have learned from half of its rows.
        """
        return sum(map(len, rows)) <= (_SOON if are_native(self._games) else FEW)

    def _cost(self) -> int:
        """The time of a round in Python, over that of AdaGrad."""
        return 4 if isinstance(self._player, Steady) else 1

    def _learn(
        self,
        X: Any,
        targets: Targets,
        weights: Weights,
        rows: Sequence[Rows],
        in_place: bool,
        order: Rows | None,
    ) -> list[JudgedRows]:
        """Let each model learn from its rows, in their order. Returns the decisions of each.

        If this is the first pass over the rows, `order` has them all in their order: the errors of the
        forecasts for them are counted, and widths follow them.

        They learn from some rows at a time, so that copies of them in float64 take little memory, and a game
        that begins in Python goes on compiled as soon as that is possible.
        """
        games, far = list(self._games), list(self._far)
        decisions: list[list[JudgedRows]] = [[] for _ in targets]
        weights = weights if any(are_unequal(weights, own) for own in rows) else None
        player = self._player
        if weights is not None:
            refuse_weights(self._learner_rule())
            player = with_fields(player, Steady, weighted=True) if isinstance(player, Steady) else player
        entries = X.nnz // max(X.shape[0], 1) if self._sparse else X.shape[1]
        start, last = 0, max(*map(len, rows), 1)
        first, at_once = player.core().first_forecast(), isinstance(player, Steady) and player.delay == 0
        is_first, said = order is not None, self._new_forecasts(X.shape[0])
        forecasts, readable = self._forecasts.copy(), [readable_rounds(game) for game in games]
        for i, (y, own) in enumerate(zip(targets, rows, strict=True)):
            if games[i] is None:
                one = own[:1]
                example = self._rows_to_learn(X[one])
                own_weights = None if weights is None else weights[one]
                games[i] = Game(player, self._adversary(example, y[one], own_weights))
        while start < last:
            in_memory = max(_CHUNK // max(entries, 1), 100)
            stop = start + (in_memory if are_native(games) else min(in_memory, _PIECE))
            part, table, taken = None, None, rows[0][:0]
            for i, (y, own) in enumerate(zip(targets, rows, strict=True)):
                some = own[start:stop]
                if len(some) == 0:
                    decisions[i].append(nothing_judged(len(player.check_names())))
                    continue
                if table is None or not np.array_equal(some, taken):
                    part, taken = _part(some, X.shape[0]), some
                    table = self._rows_to_learn(X[part])
                adversary = self._adversary(table, y[part], None if weights is None else weights[part])
                if start == 0 and not in_place and self._games[i] is not None:
                    games[i] = games[i].copy()
                games[i].set_player(player)
                columns = games[i].play(adversary, KEEP if is_first else VERDICTS, begins=start == 0)
                far[i] = last_threshold(columns.thresholds, far[i])
                if is_first:
                    forecasts.add(columns, y[part], readable[i], first, at_once)
                    near = with_near_rows(columns.predictions, columns.refused_by, player.check_names())
                    said.add(some, near, y[some])
                    readable[i] = readable[i] if at_once else readable_rounds(games[i])
                decisions[i].append(judged(columns, some, games[i].rounds))
            start = stop
        models = LinearModels(*(array.copy() for array in self._models))
        # As in a run: of several models, that of the first one which has learned from the last row.
        ends = [own[-1] if len(own) else -1 for own in rows]
        self._far = [far[ends.index(max(ends))]] * len(far)
        for i, (own, before, game) in enumerate(zip(rows, self._games, games, strict=True)):
            if len(own) > 0 or before is None:
                self._write_model(models, i, game)
        self._games, self._models, self._forecasts = games, models, forecasts
        if order is not None:
            said.follow(self._widths, order, targets[0])
            if self.missing == "impute" and not sp.issparse(X):
                self._gaps = self._gaps.add(X)
        self.n_iter_ += 1
        return [joined(each) for each in decisions]

    def _new_forecasts(self, rows: int) -> Forecasts:
        """Where a pass writes down what the models said of each row."""
        models = None if self._regression else self._class_models
        return Forecasts(rows, self._regression, of_rest=models is not None and not models[0].is_pair())

    def _relative(self, weights: Weights) -> Weights:
        """Weights over the mean of those that were seen first: only ratios matter."""
        if weights is None:
            return None
        if self._weight_unit is None:
            self._weight_unit = float(weights[weights > 0.0].mean()) if (weights > 0.0).any() else 1.0
        return weights / self._weight_unit

    def _adversary(self, X: Any, y: NDArray[np.float64], weights: Weights) -> Any:
        replay = Replay(X, y, self._loss) if self._sparse else replay_of_arrays(X, y, self._loss)
        return replay if weights is None else Weighted(replay, weights)

    def _final(
        self, X: Any, y: NDArray[np.float64], passed: JudgedRows, game: Any, weights: Weights, again: bool
    ) -> JudgedRows:
        """The skipped rows that later passes leave out.

        Others are judged again: rows of the warm-up, and rows before the scales were settled. If `again`, the
        filters are asked about rows of the warm-up now, and may refuse them for good.
        """
        learned = game.kept_count - passed.kept.sum() + np.cumsum(passed.kept)  # rows before each step
        settled = learned >= (_SETTLED if self.scale else 0)
        warm = np.flatnonzero(is_warm_up(passed) & settled)
        if again and len(warm) > 0:
            rows = passed.rows[warm]
            some = self._adversary(
                self._rows_to_learn(X[rows]), y[rows], None if weights is None else weights[rows]
            )
            state = game.state.inner if isinstance(self._player, Certified) else game.state
            verdicts = judged_again(self._player.core(), state, some, passed.some(warm))
            passed = passed.replaced(warm, verdicts)
        return passed.some(~passed.kept & settled & ~is_warm_up(passed))

    def _rows_to_learn(self, X: Any) -> Any:
        """The rows as the learner sees them, in float64.

        Without a scale they have a column of ones for the intercept.
        """
        X = (X.toarray() if sp.issparse(X) and not self._sparse else X).astype(np.float64, copy=False)
        if self.scale:
            return centred(X, self._shift) if self._sparse else X
        if not self.fit_intercept:
            return X
        ones = np.ones((X.shape[0], 1), X.dtype)
        return sp.hstack([X, sp.csr_array(ones)], format="csr") if self._sparse else np.hstack([X, ones])


def readable_rounds(game: Any) -> int:
    """How many rounds of a game could be measured; 0 if there is none yet."""
    return 0 if game is None else game.rounds - game.unmeasured_count


def are_native(games: Sequence[Any]) -> bool:
    """Whether the states of all games are in native memory: to go on, nothing need be compiled."""
    return all(game is not None and game.is_native for game in games)


def _part(rows: Rows, count: int) -> slice | Rows:
    """What selects these rows of a table: a slice, which copies nothing, if they are all, in their order."""
    is_all = len(rows) == count and (count == 1 or np.array_equal(rows, np.arange(count)))
    return slice(None) if is_all else rows
