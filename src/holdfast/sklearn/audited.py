"""The audit of an estimator: which rows were skipped, why, and because of which cell."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from holdfast.advice import SkipFigures
from holdfast.audit import NOT_READABLE, WARM_UP, Audit, SkipMonitor, decisive, reasons
from holdfast.levels import RowEvents
from holdfast.sklearn.judging import JudgedRows
from holdfast.sklearn.rows import Weights, cells_of, unreadable_columns, which_count

_PLACES = ("round", "row", "index", "label")
_COMPARED = 1_000  # rows, with the baseline
_REMEDY = "audit_ and audit_counts_ say why. If the data has changed, reset() and learn again"


class AuditMixin:
    """The audit that `fit` and `partial_fit` write."""

    audit_size: int
    _player: Any
    _column_names: Callable[[], Any]
    _regression: ClassVar[bool]
    _models: Any
    _index: Any  # of the rows of the call, if they are a pandas DataFrame
    on_event: Any

    @property
    def audit_(self) -> dict[str, Any]:
        """The first `audit_size` skipped rows: a dict of columns, also for `pandas.DataFrame(audit_)`.

        `round` is the number of the step in which the row was skipped, and `row` its index in X. `index` is
        its label in the index of a pandas DataFrame, else as `row`; `label` is its class. `reason` and
        `check` are the check that refused it, with `size` and `threshold`. `column` and `value` are the cell
        that was farthest from its column, or the target; for `gradient` they are empty, because no single
        cell is the reason. `learned` is "little" if the row has taught a little all the same, else "nothing".
        """
        return self._fitted_audit().table()

    @property
    def audit_counts_(self) -> dict[str, int]:
        """How many rows were skipped, by reason, also those beyond `audit_size`.

        Rows of the warm-up are no outliers. They are counted here, and nowhere else.
        """
        return dict(self._fitted_audit().counts)

    @property
    def skipped_(self) -> int:
        """How many rows were skipped."""
        return self._fitted_audit().skipped

    @property
    def kept_(self) -> int:
        """How many rows were learned from: no model skipped them. Rows of weight 0 are not counted."""
        return self._fitted_audit().kept

    def _start_audit(self) -> None:
        player = self._player
        self._audit = Audit(self.audit_size, player.check_names(), _PLACES, player.core().learns_little())
        self._monitor = SkipMonitor(_REMEDY, audit=self._audit)
        self._events = None if self.on_event is None else RowEvents(self._column_names(), self.on_event)

    def _fitted_audit(self) -> Audit:
        if not hasattr(self, "_audit"):
            raise AttributeError(f"this {type(self).__name__} has not been fitted yet")
        return self._audit

    def _add_to_audit(
        self,
        X: Any,
        targets: Sequence[Any],
        label_of: Callable[[Any], Any],
        weights: Weights,
        all_decisions: Sequence[Sequence[JudgedRows]],
    ) -> None:
        """Record each skipped row once: where the first of the models has skipped it first."""
        counts = which_count(weights, X.shape[0])
        self.kept_mask_ = counts if weights is None else counts.copy()
        warm = np.zeros(len(counts), bool)
        for passed in all_decisions:
            for i, decisions in enumerate(passed):
                if decisions.kept.all():
                    continue
                new = decisions.some(~decisions.kept & self.kept_mask_[decisions.rows])
                self.kept_mask_[new.rows] = False
                by = reasons(self._player.check_names(), new.refused_by, new.thresholds)
                warm[new.rows[by == WARM_UP]] = True
                self._audit.counts[WARM_UP] += int((by == WARM_UP).sum())
                new = new.some(by != WARM_UP)
                if len(new.rows) > 0:
                    cells = self._cells(X, targets[i], new, by[by != WARM_UP])
                    index = new.rows if self._index is None else self._index[new.rows]
                    places = (new.rounds, new.rows, index, label_of(new.rows))
                    self._audit.add(places, new.refused_by, new.sizes, new.thresholds, *cells)
        self._index = None
        self._audit.kept += int(np.count_nonzero(self.kept_mask_))
        fine = self.kept_mask_ | warm
        self._monitor.add(fine if weights is None else fine[counts])

    def _tell_events(self, X: Any, targets: Any, counted: np.ndarray, passed: Sequence[JudgedRows]) -> None:
        """Tell the events of the rows of a call, in their order. Rows of the warm-up are as if kept."""
        if self._events is None:
            return
        kept, by_row = np.ones(len(counted), bool), dict[int, tuple[str, float, float]]()
        for i, judged in enumerate(passed):
            lost = judged.some(~judged.kept & kept[judged.rows])
            by = reasons(self._player.check_names(), lost.refused_by, lost.thresholds)
            lost, by = lost.some(by != WARM_UP), by[by != WARM_UP]
            kept[lost.rows] = False
            columns, _ = self._cells(X, targets[i], lost, by, room=len(lost.rows))
            about = (decisive(lost.sizes, lost.refused_by), decisive(lost.thresholds, lost.refused_by))
            by_row |= zip(
                lost.rows.tolist(), zip(columns, *map(np.ndarray.tolist, about), strict=True), strict=True
            )
        places = np.flatnonzero(counted)
        cells = None if sp.issparse(X) else X[counted]
        self._events.add(kept[counted], cells, lambda i: by_row[int(places[i])])

    def _advise(self, X: Any, y: np.ndarray, label_of: Callable[[Any], Any], counted: np.ndarray) -> None:
        """Warn of what the rows of `fit` show: the classes that were skipped, and the error of the model.

        `y` has numbers, or +1 and -1 of two classes; the baseline predicts the mean or the more frequent one.
        """
        audit, kept, rows = self._audit, self.kept_mask_ & counted, np.flatnonzero(counted)
        classes: dict[str, tuple[int, int]] = {}
        if not self._regression and not self.kept_mask_[rows].all():
            found = label_of(rows)
            known = np.ones(len(found), bool)
            if found.dtype == object:
                known = np.array([label is not None for label in found], bool)  # None: a missing label
            labels, codes = np.unique(found[known], return_inverse=True)
            labels, names = np.unique(labels.astype(str), return_inverse=True)
            codes = names[codes]
            pairs = np.bincount(codes), np.bincount(codes, ~self.kept_mask_[rows[known]])
            classes = {str(label): (int(n), int(k)) for label, n, k in zip(labels, *pairs, strict=True)}
        errors = self._errors(X, y, kept) if len(self._models.wild) == 1 and kept.sum() > 1 else (None, None)
        count = int(counted.sum()) - audit.counts[WARM_UP]
        figures = SkipFigures(count, audit.skipped, audit.causes(), classes, 0, 0, *errors)
        self._monitor.advise(figures)

    def _errors(self, X: Any, y: np.ndarray, kept: np.ndarray) -> tuple[float, float]:
        """The mean error of the model and of the baseline on rows learned from, or on some of many."""
        rows = np.flatnonzero(kept)
        rows = rows[:: -(-len(rows) // _COMPARED)]
        found, y = self._models.predict(X[rows])[:, 0], y[rows]
        if self._regression:
            return float(np.abs(found - y).mean()), float(np.abs(y - y.mean()).mean())
        return float(((found > 0.0) != (y > 0.0)).mean()), float(min((y > 0.0).mean(), (y <= 0.0).mean()))

    def _cells(
        self, X: Any, y: np.ndarray, skipped: JudgedRows, by: np.ndarray, room: int | None = None
    ) -> tuple[Any, Any]:
        """The columns and the values for which these rows were skipped; as many as fit into the audit."""
        room = self._audit.room if room is None else room
        first, by = skipped.some(slice(0, room)), by[:room]
        unknown, y = by == NOT_READABLE, y[first.rows]
        columns = np.where(by == "features", first.farthest, -1)
        columns[unknown] = unreadable_columns(X, first.rows[unknown], y[unknown])
        of_target = (by == "target") | (unknown & (columns < 0))
        columns, values = cells_of(X, first.rows, columns)
        names = np.append(self._column_names(), [""])[columns].astype(object)
        names[of_target], values[of_target] = "target", y[of_target]
        return names.astype(str), values
