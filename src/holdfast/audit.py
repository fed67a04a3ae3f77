"""Which rounds were skipped, and why: the reason of each round, and the table that the adapters keep."""

__all__ = ["HoldfastWarning"]

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.advice import SkipFigures, advice

if TYPE_CHECKING:
    from holdfast.pages.notebook import ColumnTable

WARM_UP, NOT_READABLE = "warm-up", "not readable"
_MISSING = 1.7e308  # as the size of a cell: larger than all others but infinite ones
LITTLE, NOTHING = "little", "nothing"  # what a skipped round has taught
_MANY, _FIRST, _LONG_RUN = 0.2, 20, 100  # _FIRST rows: a filter has little to compare at first
_PARTS = 64  # tables of single batches; above that they are joined into one
_MEASURED = {"reason": str, "check": str, "size": float, "threshold": float, "column": str, "value": float}


def reasons(checks: Sequence[str], refused_by: ArrayLike, thresholds: ArrayLike) -> np.ndarray:
    """The reasons of skipped rounds, from their verdicts: the name of the check that refused each.

    It is "warm-up" if the threshold of that check was 0 or less: it had nothing to compare with. It is "not
    readable" if no check could be asked: a number is missing, infinite, or too large to compute with.

    >>> reasons(("features", "gradient"), [1, 0, -1], [[2.0, 3.0], [0.0, 3.0], [np.nan, np.nan]]).tolist()
    ['gradient', 'warm-up', 'not readable']
    """
    refused_by = np.asarray(refused_by, int)
    found = np.array([*checks, NOT_READABLE], object)[refused_by]
    found[decisive(thresholds, refused_by) <= 0.0] = WARM_UP
    return found


def decisive(values: ArrayLike, refused_by: ArrayLike) -> np.ndarray:
    """Of sizes or thresholds by round and check, those of the check that refused each round; else NaN."""
    values, places = np.asarray(values, float), np.asarray(refused_by, int)
    found = np.full(len(places), np.nan)
    refused = np.flatnonzero(places >= 0)
    found[refused] = values[refused, places[refused]]
    return found


def learned(by: ArrayLike, little: bool) -> np.ndarray:
    """What skipped rounds with these reasons have taught: a little if the target was refused and `little`."""
    return np.where((np.asarray(by) == "target") & little, LITTLE, NOTHING)


@np.errstate(all="ignore")
def unreadable_cells(X: ArrayLike, y: ArrayLike) -> np.ndarray:
    """The column of the cell to blame in each row that is not readable; -1: its target.

    What is infinite comes first, then what is missing, then what is largest, and the target before the cells.

    >>> unreadable_cells([[1.0, np.inf], [np.nan, 2.0], [1.0, 2.0]], [0.0, 0.0, np.nan]).tolist()
    [1, 0, -1]
    """
    sizes = np.abs(np.column_stack([np.asarray(y, float), np.asarray(X, float)]))
    sizes[np.isnan(sizes)] = _MISSING
    return sizes.argmax(axis=1) - 1


def checks_of(checks: Sequence[str], refused_by: ArrayLike) -> np.ndarray:
    """The names of the checks that refused rounds; empty if no check could be asked."""
    return np.array([*checks, ""], object)[np.asarray(refused_by, int)]


def table_of_steps(
    checks: Sequence[str],
    steps: Sequence[int],
    refused_by: Sequence[int],
    sizes: Sequence[float],
    thresholds: Sequence[float],
    columns: Sequence[str],
) -> dict[str, list[Any]]:
    """The audit of skipped training steps, with the columns of every audit; `value` is NaN.

    A step whose size is not finite was refused by no check. Steps of the warm-up are in it.

    >>> table = table_of_steps(["gradient"], [0, 7], [0, 0], [2.0, math.inf], [0.0, math.nan], ["", ""])
    >>> table["reason"], table["check"]
    (['warm-up', 'not readable'], ['gradient', ''])
    """
    by = np.where(np.isfinite(sizes), np.asarray(refused_by, int), -1)
    repeated = np.repeat(np.reshape(np.asarray(thresholds, float), (-1, 1)), len(checks), axis=1)
    table: dict[str, list[Any]] = {"step": list(steps), "reason": reasons(checks, by, repeated).tolist()}
    table |= {"check": checks_of(checks, by).tolist(), "size": list(sizes), "threshold": list(thresholds)}
    return table | {"column": list(columns), "value": [math.nan] * len(by), "learned": [NOTHING] * len(by)}


