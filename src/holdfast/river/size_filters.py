"""Several sizes of a round, a filter on each, and a note of what was skipped."""

import math
from typing import NamedTuple

from holdfast.audit import Audit
from holdfast.dry_run import check_rule
from holdfast.protocols import Filter


class FilterAnswers(NamedTuple):
    """What the filters say of a round. A threshold is NaN where a size was not finite, and none was asked."""

    refused: list  # by which filters, if they were asked
    finite: bool
    sizes: list
    thresholds: list

    @property
    def keep(self):
        return self.finite and not self.refused


class SizeFilters:
    """Filters by name, what they remember, and an `Audit`.

    Each filter remembers its size of every round that is finite; the round is kept if all keep it. A filter
    is not asked about a size that is None, because this kind of round has none. Of gradients each label has a
    memory of its own, or the mistakes on a rare one would be taken for outliers.

    Examples
    --------
    >>> import holdfast as hf
    >>> filters = SizeFilters({"features": hf.TopShare(0.01)}, audit_size=10)
    >>> for size in (1.0, 1.0, None, 90.0, math.nan):
    ...     answers = filters.ask([size])
    ...     filters.record(answers, answers.keep)
    >>> filters.audit.kept, filters.audit.counts
    (2, {'features': 2, 'not finite': 1})
    """

    def __init__(self, filters, audit_size):
        self.filters = list(filters.values())
        for filter in self.filters:
            check_rule(filter, Filter, dim=1)
        self.memories = [{} for _ in self.filters]  # by label, None where labels do not matter
        self.names = list(filters)
        self.audit = Audit(audit_size, filters, ["round"])
        # Whether the model must start anew in the next round: a filter that judged the last one, such as
        # `Quantile` without a horizon, ended an epoch with it.
        self.restart = False

    def ask(self, sizes, label=None):
        """What all filters say of a round, which they remember."""
        self.restart = False
        if not all(size is None or abs(size) < math.inf for size in sizes):
            return FilterAnswers([], False, sizes, [math.nan] * len(sizes))
        refused, thresholds = [], []
        for i, (filter, size) in enumerate(zip(self.filters, sizes, strict=True)):
            threshold = math.inf
            if size is not None:
                by_label, key = self.memories[i], label if self.names[i] == "gradient" else None
                memory = by_label[key] if key in by_label else filter.init(1)
                memory, threshold, kept = filter.decide(memory, size)
                by_label[key] = memory
                self.restart = self.restart or filter.restarts(memory)
                refused += [] if kept else [self.names[i]]
            thresholds.append(threshold)
        return FilterAnswers(refused, True, sizes, thresholds)

    def record(self, answers, kept):
        """Count the round, and tell of it if it is skipped."""
        if kept:
            self.audit.kept += 1
            return
        sizes = [[0.0 if size is None else size] for size in answers.sizes]
        place = [self.audit.kept + self.audit.skipped]
        self.audit.add([place], sizes, [[threshold] for threshold in answers.thresholds])
