"""How a run went: a sample of its rounds that does not grow, and counts of skipped rows, for warnings."""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from holdfast.advice import SkipFigures
from holdfast.fleet.tensor_file import count_in, numbers
from holdfast.io.columns import Layout, Target
from holdfast.runs.audit import MEASURES

_POINTS, _SAMPLES = 1024, 4096
_SNAPSHOTS = 8  # of the weights, each time the number of rounds doubles
_MOST_WEIGHTS = 512  # with more, there are no snapshots
SUMS = ("error", "counted", "kept_error", "kept_counted", "skipped")
COLUMNS = ("round", *SUMS)
SAMPLES = ("round", *(f"{of}_{what}" for of in MEASURES for what in ("size", "threshold")), "kept")
SAMPLES += ("predicted", "actual")  # numbers, or indices of labels


class ThinnedTable:
    """Every n-th row of a long table. n, the stride, doubles whenever there are too many rows.

    Which rows remain depends on the number of rounds only, not on the batches.
    """

    def __init__(self, width: int, most: int) -> None:
        self.most, self.stride, self.table = most, 1, np.zeros((0, width))

    def add(self, first: int, columns: Sequence[np.ndarray]) -> None:
        """Add the rounds first, first + 1, ..., given by columns."""
        count = len(columns[0])
        while (first + count - 1) // self.stride > self.most:
            self.stride *= 2
            self.table = self.table[self.table[:, 0] % self.stride == 0]
        start = -first % self.stride
        rounds = np.arange(first + start, first + count, self.stride, dtype=float)
        new = np.column_stack([rounds, *(column[start :: self.stride] for column in columns)])
        self.table = np.concatenate([self.table, new])

    def state(self) -> dict[str, np.ndarray]:
        return {"stride": np.array(self.stride), "table": self.table}

    def load(self, stride: np.ndarray, table: np.ndarray, rounds: int) -> None:
        """Continue from what `state` returned; raises ValueError if it is not valid."""
        self.stride, self.table = count_in(stride, 1), numbers(table, (None, self.table.shape[1]))
        first = self.table[:, 0]
        if len(first) > self.most + 1 or not _increases(first, rounds):
            raise ValueError("the rounds of a trace are not in order")


