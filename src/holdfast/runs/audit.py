"""What a run records of its rounds: every skipped one with reason and column, and the sizes of all."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.audit import NOT_READABLE, WARM_UP, checks_of, decisive, learned, reasons, unreadable_cells
from holdfast.io.columns import Time
from holdfast.io.rows import DenseRows, SparseRows, WrongCell
from holdfast.runs import ledger

MEASURES = ("features", "target", "gradient")
MISSING, NO_TARGET = "a cell is missing", "the target is missing"
TOO_LARGE = "a number is infinite, or too large to compute with"
_NONE = np.zeros(0, np.int64)
_SCHEMAS = {
    "released": pa.schema({"row": pa.int64(), "round": pa.int64(), "file": pa.string()}),
    "released_rows": ledger.ROWS_SCHEMA,
    "ledger": ledger.SCHEMA,
}
RELEASED = "released"  # counted with the reasons, though these rows were learned from in the end


def by_measure(values: np.ndarray, checks: Sequence[str]) -> np.ndarray:
    """Sizes or thresholds of rounds by measure, from those by check; NaN if the player has no such check."""
    none = np.full(len(values), math.nan)
    return np.array([values[:, checks.index(name)] if name in checks else none for name in MEASURES])


class RoundLog:
    """Skipped rounds and sizes that are not yet written to the folder."""

    def __init__(
        self,
        labels: Sequence[str],
        checks: Sequence[str],
        by_target: bool,
        sizes: bool,
        keyed: bool,
        little: bool = False,
        time: Time | None = None,
        forecasts: bool = False,
    ) -> None:
        """`checks` are those of the player. `by_target`: targets have a filter. `little`: as in `Audit`.

        `time` is the column that says when a row was measured, if there is one. `forecasts`: also record what
        is needed so that a game with the same rows is not played again (`holdfast.runs.recorded`).
        """
        self.with_forecasts = forecasts
        self.labels, self.checks, self.little, self.time = labels, checks, little, time
        self.by_target, self.with_sizes, self.keyed = by_target, sizes, keyed
        # Rounds by reason; by the first, if games of several labels skip one.
        self.counts: dict[str, int] = {}
        self._blamed: list[np.ndarray] = []  # the columns of the skipped rounds since `take_blamed`
        self._counted = _NONE  # rounds that the game of another label has skipped
        self.clear()

    def add_forecasts(self, played: Any, rows: np.ndarray, y: np.ndarray) -> None:
        """Record the answers of the only game of each key; `y` has the targets as the source has them."""
        if self.with_forecasts:
            found = {"row": rows, "y": y, "forecast": played.predictions}
            for place, check in enumerate(self.checks):
                found |= {f"threshold_{check}": played.thresholds[:, place]}
                found |= {f"size_{check}": played.sizes[:, place]}
            self.put("forecasts", pa.table({name: found[name] for name in self.schema("forecasts").names}))

    def clear(self) -> None:
        self._skipped: list[pa.Table] = []
        self._sizes: list[pa.Table] = []
        self._more: dict[str, list[pa.Table]] = {}
        self.waiting = 0  # rounds

    def add_released(self, table: pa.Table) -> None:
        """Record rows that were learned from although they had been skipped."""
        self.put("released", table)
        self.counts[RELEASED] = self.counts.get(RELEASED, 0) + table.num_rows

    def put(self, name: str, table: pa.Table) -> None:
        """Add rows to a table as they are."""
        parts = {"audit": self._skipped, "sizes": self._sizes}
        (parts[name] if name in parts else self._more.setdefault(name, [])).append(table)

    def add(
        self,
        played: Any,
        rounds: np.ndarray,
        rows: np.ndarray,
        y: np.ndarray,
        faults: Mapping[int, str],
        missing: Mapping[int, str],
        place: int,
        keys: Any,
        blame: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
        times: Any = None,
        describe: Callable[[np.ndarray, dict[str, Any]], None] = lambda skipped, columns: None,
    ) -> np.ndarray:
        """Record rounds of the games of one label: those that were skipped, and the sizes of all.

        `times` are the cells of the column `time`. `blame` names the column and its value, from the reasons
        and the indices of the skipped rounds; `describe` may replace what is said of them. Returns the
        indices of those that are skipped in the warm-up, unless another game has skipped them.
        """
        self.waiting += len(rows)
        self._keep(played, y, place)
        if self.with_sizes:
            found = dict(zip(MEASURES, by_measure(played.sizes, self.checks), strict=True))
            found |= {"row": rows, "positive": y > 0.0}
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
        refused_by, sizes, thresholds = (
            column[skipped] for column in (played.refused_by, played.sizes, played.thresholds)
        )
        by = reasons(self.checks, refused_by, thresholds)
        details = np.full(len(by), "", object)
        for i in np.flatnonzero(by == NOT_READABLE):
            number = int(skipped[i])
            details[i] = faults.get(number) or missing.get(number, TOO_LARGE)
        new = ~np.isin(rounds[skipped], self._counted)
        for reason, count in Counter(by[new].tolist()).items():
            self.counts[reason] = self.counts.get(reason, 0) + count
        self._counted = np.concatenate([self._counted, rounds[skipped]])
        names, values = blame(by, skipped)
        for i in np.flatnonzero(np.isin(skipped, list(faults))):  # what was no number is only in the detail
            fault = faults[int(skipped[i])]
            names[i], values[i] = fault.columns[0] if isinstance(fault, WrongCell) else "", math.nan
        columns = {"round": rounds[skipped], "row": rows[skipped], "reason": by}
        columns |= {"check": checks_of(self.checks, refused_by)}
        columns |= {"size": decisive(sizes, refused_by), "threshold": decisive(thresholds, refused_by)}
        columns |= {"column": names, "value": values, "detail": details, "learned": learned(by, self.little)}
        if self.time is not None:
            texts = [""] * len(skipped) if times is None else self.time.texts(times.take(pa.array(skipped)))
            columns["time"] = np.array([text or "" for text in texts], object)
        describe(skipped, columns)
        self._blamed.append(names[new & (by != WARM_UP)])
        self._skipped.append(self._table(columns, place, None if keys is None else keys.take(skipped)))
        return skipped[new & (by == WARM_UP)]

    def about_skipped(self, rows: np.ndarray) -> Callable[[int], tuple[str, float, float]]:
        """A function: the column, size and threshold of the i-th of these rows, which was skipped."""

        def about(i: int) -> tuple[str, float, float]:
            for table in reversed(self._skipped):
                place = pa.compute.index(table.column("row"), pa.scalar(int(rows[i]))).as_py()
                if place >= 0:
                    found = [table.column(name)[place].as_py() for name in ("column", "size", "threshold")]
                    return found[0], found[1], found[2]
            return "", math.nan, math.nan

        return about

    def take_blamed(self) -> list[np.ndarray]:
        """The columns of the skipped rounds since the last call, empty where unknown, without the warm-up."""
        found, self._blamed = self._blamed, []
        return found

    def _keep(self, played: Any, y: np.ndarray, place: int) -> None:
        """For a log that keeps more of each round."""

    def tables(self) -> dict[str, pa.Table]:
        """By name, the tables that have rows: skipped rounds and sizes in the order of the source."""
        found = {"audit": self._skipped, "sizes": self._sizes}
        tables = {name: self._in_order(parts) for name, parts in found.items() if parts}
        return tables | {name: pa.concat_tables(parts) for name, parts in self._more.items()}

    def schema(self, table: str) -> pa.Schema:
        """The columns of a table, in order."""
        if table in _SCHEMAS:
            return _SCHEMAS[table]
        columns = {"row": pa.int64(), "features": pa.float64()}
        if self.by_target:
            columns |= {"target": pa.float64()}
        elif "gradient" in self.checks:
            columns |= {"gradient": pa.float64(), "positive": pa.bool_()}
        if table == "forecasts":
            more = [f"threshold_{check}" for check in self.checks]
            more += [f"size_{check}" for check in self.checks if check not in columns]  # not in `sizes`
            return pa.schema({"row": pa.int64()} | dict.fromkeys(("y", "forecast", *more), pa.float64()))
        if table == "audit":
            columns = {"round": pa.int64(), "row": pa.int64(), "reason": pa.string()}
            columns |= {"check": pa.string()}
            columns |= {"size": pa.float64(), "threshold": pa.float64(), "column": pa.string()}
            columns |= {"value": pa.float64(), "detail": pa.string(), "learned": pa.string()}
            columns |= {} if self.time is None else {"time": pa.string()}
        columns |= {"label": pa.string()} if len(self.labels) > 1 else {}
        return pa.schema(columns | ({"key": pa.string()} if self.keyed else {}))

    def _in_order(self, found: Sequence[pa.Table]) -> pa.Table:
        table = pa.concat_tables(found)
        several = len(self.labels) > 1
        return table.sort_by([("row", "ascending"), ("label", "ascending")]) if several else table

    def _table(self, columns: Mapping[str, Any], place: int, keys: Any) -> pa.Table:
        count = len(columns["row"])
        arrays = {
            name: column if isinstance(column, pa.Array) else pa.array(column)
            for name, column in columns.items()
        }
        if len(self.labels) > 1:
            arrays["label"] = pa.array([self.labels[place]] * count, pa.string())
        if keys is not None:
            arrays["key"] = keys
        return pa.table(arrays)


@np.errstate(all="ignore")
def blame(
    features: np.ndarray,
    target: str,
    regression: bool,
    rows: DenseRows | SparseRows,
    y: np.ndarray,
    farthest: np.ndarray,
    reasons: np.ndarray,
    skipped: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """A name, empty if unknown, and a value, NaN if unknown, for each skipped round, given by index.

    A round that the feature filter skipped has the column that was farthest in that round, as the player has
    measured it; none in sparse rows, and if the player did not measure one. `features` and `target` are
    names, `farthest` the columns that were measured. `reasons` are of the skipped rounds only.
    """
    farthest = farthest[skipped]
    names, values = np.full(len(reasons), "", object), np.full(len(reasons), np.nan)
    targets = np.asarray(y, float)[skipped]
    of_target = np.isin(reasons, ("target", "gradient"))
    if isinstance(rows, DenseRows):
        X = rows.X[skipped, : len(features)]
        places = np.where((reasons == "features") & (farthest < len(features)), farthest, -1)
        unreadable = reasons == NOT_READABLE
        places[unreadable] = unreadable_cells(X[unreadable], targets[unreadable])
        of_target |= unreadable & (places < 0)
        known = np.flatnonzero(places >= 0)
        names[known], values[known] = features[places[known]], X[known, places[known]]
    names[of_target] = target
    if regression:
        values[of_target] = targets[of_target]
    return names, values


def with_times(table: pa.Table) -> pa.Table:
    """A part of the audit with `times`, the size over the threshold; NaN if nothing was compared.

    It is infinite if the value is.
    """
    size, threshold = (table.column(name).to_numpy() for name in ("size", "threshold"))
    times = np.full(len(size), math.nan)
    compared = threshold > 0.0
    times[compared] = size[compared] / threshold[compared]
    times[np.isinf(table.column("value").to_numpy())] = math.inf
    return table.append_column("times", pa.array(times))
