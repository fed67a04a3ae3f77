"""What a run records of its rounds: every skipped one with the reason, and the sizes of all."""

import math
from collections import Counter

import numpy as np
import pyarrow as pa

from holdfast.audit import NOT_READABLE, WARM_UP, learned, reasons

MEASURES = ("features", "target", "gradient")
MISSING, NO_TARGET = "missing cell", "no target"
REASONS = (*MEASURES, NOT_READABLE, MISSING, NO_TARGET, WARM_UP)
_TOO_LARGE = "a number is infinite, or too large to compute with"
_NONE = np.zeros(0, np.int64)
RELEASED = "released"  # counted with the reasons, though these rows were learned from in the end


def measured(columns, gradients):
    """Sizes and thresholds of features, target and gradient, a column each.

    Without `gradients` the player does not measure them, and theirs are NaN.
    """
    none = np.full(len(columns.sizes), math.nan)
    sizes, thresholds = (columns.sizes, columns.thresholds) if gradients else (none, none)
    return (
        (columns.feature_sizes, columns.target_sizes, sizes),
        (columns.feature_thresholds, columns.target_thresholds, thresholds),
    )


class RoundLog:
    """Skipped rounds and sizes that are not yet written to the folder."""

    def __init__(self, labels, by_target, sizes, keyed, gradients=True, little=False):
        """`by_target`: targets have a filter. `gradients`: these have one. `little`: as in `Audit`."""
        self.labels, self.by_target, self.with_sizes, self.keyed = labels, by_target, sizes, keyed
        self.gradients, self.little = gradients, little
        self.counts: dict[
            str, int
        ] = {}  # rounds by reason; by the first, if games of several labels skip one
        self._counted = _NONE  # rounds that the game of another label has skipped
        self.clear()

    def clear(self):
        self._skipped: list[pa.Table] = []
        self._sizes: list[pa.Table] = []
        self._released: list[pa.Table] = []
        self.waiting = 0  # rounds

    def add_released(self, table):
        """Record rows that were learned from although they had been skipped."""
        self._released.append(table)
        self.counts[RELEASED] = self.counts.get(RELEASED, 0) + table.num_rows

    def add(self, played, rounds, rows, y, faults, missing, place, keys, blame):
        """Record rounds of the games of one label: those that were skipped, and the sizes of all.

        `blame` names the column and its value, from the reasons and the indices of the skipped rounds.
        Returns the indices of those that are skipped in the warm-up, unless another game has skipped them.
        """
        sizes, thresholds = measured(played, self.gradients)
        self.waiting += len(rows)
        if self.with_sizes:
            found = {"row": rows, "features": sizes[0], "target": sizes[1], "gradient": sizes[2]}
            found["positive"] = y > 0.0
            columns, names = {name: found[name] for name in self.schema("sizes").names if name in found}, keys
            if len(self.labels) > 1:  # without a target are rows of labels that this game does not tell apart
                own = ~np.isnan(y)
                columns = {name: column[own] for name, column in columns.items()}
                names = None if keys is None else keys.filter(pa.array(own))
            self._sizes.append(self._table(columns, place, names))
        skipped = np.flatnonzero(~played.kept)
        if place == 0:
            self._counted = _NONE
        if len(skipped) == 0:
            return _NONE
        columns = {"round": rounds[skipped], "row": rows[skipped]}
        for name, size, threshold in zip(MEASURES, sizes, thresholds, strict=True):
            columns |= {f"{name}_size": size[skipped], f"{name}_threshold": threshold[skipped]}
        by = reasons(MEASURES, [size[skipped] for size in sizes], [bound[skipped] for bound in thresholds])
        details = np.where(by == NOT_READABLE, _TOO_LARGE, "").astype(object)
        places, why = _found_in(skipped, missing)
        by[places], details[places] = why, ""
        places, why = _found_in(skipped, faults)
        by[places], details[places] = NOT_READABLE, why
        new = ~np.isin(rounds[skipped], self._counted)
        for reason, count in Counter(by[new].tolist()).items():
            self.counts[reason] = self.counts.get(reason, 0) + count
        self._counted = np.concatenate([self._counted, rounds[skipped]])
        names, values = blame(by, skipped)
        columns |= {"reason": by, "column": names, "value": values, "detail": details}
        columns |= {"learned": learned(by, self.little)}
        self._skipped.append(self._table(columns, place, None if keys is None else keys.take(skipped)))
        return skipped[new & (by == WARM_UP)]

    def tables(self):
        """By name, the tables that have rows: skipped rounds and sizes in the order of the source."""
        found = {"audit": self._skipped, "sizes": self._sizes}
        tables = {name: self._in_order(parts) for name, parts in found.items() if parts}
        return tables | ({"released": pa.concat_tables(self._released)} if self._released else {})

    def schema(self, table):
        """The columns of `audit`, `sizes` or `released`, in order."""
        if table == "released":
            return pa.schema({"row": pa.int64(), "round": pa.int64(), "file": pa.string()})
        columns = {"row": pa.int64(), "features": pa.float64()}
        if self.by_target:
            columns |= {"target": pa.float64()}
        elif self.gradients:
            columns |= {"gradient": pa.float64(), "positive": pa.bool_()}
        if table == "audit":
            columns = {"round": pa.int64(), "row": pa.int64()}
            columns |= {f"{name}_{what}": pa.float64() for name in MEASURES for what in ("size", "threshold")}
            columns |= {"reason": pa.string(), "column": pa.string(), "value": pa.float64()}
            columns |= {"detail": pa.string(), "learned": pa.string()}
        columns |= {"label": pa.string()} if len(self.labels) > 1 else {}
        return pa.schema(columns | ({"key": pa.string()} if self.keyed else {}))

    def _in_order(self, found):
        table = pa.concat_tables(found)
        several = len(self.labels) > 1
        return table.sort_by([("row", "ascending"), ("label", "ascending")]) if several else table

    def _table(self, columns, place, keys):
        count = len(columns["row"])
        arrays = {name: pa.array(column) for name, column in columns.items()}
        if len(self.labels) > 1:
            arrays["label"] = pa.array([self.labels[place]] * count, pa.string())
        if keys is not None:
            arrays["key"] = keys
        return pa.table(arrays)


def _found_in(skipped, words):
    """The positions in `skipped`, which is sorted, of the rounds that have words, and their words."""
    rounds = np.fromiter(words, np.int64, len(words))
    places = np.searchsorted(skipped, rounds)
    found = np.isin(rounds, skipped)
    return places[found], np.array(list(words.values()), object)[found]


def excess(table):
    """The largest factor by which each skipped round exceeds a threshold, and the index of that measure.

    The factor is 0 where there is no threshold yet or no size is known, and infinite if a size is infinite.
    """
    times = np.zeros((len(MEASURES), table.num_rows))
    for i, measure in enumerate(MEASURES):
        size = table.column(f"{measure}_size").to_numpy()
        threshold = table.column(f"{measure}_threshold").to_numpy()
        with np.errstate(all="ignore"):
            above = (threshold > 0.0) & (size > threshold)
            times[i] = np.where(above, size / threshold, np.where(size == math.inf, math.inf, 0.0))
    return times.max(axis=0), times.argmax(axis=0)