class Trace:
    """The error of the predictions so far, a sample of the sizes, and snapshots of the weights."""

    TENSORS: ClassVar[dict[str, tuple[str, ...]]] = {  # columns by name
        "rounds": (),
        "sums": SUMS,
        "weights": ("round", "weights"),
        "points.stride": (),
        "points.table": COLUMNS,
        "samples.stride": (),
        "samples.table": SAMPLES,
    }

    def __init__(self, dim: int) -> None:
        self.rounds = 0
        self.sums = np.zeros(len(SUMS))
        self.points, self.samples = ThinnedTable(len(COLUMNS), _POINTS), ThinnedTable(len(SAMPLES), _SAMPLES)
        self.wide = dim <= _MOST_WEIGHTS
        self.weights = np.zeros((0, 1 + (dim if self.wide else 0)))

    @np.errstate(over="ignore")  # a sum of huge errors is infinite
    def add(
        self,
        errors: np.ndarray,
        kept: np.ndarray,
        warm: np.ndarray,
        sizes: Sequence[np.ndarray] | np.ndarray,
        thresholds: Sequence[np.ndarray] | np.ndarray,
        predicted: np.ndarray,
        actual: np.ndarray,
    ) -> None:
        """Add rounds: the error of each, NaN if unknown, whether it was kept, three sizes and thresholds.

        A round that is skipped in the warm-up, `warm`, is not counted as skipped.
        `predicted` and `actual` are targets, or indices of labels.
        """
        counted = np.isfinite(errors)
        error = np.where(counted, errors, 0.0)
        steps = (error, counted, error * kept, counted & kept, ~(kept | warm))
        sums = list(map(_running_sum, self.sums, steps))
        columns = [column for pair in zip(sizes, thresholds, strict=True) for column in pair]
        self.points.add(self.rounds + 1, sums)
        self.samples.add(self.rounds + 1, [*columns, kept, predicted, actual])
        self.sums = np.array([column[-1] for column in sums])
        self.rounds += len(errors)

    def next_snapshot(self) -> int:
        """The round after which the next snapshot of the weights is due."""
        octave = math.floor(_SNAPSHOTS * math.log2(max(self.rounds, 63))) + 1
        while math.ceil(2.0 ** (octave / _SNAPSHOTS)) <= self.rounds:
            octave += 1
        return math.ceil(2.0 ** (octave / _SNAPSHOTS))

    def add_snapshot(self, weights: np.ndarray) -> None:
        if self.wide and self.rounds:
            row = np.concatenate([[self.rounds], weights])
            self.weights = np.concatenate([self.weights, row[None]])

    def state(self) -> dict[str, np.ndarray]:
        parts = {"rounds": np.array(self.rounds), "sums": self.sums, "weights": self.weights}
        for name in ("points", "samples"):
            parts |= {f"{name}.{key}": value for key, value in getattr(self, name).state().items()}
        return parts

    def load(self, tensors: dict[str, np.ndarray]) -> None:
        """Continue from what `state` returned; raises ValueError if it is not valid."""
        self.rounds, self.sums = count_in(tensors["rounds"]), numbers(tensors["sums"], (len(SUMS),))
        self.weights = numbers(tensors["weights"], (None, self.weights.shape[1]))
        if not _increases(self.weights[:, 0], self.rounds):
            raise ValueError("the rounds of a trace are not in order")
        _, counted, _, kept_counted, skipped = self.sums.tolist()
        if not (0 <= kept_counted <= counted <= self.rounds and 0 <= skipped <= self.rounds):
            raise ValueError("the sums of a trace are not counts of its rounds")
        for name in ("points", "samples"):
            part = [tensors[f"{name}.{key}"] for key in ("stride", "table")]
            getattr(self, name).load(*part, self.rounds)

    @property
    def skipped(self) -> int:
        return int(self.sums[SUMS.index("skipped")])

    def errors(self) -> tuple[float | None, float | None]:
        """The mean error of all rounds, and of the kept ones; None if there are none."""
        error, counted, kept_error, kept_counted, _ = map(float, self.sums)
        return (error / counted if counted else None, kept_error / kept_counted if kept_counted else None)


class Skips:
    """Counts of rows, without those of the warm-up. A skipped row counts for one column, or for none."""

    TENSORS: ClassVar[dict[str, tuple[str, ...]]] = {
        "columns": (),
        "labels": ("rows", "skipped"),
        "last": ("kept", "read"),
    }

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
        return {name: getattr(self, name) for name in self.TENSORS}

    def load(self, tensors: dict[str, np.ndarray]) -> None:
        """Continue from what `state` returned; raises ValueError if it is not valid."""
        for name in self.TENSORS:
            found = numbers(tensors[name], getattr(self, name).shape)
            if not ((found >= 0.0) & (found < 1 << 53)).all():
                raise ValueError("the counts of skipped rows are no counts")
            setattr(self, name, found.copy())


def _running_sum(total: float, steps: np.ndarray) -> np.ndarray:
    """The sum after each step, from left to right, so that it does not depend on the batches."""
    if steps.dtype == bool and (steps.all() or not steps.any()):  # takes a quarter of the time
        return total + steps[0] * np.arange(1.0, len(steps) + 1.0)
    sums = np.empty(len(steps) + 1)
    sums[0], sums[1:] = total, steps
    return np.cumsum(sums, out=sums)[1:]


def _increases(rounds: np.ndarray, last: int) -> bool:
    return bool((np.diff(rounds, prepend=0.0, append=last + 0.5) > 0.0).all())
