"""What each round of a run with keys answered, as it is recorded, so that a game is not played again.

If rows of one key are taken back, the games of other keys see the same rows as before. So their answers are
read from the tables `sizes`, `forecasts` and `audit`, and only the games that can differ are played.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.fleet.grouped_rounds import KEEP
from holdfast.fleet.prior import ROWS_OF_KEY, next_upkeep
from holdfast.io.rows import DenseRows
from holdfast.io.sources import Piece
from holdfast.play import empty_columns
from holdfast.runs.audit import MISSING, NO_TARGET, TOO_LARGE
from holdfast.runs.files import damaged
from holdfast.runs.manifest import part_name, part_number
from holdfast.runs.source_records import last_row

if TYPE_CHECKING:
    from holdfast.runs.run import Run

_OF_SKIPPED = ("check", "column", "value", "detail", "time")  # columns of the audit; null if a round was kept
_NO_FAULT = pa.array(["", MISSING, NO_TARGET, TOO_LARGE])


class Recorded(NamedTuple):
    """Some rounds as they were, and which of them are to be played again."""

    table: pa.Table
    again: np.ndarray

    def part(self, start: int, stop: int) -> "Recorded":
        return Recorded(self.table.slice(start, stop - start), self.again[start:stop])

    def take(self, chosen: np.ndarray) -> "Recorded":
        return Recorded(self.table.take(pa.array(chosen)), self.again[chosen])

    def numbers(self, name: str) -> np.ndarray:
        return np.asarray(self.table.column(name).to_numpy())

    def columns(self, checks: Sequence[str]) -> Any:
        """The columns that the game has returned. Of `farthest` nothing is known: see `describe`."""
        found, check = empty_columns(len(self.again), 0, len(checks), KEEP), self.table.column("check")
        for place, name in enumerate(checks):
            size = name if name in self.table.column_names else f"size_{name}"
            found.sizes[:, place] = self.numbers(size)
            found.thresholds[:, place] = self.numbers(f"threshold_{name}")
        found.predictions[:] = self.numbers("forecast")
        found.kept[:] = check.is_null().to_numpy()
        found.refused_by[:] = pc.fill_null(pc.index_in(check, pa.array(checks)), -1).to_numpy()
        found.farthest[:] = -1
        return found

    def describe(self, skipped: np.ndarray, columns: dict[str, Any]) -> None:
        """Replace columns of the audit of these rounds by those that were recorded."""
        old = np.flatnonzero(~self.again[skipped])
        table = self.table.take(pa.array(skipped[old]))
        for name in set(columns) & set(_OF_SKIPPED):
            columns[name][old] = table.column(name).to_numpy()

    def faults(self) -> dict[int, str]:
        """What could not be read, by index."""
        detail = self.table.column("detail")
        found = pc.and_kleene(detail.is_valid(), pc.invert(pc.is_in(detail, _NO_FAULT)))
        places = np.flatnonzero(found.to_numpy())
        return dict(zip(places.tolist(), detail.take(pa.array(places)).to_pylist(), strict=True))


class Changed(NamedTuple):
    """The keys whose games can differ without some rows, how many rounds they have, and where these are."""

    keys: pa.Array
    rounds: int
    part: int  # the first one of the tables


class RecordedRounds:
    """The rounds of a run after a row, in order, without some rows."""

    def __init__(self, run: "Run", changed: Changed, without: np.ndarray, after: "Run") -> None:
        """`after` is the run that goes on from there; it has the rounds of each key so far."""
        self._run, self._changed, self._without = run, changed, without
        self._tables, self._last = read_rounds(run, changed.part), last_row(after.sources)
        self._left: pa.Table | None = None  # rounds that were read, after the last row
        self.played = changed.rounds
        # Rounds of each key so far, if the shared prior may need its rows.
        rounds = after.keys.sums[:, 0].tolist()
        self._rounds = dict(zip(after.games.keys, rounds, strict=True)) if run.settings.has_prior() else None

    def until(self, row: int) -> Recorded:
        """The rounds up to this row. Column `place`: the place of the row among all of the source."""
        row = max(row, self._last)  # of a source that has grown, the first rows are read again
        found: list[pa.Table] = [] if self._left is None else [self._left]
        while not found or not found[-1].num_rows or found[-1].column("row")[-1].as_py() < row:
            table = next(self._tables, None)
            if table is None:
                break
            found.append(table)
        whole = pa.concat_tables(found)
        rows = whole.column("row").to_numpy()
        first, end = np.searchsorted(rows, [self._last, row], side="right")
        rows, table, self._left = rows[first:end], whole.slice(first, end - first), whole.slice(end)
        out = self._without[(self._without > self._last) & (self._without <= row)]
        places = np.searchsorted(np.union1d(rows, out), rows)
        table = table.append_column("place", pa.array(places)).filter(pa.array(~np.isin(rows, out)))
        again = pc.is_in(table.column("key"), self._changed.keys)
        self._last = row
        return Recorded(table.combine_chunks(), again.to_numpy())

    def need_source(self, found: Recorded) -> bool:
        """Whether rows of the next rounds must be read: to play them, or for the shared prior."""
        needed = bool(found.again.any())
        if self._rounds is not None:
            counts = pc.value_counts(found.table.column("key").combine_chunks())
            names, numbers = (counts.field(i).to_pylist() for i in range(2))
            for name, number in zip(names, numbers, strict=True):
                before = self._rounds.get(name, 0)
                needed |= before < ROWS_OF_KEY
                self._rounds[name] = before + number
        return needed

    def piece(self, found: Recorded, block: Any, read: tuple[float, float] | None) -> Piece:
        """A piece with these rounds of a block, none of which is played: its features are zeros."""
        # Sparse rows are those of svmlight, which has no column for a key.
        features = DenseRows(np.zeros((len(found.again), self._run.layout.feature_count())))
        rows, places = found.numbers("row"), found.numbers("place")
        keys, faults = found.table.column("key").combine_chunks(), found.faults()
        y, mark = found.numbers("y"), block.mark
        return Piece(features, y, keys, rows, faults, mark, 0, read, {}, places=places, recorded=found)


def has_record(run: "Run", part: int = 0) -> bool:
    """Whether the answers of all rounds in the parts from this number on are recorded."""
    return run.log.with_forecasts and _numbers(run, "sizes", part) == _numbers(run, "forecasts", part)


def read_rounds(run: "Run", part: int = 0) -> Iterator[pa.Table]:
    """The rounds in the parts from this number on, a part at a time, with what the audit says of each."""

    def part_of(table: str, number: int) -> pa.Table:
        found = run.folder.read_parts(table, number + 1, run.log.schema(table), None, number)
        return next(found, run.log.schema(table).empty_table())

    for number in sorted(_numbers(run, "forecasts", part)):
        sizes, forecasts, audit = (part_of(table, number) for table in ("sizes", "forecasts", "audit"))
        rows = sizes.column("row")
        if not rows.equals(forecasts.column("row")):
            raise damaged(run.folder.path / part_name("forecasts", number), "it has other rows than sizes")
        skipped = pc.index_in(rows.combine_chunks(), audit.column("row").combine_chunks())
        found = {name: sizes.column(name) for name in sizes.column_names}
        found |= {name: forecasts.column(name) for name in forecasts.column_names}
        for name in set(_OF_SKIPPED) & set(audit.column_names):
            found[name] = audit.column(name).combine_chunks().take(skipped)
        yield pa.table(found)


def _numbers(run: "Run", table: str, part: int) -> set[int]:
    found = (part_number(table, name) for name in run.folder.parts(table, run.parts, part))
    return {number for number in found if number is not None}


def changed_keys(run: "Run", rows: np.ndarray, before: "Run", part: int) -> Changed:
    """The keys whose games can differ if these rows are taken back; `before` is an earlier state.

    These are the keys that the rows belong to. With the shared prior they are also those that began after the
    first of the rows, because what a key begins from may differ. In the first rounds, before there is a
    prior, all keys begin from nothing.
    """
    last, round, prior = last_row(before.sources), before.trace.rounds, run.settings.has_prior()
    known, changed = set(before.games.keys), set[str]()
    rounds: Counter[str] = Counter()
    for table in read_rounds(run, part):
        table = table.filter(pc.field("row") > last)
        numbers, coded = table.column("row").to_numpy(), table.column("key").combine_chunks()
        coded = coded.dictionary_encode()
        names, codes, out = coded.dictionary.to_pylist(), coded.indices.to_numpy(), np.isin(numbers, rows)
        changed.update(names[code] for code in np.unique(codes[out]))
        for code, place in zip(*np.unique(codes, return_index=True), strict=True):
            is_late = numbers[place] > rows[0] and round + place >= next_upkeep(0)
            if prior and is_late and names[code] not in known:
                changed.add(names[code])
        known.update(names)
        counts = np.bincount(codes[~out], minlength=len(names))
        rounds.update(dict(zip(names, counts.tolist(), strict=True)))
        round += len(codes)
    return Changed(pa.array(sorted(changed), pa.string()), sum(rounds[name] for name in changed), part)
