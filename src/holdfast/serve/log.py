"""The log: every row that the server learned from, in its order, as a CSV file. It is the source of the run.

So a served run is an ordinary run: it can be audited, retracted from and learned again from its sources. Rows
come from the queue of the store, and leave it when they are in the log, on the disk. After a kill the log is
cut to what the store knows of, and the rows of the queue are appended again: the same bytes.
"""

import csv
import datetime
import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from holdfast.io.columns import Layout, Target
from holdfast.io.delimited import Delimited
from holdfast.io.sources import Piece, pieces
from holdfast.runs.inputs import Columns, Inputs
from holdfast.runs.run import Run
from holdfast.runs.source_records import SourceRecord, find, last_row
from holdfast.serve.store import Queued
from holdfast.terminal import Refusal, quoted

OWN = ("served_seq", "served_id", "served_at", "served_prediction")


class RowLog:
    def __init__(
        self, path: Path, layout: Layout, target: Target, key: str | None, tabs: bool = False
    ) -> None:
        self.path, self._mark = path, "\t" if tabs else ","
        names = [column.name for column in layout.columns]
        self._key = key if key is not None and key not in names else None
        self.names = [*OWN, *([self._key] if self._key else []), *names, target.name]
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise Refusal(
                f"the run has a column {quoted(twice)}, and the log of the server has one, too: rename it"
            )
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  (closed by `close`)
        self.length = os.fstat(self._file.fileno()).st_size

    def recover(self, length: int) -> None:
        """Cut the file to what the store knows of; write the header of a new one."""
        if self.length < length:
            raise Refusal(
                f"{self.path} has {self.length:,} bytes, and had {length:,}: restore it, or move "
                f"{self.path.parent} away"
            )
        self._file.truncate(length)
        self.length = length
        if not length:
            self._write(self._line(self.names))

    def append(self, rows: Sequence[Queued]) -> None:
        """Append rows; they are on the disk when this returns."""
        lines = []
        for row in rows:
            moment = datetime.datetime.fromtimestamp(row.at, datetime.UTC)
            at = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
            prediction = json.loads(row.forecast)["prediction"]
            own = [str(row.seq), row.id, at, "" if prediction is None else str(prediction)]
            key = [row.key] if self._key else []
            lines.append(self._line([*own, *key, *json.loads(row.cells), row.target]))
        self._write("".join(lines))

    def close(self) -> None:
        self._file.close()

    def _line(self, cells: Sequence[str]) -> str:
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=self._mark, lineterminator="\n").writerow(cells)
        return buffer.getvalue()

    def _write(self, text: str) -> None:
        rest = memoryview(text.encode())
        while rest:
            written = self._file.write(rest)
            self.length, rest = self.length + written, rest[written:]
        os.fsync(self._file.fileno())


class LogReader:
    """The new rows of the log as pieces of a run, read once, as they are appended."""

    def __init__(self, run: Run, path: Path) -> None:
        self._run = run
        place = find(path, run.sources, run.settings.reading())
        known = list(run.sources)
        source = Inputs([path], run.settings.reading()).open(path, Columns.of(run.config))
        assert isinstance(source, Delimited)
        self._source = source
        old = known[place.place] if place is not None else None
        if old is None:
            self.record = SourceRecord(str(path), source.fingerprint(), last_row(known))
        elif place is not None and place.place == len(known) - 1:
            self.record = old
        else:  # other sources were learned since
            self.record = old._replace(name=str(path), base=last_row(known) - old.last)
        self.place = len(known) - (self.record is old)
        mark = self.record.mark
        if mark is not None:
            source.stream.continue_at(mark)
        self._row = mark["row"] if mark is not None else 1

    def pieces(self) -> Iterator[Piece]:
        """The rows that were appended since the last call."""
        run, source = self._run, self._source
        for block in source.stream.blocks(self._row):
            self._row += block.lines
            for piece in pieces(source, [block], run.layout, run.target, run.settings.key):
                begins, done = source.fingerprint(), piece.first + len(piece.rows)
                self.record = self.record._replace(
                    begins=begins, mark=piece.mark, done=done, last=int(piece.rows[-1]), ended=False
                )
                rows = piece.rows + self.record.base
                yield piece._replace(rows=rows, place=self.place, record=self.record)

    def at_end(self) -> SourceRecord:
        """The record of the log, read to its end."""
        self.record = self.record._replace(mark=self._source.stream.end(), done=0, ended=True)
        return self.record

    def close(self) -> None:
        self._source.close()