class HoldfastWarning(UserWarning):
    """Something that can be learned from, but that is probably not what you want."""


class SkipMonitor:
    """Warn, once each, if more than 20 % of the rows are skipped, or 100 rows one after the other.

    Rows of the warm-up count as kept, and the first 20 skipped rows do not count. The share is looked at when
    there are `enough` rows.

    >>> monitor = SkipMonitor("look at audit_")
    >>> monitor.add(np.arange(150) > 40)
    >>> monitor.rows, monitor.skipped, monitor.run
    (150, 41, 0)
    """

    def __init__(self, remedy: str, depth: int = 7, enough: int = 200, audit: "Audit | None" = None) -> None:
        self.remedy, self.enough, self.audit = remedy, enough, audit
        self.depth = depth  # the number of calls from the user's to `warnings.warn`
        self.rows, self.skipped, self.run, self.longest = 0, 0, 0, 0
        self._warned_of_share = self._warned_of_run = False

    def add(self, kept: np.ndarray) -> None:
        """Count these rows, in their order."""
        if len(kept) == 1:
            self._count_one(bool(kept[0]))
        elif kept.all():
            self.rows, self.run = self.rows + len(kept), 0 if len(kept) else self.run
        else:
            self._count(kept)
        self._warn()

    def add_one(self, kept: bool) -> None:
        """Count one row."""
        self._count_one(kept)
        self._warn()

    def _count(self, kept: np.ndarray) -> None:
        ends = np.flatnonzero(kept)
        runs = np.diff(ends, prepend=-1, append=len(kept)) - 1
        runs[0] += self.run
        self.rows, self.skipped = self.rows + len(kept), self.skipped + len(kept) - len(ends)
        self.run, self.longest = int(runs[-1]), max(self.longest, int(runs.max()))

    def _count_one(self, kept: bool) -> None:
        self.rows, self.skipped = self.rows + 1, self.skipped + (not kept)
        self.run = 0 if kept else self.run + 1
        self.longest = max(self.longest, self.run)

    def _warn(self) -> None:
        if self.longest >= _LONG_RUN and not self._warned_of_run:
            self._warned_of_run = True
            self._say(f"{self.longest:,} rows one after the other were skipped: the data may have changed")
        many = self.rows >= self.enough and self.skipped > _FIRST + _MANY * self.rows
        if many and not self._warned_of_share:
            self._warned_of_share = True
            columns = self.audit.causes() if self.audit is not None else {}
            figures = SkipFigures(self.rows, min(sum(columns.values()), self.skipped), columns)
            causes = [f"; {sentence}" for sentence in advice(figures)]
            self._say(
                f"{self.skipped:,} of {self.rows:,} rows were skipped, more than {_MANY:.0%}"
                + "".join(causes)
            )

    def advise(self, figures: SkipFigures) -> None:
        """Warn of what the counts of a whole table say. The monitor may have said some of it."""
        for sentence in advice(figures):
            if not (self._warned_of_share and " are due to " in sentence):
                self._say(sentence)

    def _say(self, sentence: str) -> None:
        warnings.warn(f"{sentence}; {self.remedy}", HoldfastWarning, stacklevel=self.depth)


