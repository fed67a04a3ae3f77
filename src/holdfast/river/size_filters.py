"""Filters on the sizes of a row, and an audit of the skipped rows."""

import math
from collections.abc import Sequence
from typing import Any, cast

from holdfast.audit import Audit
from holdfast.checks import first_refusal
from holdfast.defaults import PATIENCE
from holdfast.dry_run import check_rule
from holdfast.filters import TopShare
from holdfast.options import Outliers, filter_of, is_auto, read_outliers, read_rows
from holdfast.protocols import Filter, FilterOptions
from holdfast.river.named_units import NEAR
from holdfast.rounds import Verdict
from holdfast.steady.choice import gate_for

_FOR_NUMBERS, _FOR_LABELS = 0.15, 0.1  # the shares of bad rows; a larger one has a longer warm-up
_SLACK = 15.0
_GRADIENT = TopShare(0.01)
REMEDY = "audit and audit_counts say why. If the data has changed, start again with clone()"


class AuditMixin:
    """The attributes of a model that writes an `Audit`."""

    _audit: Audit

    @property
    def kept(self) -> int:
        """How many rows were learned from. With several models, no model has skipped these."""
        return self._audit.kept

    @property
    def skipped(self) -> int:
        """How many rows were skipped, without those of the warm-up."""
        return self._audit.skipped

    @property
    def audit(self) -> dict[str, Any]:
        """The first `audit_size` skipped rows: a dict of columns, also for `pandas.DataFrame(audit)`.

        `round` is the number of the row; `reason` the size that was refused, with `check`, `size` and
        `threshold`; `column` and `value` are the feature that is farthest from its center, or the target. If
        a row is "not readable", no filter is used, and the threshold is NaN.
        """
        return self._audit.table()

    @property
    def audit_counts(self) -> dict[str, int]:
        """How many rows were skipped for each reason.

        "warm-up" counts the first rows, which filters have nothing to compare with: they are no outliers, and
        neither in `skipped` nor in `audit`.
        """
        return dict(self._audit.counts)


class SizeFilters:
    """Filters by name, their states, and an `Audit`.

    A row is kept if all filters keep it. Every filter is updated with every row whose sizes are finite. If a
    size is None, this kind of row does not have it, and its filter is not used. The filter of the gradients
    has a state for each label; otherwise the errors on a rare label would be outliers.

    >>> import holdfast as hf
    >>> filters = SizeFilters({"features": hf.TopShare(0.01)}, audit_size=10)
    >>> for size in (1.0, 1.0, None, 90.0, math.nan):
    ...     verdict = filters.decide([size])
    ...     _ = filters.record(verdict, verdict.kept)
    >>> filters.audit.kept, filters.audit.counts
    (2, {'features': 1, 'not readable': 1, 'warm-up': 1})
    """

    def __init__(self, filters: dict[str, Filter], audit_size: int, near: float = 0.0) -> None:
        self.near = near  # a size of features or target up to here is kept, after the warm-up
        self.warm: set[str] = set()  # names of filters that have started again: they need no warm-up
        self.filters = [cast(FilterOptions, filter) for filter in filters.values()]
        for filter in self.filters:
            check_rule(filter, Filter, dim=1)
        # By label; the only key is None if labels do not matter.
        self.states: list[dict[Any, Any]] = [{} for _ in self.filters]
        self.names = list(filters)
        self.audit = Audit(audit_size, self.names, ["round"])
        # Whether the model must start again before the next row: a filter, such as `Quantile` without a
        # horizon, has ended an epoch.
        self.restart = False
        self.refused: tuple[str, ...] = ()  # the names of all filters that have refused the last row

    def decide(self, sizes: Sequence[float | None], label: Any = None) -> Verdict:
        """Update all filters with a row; return their verdict."""
        self.restart, self.refused = False, ()
        measured = tuple(math.nan if size is None else size for size in sizes)
        if not all(size is None or abs(size) < math.inf for size in sizes):
            return Verdict(False, -1, measured, (math.nan,) * len(sizes))
        keeps, thresholds = [True] * len(sizes), []
        for i, (filter, size) in enumerate(zip(self.filters, sizes, strict=True)):
            threshold = math.inf
            if size is not None:
                by_label, key = self.states[i], label if self.names[i] == "gradient" else None
                state = by_label[key] if key in by_label else filter.init(1)
                state, threshold, kept = filter.decide(state, size)
                by_label[key] = state
                name = self.names[i]
                is_near = threshold < self.near and name in ("features", "target")
                if is_near and (threshold > 0.0 or name in self.warm):
                    threshold, kept = self.near, size <= self.near
                self.restart = self.restart or filter.restarts(state)
                keeps[i] = bool(kept)
            thresholds.append(threshold)
        self.refused = tuple(name for name, kept in zip(self.names, keeps, strict=True) if not kept)
        return Verdict(all(keeps), first_refusal(keeps, thresholds), measured, tuple(thresholds))

    def forget(self, name: str) -> None:
        """Let a filter start again: the sizes that it remembers are in other units."""
        if name in self.names and self.near > 0.0:
            self.states[self.names.index(name)] = {}
            self.warm.add(name)

    def record(self, verdict: Verdict, kept: bool, cell: tuple[Any, float] = ("", math.nan)) -> bool:
        """Count the row; add it to the audit if it is skipped, with the cell that is the reason.

        Returns whether it was skipped, and not because of the warm-up.
        """
        before = self.audit.skipped
        if kept:
            self.audit.kept += 1
        else:
            found = ([verdict.refused_by], [verdict.sizes], [verdict.thresholds])
            self.audit.add([[self.audit.rounds]], *found, [str(cell[0])], [float(cell[1])])
        return self.audit.skipped > before


def recommended(regression: bool, outliers: Outliers, patience: str | float) -> tuple[list[Filter], float]:
    """Filters for features, target and gradient, and the size in units up to which the first two keep a row.

    With "auto" or a share they are those of `holdfast.steady.Steady`, and follow changes. Others are used as
    they are, for all three sizes. Raises if the parameters of `Robust` do not go together.

    >>> recommended(True, "auto", patience=50)[0][0].patience
    50
    """
    read, rows = read_outliers(outliers), int(read_rows("patience", patience) or PATIENCE)
    share = (_FOR_NUMBERS if regression else _FOR_LABELS) if is_auto(read) else read
    if isinstance(share, float):
        sizes = gate_for(share, share, _SLACK, rows)
        return [sizes, sizes, _GRADIENT if is_auto(read) else filter_of(share)], NEAR
    if not is_auto(patience):
        raise ValueError(
            'patience is for outliers="auto" or a share: with a count or a filter nothing is forgotten, '
            f"got patience={patience!r}"
        )
    return [filter_of(share)] * 3, 0.0
