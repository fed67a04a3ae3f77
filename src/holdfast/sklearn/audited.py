"""The audit of an estimator: which rows were skipped, why, and because of which cell."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from holdfast.audit import NOT_READABLE, WARM_UP, Audit, SkipMonitor, reasons
from holdfast.sklearn.judging import JudgedRows
from holdfast.sklearn.rows import Weights, cells_of, unreadable_cells, which_count

_PLACES = ("round", "row", "label")
_REMEDY = "audit_ and audit_counts_ say why. If the data has changed, reset() and learn again"


class AuditMixin:
    """The audit that `fit` and `partial_fit` write."""

    audit_size: int
    _player: Any
    _column_names: Callable[[], Any]

    @property
    def audit_(self) -> dict[str, Any]:
        """The first `audit_size` skipped rows: a dict of columns, also for `pandas.DataFrame(audit_)`.

        `reason` is the check that refused the row. Its size and threshold, column and value are those of the
        step in which the row was skipped. `learned` is "little" if the row has taught a little all the same,
        else "nothing".
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
        """How many rows were learned from."""
        return self._fitted_audit().kept

    def _start_audit(self) -> None:
        player = self._player
        self._audit = Audit(self.audit_size, player.checks(), _PLACES, player.core().learns_little())
        self._monitor = SkipMonitor(_REMEDY)

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
                by = reasons(self._player.checks(), new.refused_by, new.thresholds)
                warm[new.rows[by == WARM_UP]] = True
                self._audit.counts[WARM_UP] += int((by == WARM_UP).sum())
                new = new.some(by != WARM_UP)
                if len(new.rows) > 0:
                    cells = self._cells(X, targets[i], new, by[by != WARM_UP])
                    places = (new.rounds, new.rows, label_of(new.rows))
                    self._audit.add(places, new.refused_by, new.sizes, new.thresholds, *cells)
        self._audit.kept += int(np.count_nonzero(self.kept_mask_))
        fine = self.kept_mask_ | warm
        self._monitor.add(fine if weights is None else fine[counts])

    def _cells(self, X: Any, y: np.ndarray, skipped: JudgedRows, by: np.ndarray) -> tuple[Any, Any]:
        """The columns and the values for which these rows were skipped; as many as fit into the audit."""
        first, by = skipped.some(slice(0, self._audit.room)), by[: self._audit.room]
        columns, values = cells_of(X, first.rows, np.where(by == "features", first.farthest, -1))
        unknown, y = by == NOT_READABLE, y[first.rows]
        columns[unknown], values[unknown] = unreadable_cells(X, first.rows[unknown], y[unknown])
        names = np.append(self._column_names(), ["target", ""])[columns].astype(object)
        names[by == "target"], values[by == "target"] = "target", y[by == "target"]
        return names.astype(str), values
