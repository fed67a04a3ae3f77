"""How a run went, in memory that does not grow: some points of it, always evenly spread."""

import math

import numpy as np

from holdfast.runs.audit import MEASURES

_POINTS, _SAMPLES = 1024, 4096
_SNAPSHOTS = 8  # of the weights, while the rounds double
_WIDEST = 512  # weights that are remembered
SUMS = ("error", "counted", "kept_error", "kept_counted", "skipped")
COLUMNS = ("round", *SUMS)
SAMPLES = ("round", *(f"{of}_{what}" for of in MEASURES for what in ("size", "threshold")), "kept")
TENSORS: dict[str, tuple[str, ...]] = {  # columns by name
    "rounds": (),
    "sums": SUMS,
    "weights": ("round", "weights"),
    "points.stride": (),
    "points.table": COLUMNS,
    "samples.stride": (),
    "samples.table": SAMPLES,
}


class ThinnedTable:
    """Rows at the multiples of a stride, which doubles whenever there are too many of them.

    Which rows remain depends only on how many rounds there were, not on how these came in batches.
    """

    def __init__(self, width, most):
        self.most, self.stride, self.table = most, 1, np.zeros((0, width))

    def add(self, first, columns):
        """The rounds first, first + 1, ...: a column each, after that of the round."""
        count = len(columns[0])
        while (first + count - 1) // self.stride > self.most:
            self.stride *= 2
            self.table = self.table[self.table[:, 0] % self.stride == 0]
        start = -first % self.stride
        rounds = np.arange(first + start, first + count, self.stride, dtype=float)
        new = np.column_stack([rounds, *(column[start :: self.stride] for column in columns)])
        self.table = np.concatenate([self.table, new])

    def state(self):
        return {"stride": np.array(self.stride), "table": self.table}

    def load(self, stride, table, rounds):
        """Go on from what `state` gave; raises ValueError if it cannot have been."""
        self.stride, self.table = whole(stride, 1), numbers(table, (None, self.table.shape[1]))
        first = self.table[:, 0]
        if len(first) > self.most + 1 or not _increases(first, rounds):
            raise ValueError("the rounds of a trace are not in order")


class Trace:
    """The progressive error, a sample of the sizes, and the weights now and then."""

    def __init__(self, dim):
        self.rounds = 0
        self.sums = np.zeros(len(SUMS))
        self.points, self.samples = ThinnedTable(len(COLUMNS), _POINTS), ThinnedTable(len(SAMPLES), _SAMPLES)
        self.wide = dim <= _WIDEST
        self.weights = np.zeros((0, 1 + (dim if self.wide else 0)))

    def add(self, errors, kept, sizes, thresholds):
        """Rounds as they were played: the error of each, NaN if unknown, and three sizes and thresholds."""
        counted = np.isfinite(errors)
        error = np.where(counted, errors, 0.0)
        steps = (error, counted, error * kept, counted & kept, ~kept)
        # Added from left to right, so that the sums do not depend on the batches.
        sums = [
            np.cumsum(np.concatenate([[total], step]))[1:]
            for total, step in zip(self.sums, steps, strict=True)
        ]
        columns = [column for pair in zip(sizes, thresholds, strict=True) for column in pair]
        self.points.add(self.rounds + 1, sums)
        self.samples.add(self.rounds + 1, [*columns, kept])
        self.sums = np.array([column[-1] for column in sums])
        self.rounds += len(errors)

    def next_snapshot(self):
        """The round after which the weights are to be remembered next."""
        octave = math.floor(_SNAPSHOTS * math.log2(max(self.rounds, 63))) + 1
        while math.ceil(2.0 ** (octave / _SNAPSHOTS)) <= self.rounds:
            octave += 1
        return math.ceil(2.0 ** (octave / _SNAPSHOTS))

    def remember(self, weights):
        if self.wide and self.rounds:
            row = np.concatenate([[self.rounds], weights])
            self.weights = np.concatenate([self.weights, row[None]])

    def state(self):
        parts = {"rounds": np.array(self.rounds), "sums": self.sums, "weights": self.weights}
        for name in ("points", "samples"):
            parts |= {f"{name}.{key}": value for key, value in getattr(self, name).state().items()}
        return parts

    def load(self, tensors):
        """Go on from what `state` gave; raises ValueError if it cannot have been."""
        self.rounds, self.sums = whole(tensors["rounds"]), numbers(tensors["sums"], (len(SUMS),))
        self.weights = numbers(tensors["weights"], (None, self.weights.shape[1]))
        if not _increases(self.weights[:, 0], self.rounds):
            raise ValueError("the rounds of a trace are not in order")
        _, counted, _, kept_counted, skipped = self.sums.tolist()
        if not (0 <= kept_counted <= counted <= self.rounds and 0 <= skipped <= self.rounds):
            raise ValueError("the sums of a trace are not counts of its rounds")
        for name in ("points", "samples"):
            part = [tensors[f"{name}.{key}"] for key in ("stride", "table")]
            getattr(self, name).load(*part, self.rounds)

    def errors(self):
        """The mean error of all rounds, and of those learned from; None where there are none."""
        error, counted, kept_error, kept_counted, _ = map(float, self.sums)
        return (error / counted if counted else None, kept_error / kept_counted if kept_counted else None)


def whole(tensor, least=0):
    """The whole number in a tensor; raises ValueError if there is none, or it is less than `least`."""
    if tensor.dtype != np.int64 or tensor.ndim or not least <= int(tensor) <= 1 << 53:
        raise ValueError(f"a count cannot be {tensor.dtype} of shape {tensor.shape}, or below {least}")
    return int(tensor)


def numbers(tensor, shape):
    """A tensor of float64; raises ValueError if it has another shape, of which None is any length."""
    fits = tensor.dtype == np.float64 and tensor.ndim == len(shape)
    if not fits or any(want not in (None, size) for size, want in zip(tensor.shape, shape, strict=True)):
        raise ValueError(f"numbers of shape {shape} cannot be {tensor.dtype} of shape {tensor.shape}")
    return tensor


def _increases(rounds, last):
    return bool((np.diff(rounds, prepend=0.0, append=last + 0.5) > 0.0).all())
