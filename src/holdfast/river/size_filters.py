"""Filters on the sizes of a row, and an audit of the skipped rows."""

import math
from typing import NamedTuple

from holdfast.audit import Audit
from holdfast.dry_run import check_rule
from holdfast.protocols import Filter


class FilterDecision(NamedTuple):
    """Whether to keep a row. If a size is not finite, no filter is used and all thresholds are NaN."""

    refused_by: list  # names of filters
    finite: bool
    sizes: list
    thresholds: list

    @property
    def keep(self):
        return self.finite and not self.refused_by


class SizeFilters:
    """Filters by name, their states, and an `Audit`.

    A row is kept if all filters keep it. Every filter is updated with every row whose sizes are finite. If a
    size is None, this kind of row does not have it, and its filter is not used. The filter of the gradients
    has a state for each label; otherwise the errors on a rare label would be outliers.

    Examples
    --------
    >>> import holdfast as hf
    >>> filters = SizeFilters({"features": hf.TopShare(0.01)}, audit_size=10)
    >>> for size in (1.0, 1.0, None, 90.0, math.nan):
    ...     decision = filters.decide([size])
    ...     _ = filters.record(decision, decision.keep)
    >>> filters.audit.kept, filters.audit.counts
    (2, {'features': 1, 'not readable': 1, 'warm-up': 1})
    """

    def __init__(self, filters, audit_size, near=0.0):
        self.near = near  # a size of features or target up to here is kept, after the warm-up
        self.warm = set()  # names of filters that have started again: they need no warm-up
        self.filters = list(filters.values())
        for filter in self.filters:
            check_rule(filter, Filter, dim=1)
        self.states = [{} for _ in self.filters]  # by label; the only key is None if labels do not matter
        self.names = list(filters)
        self.audit = Audit(audit_size, filters, ["round", "column", "value"])
        # Whether the model must start again before the next row: a filter, such as `Quantile` without a
        # horizon, has ended an epoch.
        self.restart = False

    def decide(self, sizes, label=None):
        """Update all filters with a row; return their decision."""
        self.restart = False
        if not all(size is None or abs(size) < math.inf for size in sizes):
            return FilterDecision([], False, sizes, [math.nan] * len(sizes))
        refused_by, thresholds = [], []
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
                refused_by += [] if kept else [self.names[i]]
            thresholds.append(threshold)
        return FilterDecision(refused_by, True, sizes, thresholds)

    def forget(self, name):
        """Let a filter start again: the sizes that it remembers are in other units."""
        if name in self.names and self.near > 0.0:
            self.states[self.names.index(name)] = {}
            self.warm.add(name)

    def record(self, decision, kept, cell=("", math.nan)):
        """Count the row; add it to the audit if it is skipped, with the cell that is the reason.

        Returns whether it was skipped, and not because of the warm-up.
        """
        before = self.audit.skipped
        if kept:
            self.audit.kept += 1
        else:
            sizes = [[0.0 if size is None else size] for size in decision.sizes]
            places = ([self.audit.rounds], [str(cell[0])], [float(cell[1])])
            self.audit.add(places, sizes, [[threshold] for threshold in decision.thresholds])
        return self.audit.skipped > before