class Audit:
    """The first `size` skipped rounds as a table, and counts of all rounds.

    Rounds of the warm-up are counted, but they are no outliers: they are not in the table, nor in `skipped`.

    Parameters:
        size: The largest number of rows of the table.
        checks: What is measured in a round, such as "features" (`PlayerOptions.checks`).
        places: The columns that locate a round, such as "round".
        little: Whether a round whose target is refused teaches a little (`PlayerOptions.learns_little`).

    >>> audit = Audit(100, ["features"], ["round"])
    >>> audit.add([[7, 8]], [0, -1], [[90.0], [np.nan]], [[2.5], [np.nan]], column=["pressure", ""])
    >>> audit.counts
    {'features': 1, 'not readable': 1, 'warm-up': 0}
    >>> {name: column.tolist() for name, column in audit.table().items() if name in ("round", "reason")}
    {'round': [7, 8], 'reason': ['features', 'not readable']}
    """

    def __init__(self, size: int, checks: Sequence[str], places: Sequence[str], little: bool = False) -> None:
        self.size, self.checks, self.places, self.kept = size, tuple(checks), tuple(places), 0
        self.little, self.counts = little, dict.fromkeys((*self.checks, NOT_READABLE, WARM_UP), 0)
        self._parts = [self._table([[]] * len(self.places), [[]] * len(_MEASURED))]
        self._length = 0

    @property
    def room(self) -> int:
        """How many rows the table can still take."""
        return self.size - self._length

    @property
    def skipped(self) -> int:
        """How many rounds were skipped after the warm-up."""
        return self.rounds - self.kept - self.counts[WARM_UP]

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return self.kept + sum(self.counts.values())

    def add(
        self,
        places: Sequence[ArrayLike],
        refused_by: ArrayLike,
        sizes: ArrayLike,
        thresholds: ArrayLike,
        column: ArrayLike | None = None,
        value: ArrayLike | None = None,
    ) -> None:
        """Record skipped rounds by their verdicts; `column` and `value` are the cell to blame.

        Columns of places and cells may end where the table is full; then no round of them is one of the
        warm-up.
        """
        by, checks = reasons(self.checks, refused_by, thresholds), checks_of(self.checks, refused_by)
        size, threshold = decisive(sizes, refused_by), decisive(thresholds, refused_by)
        column = [""] * len(by) if column is None else column
        value = [np.nan] * len(by) if value is None else value
        for reason in self.counts:
            self.counts[reason] += int((by == reason).sum())
        left = np.flatnonzero(by != WARM_UP)
        left = left[: min(self.room, len(left))]
        if len(left) > 0:
            measured = (by, checks, size, threshold, column, value)
            found = [[np.asarray(one)[left] for one in each] for each in (places, measured)]
            self._parts.append(self._table(*found))
            self._length += len(left)
            if len(self._parts) > _PARTS:
                self._parts = [self.table()]

    def causes(self) -> dict[str, int]:
        """How many of the rows in the table were skipped for each column; without the target."""
        names, counts = np.unique(self._column("column"), return_counts=True)
        found = dict(zip(names.tolist(), counts.tolist(), strict=True))
        return {name: count for name, count in found.items() if name not in ("", "target")}

    def table(self) -> "ColumnTable":
        """The columns by name; a notebook shows the first rows."""
        from holdfast.pages.notebook import ColumnTable

        return ColumnTable({name: self._column(name) for name in self._parts[0]})

    def _column(self, name: str) -> np.ndarray:
        return np.concatenate(
            [part[name] for part in self._parts if len(part[name])] or [self._parts[0][name]]
        )

    def _table(self, places: Sequence[ArrayLike], measured: Sequence[ArrayLike]) -> dict[str, np.ndarray]:
        kind = None if len(np.asarray(measured[0])) else int
        table = {name: np.asarray(place, kind) for name, place in zip(self.places, places, strict=True)}
        for (name, own), each in zip(_MEASURED.items(), measured, strict=True):
            table[name] = np.asarray(each, own)
        return table | {"learned": learned(table["reason"], self.little).astype("<U7")}
