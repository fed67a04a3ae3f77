"""Counts of skipped rows that warnings need: by column and by label, and the last row that was kept."""

import numpy as np

from holdfast.advice import SkipFigures
from holdfast.fleet.tensor_file import numbers
from holdfast.io.columns import Layout, Target

TENSORS: dict[str, tuple[str, ...]] = {"columns": (), "labels": ("rows", "skipped"), "last": ("kept", "read")}


class Skips:
    """Counts of rows, without those of the warm-up. A skipped row counts for one column, or for none."""

    def __init__(self, layout: Layout, target: Target) -> None:
        self._names = [*(column.name for column in layout.columns), target.name]
        pairs = [] if layout.is_sparse() else layout.columns
        self._place = {f: i for i, column in enumerate(pairs) for f in column.features()}
        self._place[target.name] = len(self._names) - 1
        self._labels = target.labels
        self.columns, self.labels = np.zeros(len(self._names)), np.zeros((len(target.labels), 2))
        self.last = np.zeros(2)

    def add(self, rows: np.ndarray, y: np.ndarray, kept: np.ndarray, warm: np.ndarray) -> None:
        """Add rows by their numbers; `y` has the indices of their labels, NaN where it is unknown."""
        if len(self.labels):
            counted = ~warm & np.isfinite(y)
            for place, which in enumerate((counted, counted & ~kept)):
                codes = y[which].astype(np.int64)
                self.labels[:, place] += np.bincount(codes, minlength=len(self.labels))
        ends = np.flatnonzero(kept | warm)
        if len(ends):
            self.last[0] = rows[ends[-1]]
        self.last[1] = rows[-1]

    def blame(self, features: np.ndarray) -> None:
        """Add skipped rows: the feature, or the target, that was the reason of each; empty if unknown."""
        names, counts = np.unique(features.astype(str), return_counts=True)
        for name, count in zip(names.tolist(), counts.tolist(), strict=True):
            if name in self._place:
                self.columns[self._place[name]] += count

    def figures(self, rows: int, skipped: int, error: float | None, baseline: float | None) -> SkipFigures:
        """All counts, with those that the run has, too."""
        # Of a target of numbers there is nothing to say: what cannot be predicted is skipped for it.
        known = len(self._names) - (not self._labels)
        columns = {
            name: int(n) for name, n in zip(self._names[:known], self.columns[:known], strict=True) if n
        }
        pairs = zip(self._labels, self.labels.astype(int).tolist(), strict=True)
        classes = {label: (own, lost) for label, (own, lost) in pairs}
        last_kept, last = map(int, self.last)
        return SkipFigures(rows, skipped, columns, classes, last_kept, last, error, baseline)

    def state(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in TENSORS}

    def load(self, tensors: dict[str, np.ndarray]) -> None:
        """Continue from what `state` returned; raises ValueError if it is not valid."""
        for name in TENSORS:
            found = numbers(tensors[name], getattr(self, name).shape)
            if not ((found >= 0.0) & (found < 1 << 53)).all():
                raise ValueError("the counts of skipped rows are no counts")
            setattr(self, name, found.copy())
