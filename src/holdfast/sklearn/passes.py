"""Passes over the rows of a table: several in `fit`, one in `partial_fit`."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from holdfast._compiled.compiling import FEW, expecting
from holdfast._compiled.long_calls import deferred_interrupts
from holdfast.adversaries import Replay, Weighted
from holdfast.adversaries.replay import replay_of_arrays
from holdfast.continuing import Game
from holdfast.linear_model import LinearModels
from holdfast.options import refuse_weights
from holdfast.record import VERDICTS
from holdfast.sklearn.base import RobustEstimator
from holdfast.sklearn.judging import (
    JudgedRows,
    compared_again,
    is_ordinary,
    joined,
    judged,
    nothing_judged,
    thinned,
)
from holdfast.sklearn.parameters import with_fields
from holdfast.sklearn.rows import Weights, are_unequal, centred, which_count
from holdfast.sklearn.small_tables import is_small, regularised
from holdfast.steady import Steady

Rows = NDArray[np.intp]  # indices in the table
Targets = Sequence[NDArray[np.float64]]  # of each model
Labels = Callable[[Rows], NDArray[Any]]  # those of rows

_SETTLED = 50  # rows; before, running scales may change much
_KEEP = VERDICTS
_PIECE = 2_000  # rows in Python, after which the compiled game may be on disk
_SOON = 100_000  # rows that a compiled game takes less than a second for
_CHUNK = 2**21  # entries: 16 MB of float64


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
                with self._in_place(own) as in_place:
                    passed = self._learn(X, targets, weights, own, in_place)
                if number == 0:
                    self._sample = thinned(passed[0])
                if number < passes - 1:
                    several = zip(passed, targets, self._games, strict=True)
                    passed = [self._final(*each, is_first=number == 0) for each in several]
                for mask, decisions in zip(used, passed, strict=True):
                    mask[decisions.rows[~decisions.kept]] = False
                all_decisions.append(passed)
                if number == 0 and passes > 1:
                    self._regularise(X, targets[0], passes - 1)
        self._monitor.enough = 0
        self._add_to_audit(X, targets, label_of, weights, all_decisions)

    def _regularise(self, X: Any, y: NDArray[np.float64], passes: int) -> None:
        """For a small table, start again with the best regularisation for the passes that are left."""
        if self._has_default_learner() and is_small(X, self._default):
            groups, checks = np.zeros(len(self._sample.rows)), self._player.checks()
            ordinary = self._sample.kept | is_ordinary(self._sample, groups, checks)
            rows = self._sample.rows[ordinary]
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
        rows = [np.flatnonzero(mask & counts) for mask in taught]
        self._player = self._as_asked(self._player, False)
        weights = self._relative(weights)
        with expecting(0, self._cost()), self._in_place(rows) as in_place:
            passed = self._learn(X, targets, weights, rows, in_place)
            self._sample = thinned(passed[0])
            self._add_to_audit(X, targets, label_of, weights, [passed])

    @contextlib.contextmanager
    def _in_place(self, rows: Sequence[Rows]) -> Iterator[bool]:
        """Whether games go on in place, so that no state is copied.

        Then Ctrl-C waits until the end, or a model could have learned from half of its rows.
        """
        in_place = sum(map(len, rows)) <= (_SOON if are_native(self._games) else FEW)
        with deferred_interrupts() if in_place else contextlib.nullcontext():
            yield in_place

    def _cost(self) -> int:
        """The time of a round in Python, over that of AdaGrad."""
        return 4 if isinstance(self._player, Steady) else 1

    def _learn(
        self, X: Any, targets: Targets, weights: Weights, rows: Sequence[Rows], in_place: bool
    ) -> list[JudgedRows]:
        """Let each model learn from its rows, in their order. Returns the decisions of each.

        They learn from some rows at a time, so that copies of them in float64 take little memory, and a game
        that begins in Python goes on compiled as soon as that is possible.
        """
        games = list(self._games)
        decisions: list[list[JudgedRows]] = [[] for _ in targets]
        weights = weights if any(are_unequal(weights, own) for own in rows) else None
        player = self._player
        if weights is not None:
            refuse_weights(self._learner_rule())
            player = with_fields(player, Steady, weighted=True) if isinstance(player, Steady) else player
        entries = X.nnz // max(X.shape[0], 1) if self._sparse else X.shape[1]
        start, last = 0, max(*map(len, rows), 1)
        while start < last:
            in_memory = max(_CHUNK // max(entries, 1), 100)
            stop = start + (in_memory if are_native(games) else min(in_memory, _PIECE))
            part, table, taken = None, None, rows[0][:0]
            for i, (y, own) in enumerate(zip(targets, rows, strict=True)):
                some = own[start:stop]
                if len(some) == 0 and games[i] is not None:
                    decisions[i].append(nothing_judged(len(player.checks())))
                    continue
                if table is None or not np.array_equal(some, taken):
                    part, taken = _part(some, X.shape[0]), some
                    table = self._rows_to_learn(X[part])
                adversary = self._adversary(table, y[part], None if weights is None else weights[part])
                if games[i] is None:
                    games[i] = Game(player, adversary)
                elif start == 0 and not in_place:
                    games[i] = games[i].copy()
                games[i].set_player(player)
                columns = games[i].play(adversary, _KEEP, begins=start == 0)
                decisions[i].append(judged(columns, some, games[i].rounds))
            start = stop
        models = LinearModels(*(array.copy() for array in self._models))
        for i, (own, before, game) in enumerate(zip(rows, self._games, games, strict=True)):
            if len(own) > 0 or before is None:
                self._write_model(models, i, game)
        self._games, self._models = games, models
        self.n_iter_ += 1
        return [joined(each) for each in decisions]

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

    def _final(self, passed: JudgedRows, y: NDArray[np.float64], game: Any, is_first: bool) -> JudgedRows:
        """The skipped rows that later passes leave out.

        Others are judged again: rows before the scales were settled, and rows of the first pass that are
        ordinary when compared with all rows.
        """
        learned = game.kept_count - passed.kept.sum() + np.cumsum(passed.kept)  # rows before each step
        final = ~passed.kept & (learned >= _SETTLED if self.scale else True)
        if is_first:
            groups = np.zeros(len(passed.rows)) if self._regression else np.sign(y[passed.rows])
            final &= ~is_ordinary(passed, groups, self._player.checks())
            passed = compared_again(passed, groups, self._player.checks())
        return passed.some(final)

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


def are_native(games: Sequence[Any]) -> bool:
    """Whether the states of all games are in native memory: to go on, nothing need be compiled."""
    return all(game is not None and game.is_native for game in games)


def _part(rows: Rows, count: int) -> slice | Rows:
    """What selects these rows of a table: a slice, which copies nothing, if they are all, in their order."""
    is_all = len(rows) == count and np.array_equal(rows, np.arange(count))
    return slice(None) if is_all else rows
