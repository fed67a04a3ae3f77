"""How a run went: a sample of its rounds that does not grow, and sums for each key."""

import math

import numpy as np
import pyarrow as pa

from holdfast.runs.audit import MEASURES

_POINTS, _SAMPLES = 1024, 4096
_SNAPSHOTS = 8  # of the weights, each time the number of rounds doubles
_MOST_WEIGHTS = 512  # with more, there are no snapshots
_WORST = 5  # keys in a summary
_QUARTERS = ("least", "lower_quartile", "median", "upper_quartile", "most")
SUMS = ("error", "counted", "kept_error", "kept_counted", "skipped")
COLUMNS = ("round", *SUMS)
# errors: a sum; counted: of how many rounds; threshold: the last one of the features, 0 before the first
KEY_COLUMNS = ("rounds", "kept", "warm_up", "errors", "counted", "threshold")
SAMPLES = ("round", *(f"{of}_{what}" for of in MEASURES for what in ("size", "threshold")), "kept")
SAMPLES += ("predicted", "actual")  # numbers, or indices of labels
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
    """Every n-th row of a long table. n, the stride, doubles whenever there are too many rows.

    Which rows remain depends on the number of rounds only, not on the batches.
    """

    def __init__(self, width, most):
        self.most, self.stride, self.table = most, 1, np.zeros((0, width))

    def add(self, first, columns):
        """Add the rounds first, first + 1, ..., given by columns."""
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
        """Continue from what `state` returned; raises ValueError if it is not valid."""
        self.stride, self.table = count_in(stride, 1), numbers(table, (None, self.table.shape[1]))
        first = self.table[:, 0]
        if len(first) > self.most + 1 or not _increases(first, rounds):
            raise ValueError("the rounds of a trace are not in order")


class Trace:
    """The error of the predictions so far, a sample of the sizes, and snapshots of the weights."""

    def __init__(self, dim):
        self.rounds = 0
        self.sums = np.zeros(len(SUMS))
        self.points, self.samples = ThinnedTable(len(COLUMNS), _POINTS), ThinnedTable(len(SAMPLES), _SAMPLES)
        self.wide = dim <= _MOST_WEIGHTS
        self.weights = np.zeros((0, 1 + (dim if self.wide else 0)))

    @np.errstate(over="ignore")  # a sum of huge errors is infinite
    def add(self, errors, kept, warm, sizes, thresholds, predicted, actual):
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

    def next_snapshot(self):
        """The round after which the next snapshot of the weights is due."""
        octave = math.floor(_SNAPSHOTS * math.log2(max(self.rounds, 63))) + 1
        while math.ceil(2.0 ** (octave / _SNAPSHOTS)) <= self.rounds:
            octave += 1
        return math.ceil(2.0 ** (octave / _SNAPSHOTS))

    def add_snapshot(self, weights):
        """Add the weights."""
        if self.wide and self.rounds:
            row = np.concatenate([[self.rounds], weights])
            self.weights = np.concatenate([self.weights, row[None]])

    def state(self):
        parts = {"rounds": np.array(self.rounds), "sums": self.sums, "weights": self.weights}
        for name in ("points", "samples"):
            parts |= {f"{name}.{key}": value for key, value in getattr(self, name).state().items()}
        return parts

    def load(self, tensors):
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

    def errors(self):
        """The mean error of all rounds, and of the kept ones; None if there are none."""
        error, counted, kept_error, kept_counted, _ = map(float, self.sums)
        return (error / counted if counted else None, kept_error / kept_counted if kept_counted else None)


