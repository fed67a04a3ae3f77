"""The audit of an estimator: which rows were skipped, why, and because of which cell."""

import numpy as np

from holdfast.audit import NOT_FINITE, Audit, SkipMonitor, reasons
from holdfast.sklearn.cells import farthest_cells
from holdfast.sklearn.judging import MEASURES
from holdfast.sklearn.row_weights import which_count

_PLACES = ("round", "row", "label", "column", "value")
_REMEDY = "audit_ and audit_counts_ say why. If the data has changed, reset() and learn again"


class AuditMixin:
    """The audit that `fit` and `partial_fit` write."""

    @property
    def audit_(self):
        """The first `audit_size` skipped rows: a dict of columns, also for `pandas.DataFrame(audit_)`."""
        return self._fitted_audit().table()

    @property
    def audit_counts_(self):
        """How many rows were skipped, by reason, also those beyond `audit_size`."""
        return dict(self._fitted_audit().counts)

    @property
    def skipped_(self):
        """How many rows were skipped."""
        return self._fitted_audit().skipped

    @property
    def kept_(self):
        """How many rows were learned from."""
        return self._fitted_audit().kept

    def _start_audit(self):
        self._audit = Audit(self.audit_size, MEASURES, _PLACES)
        self._monitor = SkipMonitor(_REMEDY)

    def _fitted_audit(self):
        if not hasattr(self, "_audit"):
            raise AttributeError(f"this {type(self).__name__} has not been fitted yet")
        return self._audit

    def _add_to_audit(self, X, targets, label_of, weights, all_decisions):
        """Record each skipped row once: where the first of the models has skipped it first."""
        counts = which_count(weights, X.shape[0])
        self.kept_mask_ = counts if weights is None else counts.copy()
        for passed in all_decisions:
            for i, decisions in enumerate(passed):
                if decisions.kept.all():
                    continue
                new = decisions.some(~decisions.kept & self.kept_mask_[decisions.rows])
                self.kept_mask_[new.rows] = False
                if len(new.rows) > 0:
                    cells = self._cells(X, targets[i], i, new)
                    places = (new.rounds, new.rows, label_of(new.rows), *cells)
                    self._audit.add(places, new.sizes, new.thresholds)
        self._audit.kept += int(np.count_nonzero(self.kept_mask_))
        self._monitor.add(self.kept_mask_ if weights is None else self.kept_mask_[counts])

    def _cells(self, X, y, i, skipped):
        """The columns and the values that made these rows outliers; as many as fit into the audit."""
        first = skipped.some(slice(0, self._audit.room))
        by, rows = reasons(MEASURES, first.sizes, first.thresholds), first.rows
        columns, values = farthest_cells(X, rows, self._models[i], by == NOT_FINITE)
        names = self._column_names()[columns].astype(object)
        in_target = (by == "target") | ((by == NOT_FINITE) & ~np.isfinite(y[rows]))
        names[in_target], values[in_target] = "target", y[rows][in_target]
        names[by == "gradient"], values[by == "gradient"] = "", np.nan
        return names.astype(str), values
