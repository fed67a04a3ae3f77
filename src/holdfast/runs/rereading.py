"""Read the rows that a run has learned from once more, from its sources."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.io.byte_stream import SourceError, another_source
from holdfast.io.following import candidates
from holdfast.io.rows import TEXT
from holdfast.io.sources import Piece, Source, pieces
from holdfast.runs.inputs import Columns, Inputs, Item, SourceEnd
from holdfast.runs.recorded import RecordedRounds
from holdfast.runs.source_records import SourceRecord, file_of, last_row
from holdfast.terminal import quoted

if TYPE_CHECKING:
    from holdfast.runs.run import Run

Change = tuple[int, Callable[["Run"], None]]  # after which row, and what to do then


def open_place(run: "Run", path: str | Path) -> Source:
    """Open a source of the run, with the columns that it had."""
    return Inputs([path], run.settings.reading()).open(path, Columns.of(run.config))


def find_file(run: "Run", place: SourceRecord, named: Sequence[str]) -> str | Path | None:
    """The file that has the rows of a source: one that is named, under its own name, or renamed beside it."""
    folder = os.path.dirname(place.name) or "."
    beside = candidates(place.name) if os.path.isdir(folder) else ()
    return file_of(place, [*named, place.name, *map(str, beside)], run.settings.reading())


def check_named(run: "Run", named: Sequence[str]) -> None:
    """Raise if a file that is named is not there, or is no source of the run."""
    for name in named:
        if not os.path.isfile(name):
            raise SourceError(f"--source {name}: no such file")
        if not any(file_of(place, [name], run.settings.reading()) for place in run.source_records()):
            raise another_source(name, 1)


def gone(name: str) -> SourceError:
    """The error if a source of the run is not there any more."""
    if name == "standard input":
        return SourceError(
            "the source of the run was standard input, which cannot be read again: name a file that has the "
            "same rows with --source"
        )
    return SourceError(
        f"{name} is gone or has other rows now, and no file beside it has those of the run: name one that "
        "has them with --source"
    )


def find_files(run: "Run", named: Sequence[str] = (), after: int = 0) -> list[str | Path | None]:
    """The file of each source of the run, None if all its rows are up to `after`. Raises if one is gone.

    Every byte before the last block that was learned from is compared, by SHA-256.
    """
    check_named(run, named)
    found: list[str | Path | None] = []
    for place in run.sources:
        found.append(find_file(run, place, named) if place.last_row > after else None)
        if found[-1] is None and place.last_row > after:
            raise gone(place.name)
    return found


def rows_with(
    run: "Run", files: Sequence[str | Path | None], column: str, test: Callable[[Any], np.ndarray]
) -> np.ndarray:
    """The rows of the run for whose cell of this column, as an array of Arrow, `test` is true.

    A source without the column has none. Raises if no source has it.
    """
    found, lacking = [np.zeros(0, np.int64)], SourceError("the run has no source")
    any_has = False
    for i, (record, path) in enumerate(zip(run.sources, files, strict=True)):
        if path is None:
            continue
        with contextlib.closing(open_place(run, path)) as source:
            if column not in source.names:
                lacking = SourceError(f"{source.name} has no column {quoted(column)}")
                continue
            any_has = True
            kinds = {column: source.decode_kind(column, TEXT)}
            blocks: Any = source.blocks()
            for block in blocks:
                batch = source.decode(block, kinds)
                rows = batch.rows + record.base
                found.append(rows[test(batch.columns[column]) & _of_record(run.sources, i, rows)])
                if len(rows) and rows[-1] >= record.last_row:
                    break
    if not any_has:
        raise lacking
    return np.unique(np.concatenate(found))


def _of_record(records: Sequence[SourceRecord], place: int, rows: np.ndarray) -> np.ndarray:
    """Which rows the run has learned from or skipped as part of this record."""
    mine: np.ndarray = (rows > last_row(records[:place])) & (rows <= records[place].last_row)
    return mine


class LearnedRows:
    """The rows that a run has learned from, in order, without some: the inputs of another run.

    `begun` has the records of that run so far, so it may have been killed and go on.
    """

    unfinished = 0

    def __init__(
        self,
        run: "Run",
        files: Sequence[str | Path | None],
        begun: Sequence[SourceRecord],
        without: np.ndarray,
        changes: Sequence[Change] = (),
        recorded: RecordedRounds | None = None,
    ) -> None:
        """`changes`: what is done between rows; those before the first row are left out. `recorded` has what
        the games answered that have not changed.
        """
        self._recorded = recorded
        self._run, self._files, self._begun, self._without = run, files, list(begun), without
        self._records, self._rounds = list(run.sources), run.trace.rounds
        self._changes = [each for each in changes if each[0] >= last_row(begun)]
        self.size = sum(os.path.getsize(path) for path in files if path is not None)
        self._read, self.is_waited_for, self._stopped = 0, False, False

    def rows(self, piece: Piece) -> int:
        """About how many rounds are played."""
        return self._rounds if self._recorded is None else self._recorded.played

    def stop(self) -> None:
        self._stopped = True

    def items(self) -> Iterator[Item]:
        """Pieces, changes, and the end of each source."""
        for place in range(max(len(self._begun) - 1, 0), len(self._records)):
            path = self._files[place]
            if path is not None:
                with contextlib.closing(open_place(self._run, path)) as source:
                    yield from self._of_source(place, source)
                self._read += os.path.getsize(path)
            if self._stopped:
                return
            yield SourceEnd(place, self._records[place])
        for _, change in self._changes:
            yield change

    def _of_source(self, place: int, source: Source) -> Iterator[Item]:
        record, run = self._records[place], self._run
        mark = self._begun[place].mark if place < len(self._begun) else None
        first = last_row(self._begun[: place + 1])
        blocks: Any = source.blocks(mark)
        for number, block in enumerate(blocks):
            last = min(record.base + block.row + block.lines - 1, record.last_row)
            found = None if self._recorded is None else self._recorded.until(last)
            # The place of a row in a block is known if all rows of the block are those of this record.
            whole = number > 0 and record.base + block.row > last_row(self._records[:place])
            if self._recorded is None or found is None or self._recorded.need_source(found) or not whole:
                some: Any = pieces(source, [block], run.layout, run.target, run.settings.key)
            else:
                some, found = [self._recorded.piece(found, block, source.span(block))], None
            for piece in some:
                rows = piece.rows + (record.base if piece.recorded is None else 0)
                kept = _of_record(self._records, place, rows) & (rows > first) & ~np.isin(rows, self._without)
                now = record._replace(mark=piece.mark, ended=False)
                read = self._span(source, piece.read)
                piece = piece._replace(rows=rows, place=place, record=now, read=read)
                piece = piece if kept.all() else piece.only(np.flatnonzero(kept))
                if found is not None:
                    places = np.searchsorted(found.numbers("row"), piece.rows)
                    piece = piece._replace(recorded=found.take(places))
                yield from self._with_changes(piece)
            if last >= record.last_row or self._stopped:
                break

    def _with_changes(self, piece: Piece) -> Iterator[Item]:
        """A piece, cut where there is a change."""
        while self._changes and len(piece.rows) and self._changes[0][0] < piece.rows[-1]:
            end = int(np.searchsorted(piece.rows, self._changes[0][0], side="right"))
            if end:
                yield piece.only(np.arange(end))
            yield self._changes.pop(0)[1]
            piece = piece.only(np.arange(end, len(piece.rows)))
        if len(piece.rows):
            yield piece

    def _span(self, source: Source, read: tuple[float, float] | None) -> tuple[float, float] | None:
        """Bytes of all sources before and with some rows, from those of this source."""
        return None if read is None else (self._read + read[0], self._read + read[1])