class KeySums:
    """The rounds of each key, the kept ones, and the sum of their errors. Keys are in order of appearance."""

    def __init__(self):
        self.sums = np.zeros((0, len(KEY_COLUMNS)))

    def extend(self, count):
        """There are so many keys by now; the new ones have no rounds yet."""
        if count > len(self.sums):
            self.sums = np.concatenate([self.sums, np.zeros((count - len(self.sums), len(KEY_COLUMNS)))])

    @np.errstate(over="ignore")
    def add(self, count, keys, errors, kept, warm):
        """Add rounds. `keys` has the index of each round's key; there are `count` keys by now."""
        self.extend(count)
        counted = np.isfinite(errors) & kept
        # In the order of the rounds, so that the sums do not depend on the batches.
        for place, figures in enumerate((1.0, kept, warm, np.where(counted, errors, 0.0), counted)):
            np.add.at(self.sums[:, place], keys, figures)

    def take(self, keys):
        """Keep the sums of these keys only."""
        if len(keys) < len(self.sums):
            self.sums = self.sums[keys]

    def set_thresholds(self, count, keys, thresholds):
        """Store the last threshold of the features for each key. NaN, of an unmeasured round, is ignored."""
        self.extend(count)
        known = ~np.isnan(thresholds)
        self.sums[keys[known], -1] = thresholds[known]  # of a repeated key, the last one

    def thresholds(self):
        return self.sums[:, -1].copy()

    def load(self, sums, count):
        """Continue from these sums of `count` keys; raises ValueError if they are not valid."""
        rounds, kept, warm, _, counted, _ = numbers(sums, (count, len(KEY_COLUMNS))).T
        fine = (counted >= 0) & (counted <= kept) & (warm >= 0) & (kept + warm <= rounds)
        if not (fine & (rounds < 1 << 53)).all():
            raise ValueError("the sums of keys are not counts of their rounds")
        self.sums = sums

    def table(self, names):
        """A row for each key; the error is null if no round was kept. `warm_up` counts others, not kept."""
        rounds, kept, warm, errors, counted, _ = self.sums.T
        with np.errstate(all="ignore"):
            mean = pa.array(errors / counted, mask=counted == 0)
        counts = {"rounds": rounds, "kept": kept, "warm_up": warm}
        counts = {name: column.astype(np.int64) for name, column in counts.items()}
        return pa.table({"key": pa.array(names, pa.string())} | counts | {"error": mean})

    def summary(self, names, starts=False):
        """The number of keys, quantiles of their rounds, skipped rounds and errors, and the worst keys.

        `starts`: a key learns nothing before its first threshold that is finite.
        """
        rounds, kept, warm, errors, counted, threshold = self.sums.T
        skipped, known = 1.0 - (kept + warm) / np.maximum(rounds, 1.0), counted > 0
        mean = np.where(known, errors / np.maximum(counted, 1.0), -1.0)
        table = self.table(names)
        worst = {
            name: table.take(np.argsort(-by, kind="stable")[:_WORST]).to_pylist()
            for name, by in (("most_skipped", skipped), ("largest_error", mean))
        }
        spreads = {"rounds": rounds, "skipped_share": skipped, "error": mean[known]}
        nothing = (kept == 0) | (starts & np.isinf(threshold))
        counts = {"count": len(rounds), "nothing_learned": int(nothing.sum())}
        return counts | {name: _spread(each) for name, each in spreads.items()} | worst


def count_in(tensor, least=0):
    """The count in a tensor; raises ValueError if there is none, or it is less than `least`."""
    if tensor.dtype != np.int64 or tensor.ndim or not least <= int(tensor) <= 1 << 53:
        raise ValueError(f"a count cannot be {tensor.dtype} of shape {tensor.shape}, or below {least}")
    return int(tensor)


def numbers(tensor, shape):
    """A tensor of float64; raises ValueError if it has another shape. None in `shape` is any length."""
    fits = tensor.dtype == np.float64 and tensor.ndim == len(shape)
    if not fits or any(want not in (None, size) for size, want in zip(tensor.shape, shape, strict=True)):
        raise ValueError(f"numbers of shape {shape} cannot be {tensor.dtype} of shape {tensor.shape}")
    return tensor


def _running_sum(total, steps):
    """The sum after each step, from left to right, so that it does not depend on the batches."""
    if steps.dtype == bool and (steps.all() or not steps.any()):  # takes a quarter of the time
        return total + steps[0] * np.arange(1.0, len(steps) + 1.0)
    sums = np.empty(len(steps) + 1)
    sums[0], sums[1:] = total, steps
    return np.cumsum(sums, out=sums)[1:]


def _increases(rounds, last):
    return bool((np.diff(rounds, prepend=0.0, append=last + 0.5) > 0.0).all())


def _spread(values):
    if not len(values):
        return None
    return dict(zip(_QUARTERS, np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist(), strict=True))
