"""Lasting changes: if most rows are skipped for long, what was an outlier is now the stream."""

import collections

_RECENT = 100  # rows from which new scales are taken
_FAR = 2.0  # times its limit: a size that the filters had not kept before the trouble


class ChangeDetector:
    """Finds that a stream has changed, as `holdfast.change.Changing` does.

    A stream has changed if `patience` more rows were skipped than kept, one after the other; or if most of
    the recent rows were skipped, and now the filters keep a row of twice the size that they kept before.

    Examples
    --------
    >>> changes = ChangeDetector(patience=3)
    >>> [changes.add({}, {}, kept, [1.0], [4.0]) for kept in (True, False, False, False)]
    [False, False, False, True]
    """

    def __init__(self, patience):
        self.patience = patience
        self.recent = collections.deque(maxlen=min(patience, _RECENT))
        self.bad = 0  # grows by 1 with a skipped row, falls by 1 with a kept one, not below 0
        self.limits = []  # the thresholds when `bad` was last 0

    def add(self, row, target, kept, sizes, thresholds):
        """Count a row whose sizes are finite, and return whether the stream has changed."""
        self.recent.append((dict(row), target))
        self.bad = max(self.bad - 1, 0) if kept else self.bad + 1
        if self.bad == 0:
            self.limits = thresholds
        if len(self.recent) < self.recent.maxlen:
            return False
        return self.bad >= self.patience or (
            kept and self.bad >= 0.5 * len(self.recent) and self._is_far(sizes)
        )

    def _is_far(self, sizes):
        pairs = zip(sizes, self.limits, strict=False)
        return any(size is not None and size > _FAR * limit for size, limit in pairs)
