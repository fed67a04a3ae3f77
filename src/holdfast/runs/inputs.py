"""The sources of a run, one after the other: new ones, those that were learned, and those that have grown."""

import contextlib
import errno
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.io import following
from holdfast.io.byte_stream import another_source
from holdfast.io.cells import number
from holdfast.io.columns import Layout, Target
from holdfast.io.delimited import Delimited
from holdfast.io.following import candidates, rotated_since
from holdfast.io.sources import Piece, Reading, Source, SourceError, column_kinds, open_source, pieces
from holdfast.runs.config import Config
from holdfast.runs.source_records import SourceRecord, find, last_row, place_of_pipe


class Columns(NamedTuple):
    """The columns of a run: those of the features, the target, the key, and all names of its first source.

    `also` are columns that pieces have as they are in the source.
    """

    layout: Layout
    target: Target | None
    key: str | None
    names: Sequence[str] | None
    also: tuple[str, ...] = ()

    @staticmethod
    def of(config: Config) -> "Columns":
        return Columns(config.layout, config.target, config.key, config.names)


class SourceEnd(NamedTuple):
    """A source was read to its end."""

    place: int  # of the record, among those of the run
    record: SourceRecord


Item = Piece | SourceEnd | Callable[[Any], None]  # what is to be done to the run between two rows


def expand(patterns: Iterable[str]) -> list[str]:
    """The paths that these names and patterns stand for: in the order given, those of a pattern by name.

    Raises if one is not there, before anything is learned from those before it.
    """
    paths: list[str] = []
    for pattern in patterns:
        found = [pattern]
        if pattern != "-" and not os.path.exists(pattern):
            found = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
            if not found:
                what = "no file has such a name" if glob.has_magic(pattern) else os.strerror(errno.ENOENT)
                raise SourceError(f"{pattern}: {what}")
        paths += [path for path in found if path not in paths]
    return paths


class Inputs:
    """The pieces of all sources, in order, and a `SourceEnd` after each.

    Sources are recognised by content, whatever their names are. What was learned before is left out; of a
    source that has grown, only the new rows are read. The last source may be followed. With `strict`, an
    unknown content is an error if it has the name of an earlier source or comes first.
    """

    def __init__(
        self,
        paths: Iterable[str | Path],
        reading: Reading,
        records: Iterable[SourceRecord] = (),
        follow: bool = False,
        strict: bool = False,
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.paths, self.reading, self.follow, self.strict = list(paths), reading, follow, strict
        self.known = list(records)  # of all that was read, which may be more than what was learned
        are_files = not follow and all(map(os.path.isfile, self.paths))
        self.size = (sum(map(_size, self.paths)) or None) if are_files else None  # bytes; None if unknown
        self._say, self._stopped = say, False
        self._source: Source | None = None  # the current one
        self.is_waited_for, self.unfinished = False, 0  # bytes of last lines without an end
        self._read = 0  # bytes of the sources before the current one
        self._expected = bool(self.known) and strict  # whether the next source must be known

    def open_first(self) -> Source:
        if self._follows(0) and _is_short_file(self.paths[0]):
            self._say(f"{self.paths[0]} has at most one line yet: waiting for rows")
        self._source = self._opened(self.paths[0], self._follows(0))
        return self._source

    def from_first(self, blocks: Iterator[Any], columns: Columns) -> Iterator[Item]:
        """All items, if the blocks of the first source are being read already."""
        source = self._current()
        record = SourceRecord(source.name, source.fingerprint())
        yield from self._read_source(0, record, blocks, columns)
        yield from self._after_rotation(self.paths[0], columns) if self._follows(0) else ()
        yield from self.from_all(columns, 1)

    def from_all(self, columns: Columns, start: int = 0) -> Iterator[Item]:
        """All items of sources that may have been learned before."""
        for i in range(start, len(self.paths)):
            if self._follows(i):
                for path in self._rotated_while_away(self.paths[i]):
                    yield from self._new_rows(path, columns, rotated=True)
                yield from self._new_rows(self.paths[i], columns, follow=True, rotated=True)
                yield from self._after_rotation(self.paths[i], columns)
            else:
                yield from self._new_rows(self.paths[i], columns)

    def stop(self) -> None:
        """Let a thread that waits for a followed file return."""
        self._stopped = True
        if self._source is not None:
            self._source.stop()

    def close(self) -> None:
        """Close the source. One that a thread still waits for is closed with the process."""
        if self._source is not None and not self.is_waited_for:
            self._source.close()

    def rows(self, piece: Piece) -> int:
        """About how many rows all sources have, by those that were read."""
        return int(piece.rows[-1] * self.size / piece.read[1]) if self.size and piece.read else 0

    def _span(self, read: tuple[float, float] | None) -> tuple[float, float] | None:
        """Bytes of all sources before and with some rows, from those of the current source."""
        size, total = self._current().size, _size(self._current().name)
        if not (read and size and self.size):
            return None
        return self._read + total * read[0] / size, self._read + total * read[1] / size

    def _current(self) -> Source:
        assert self._source is not None
        return self._source

    # -- one source

    def _follows(self, i: int) -> bool:
        return self.follow and i == len(self.paths) - 1

    def _new_rows(
        self, path: str | Path, columns: Columns, follow: bool = False, rotated: bool = False
    ) -> Iterator[Item]:
        """The rows of a source that were not learned before."""
        if not follow and os.path.isfile(path) and not os.path.getsize(path):
            self._say(f"{path} is empty")
            return
        found = find(path, self.known, self.reading)
        if found is not None and found.is_all and not follow:
            self._leave_out(path, self.known[found.place], quiet=rotated)
            self._read += _size(path)
            return
        place = found.place if found is not None else None
        if place is None and not rotated and os.path.isfile(path):
            self._check_expected(str(path))
        source = self._source = self.open(path, columns, follow)
        if source.without_header and self.reading.header:
            self._say(f"{path} has no header line: its columns are those of the first source")
        if place is None and not source.is_file:
            place = place_of_pipe(source, self.known)
            if place is None:
                self._check_expected(source.name)
        self._expected = False
        old = self.known[place] if place is not None else None
        if old is None:
            record = SourceRecord(source.name, source.fingerprint(), last_row(self.known))
        elif place == len(self.known) - 1:
            record = old
        else:  # other sources were learned since
            record = old._replace(name=source.name, base=last_row(self.known) - old.last)
        new = len(self.known) - (record is old)
        blocks = source.blocks(old.mark if old is not None else None)
        yield from self._read_source(new, record, blocks, columns, old, quiet=rotated)

    def _read_source(
        self,
        place: int,
        record: SourceRecord,
        blocks: Iterator[Any],
        columns: Columns,
        old: SourceRecord | None = None,
        quiet: bool = False,
    ) -> Iterator[Item]:
        source, any_rows = self._current(), False
        for piece in pieces(
            source, blocks, columns.layout, columns.target, columns.key, record.done, columns.also
        ):
            if not any_rows and old is not None and old.ended:
                self._say(
                    f"{source.name} has grown since it was learned: going on after its row {old.last:,}"
                )
            any_rows, last = True, int(piece.rows[-1])
            begins, done = source.fingerprint(), piece.first + len(piece.rows)
            record = record._replace(begins=begins, mark=piece.mark, done=done, last=last, ended=False)
            yield piece._replace(
                rows=piece.rows + record.base, place=place, record=record, read=self._span(piece.read)
            )
        if self._stopped:
            return
        if any_rows or old is None or not old.ended:
            mark, done = source.end(record.mark)
            record = record._replace(mark=mark, done=done, ended=True)
            self.known[place:] = [record]
            yield SourceEnd(place, record)
        else:
            self._leave_out(source.name, old, quiet)
        self.unfinished += source.unfinished
        self._read += _size(source.name)
        source.close()

    def _leave_out(self, name: str | Path, old: SourceRecord, quiet: bool) -> None:
        """Say that the content was learned before. The next source may be new."""
        self._expected = False
        if not quiet:
            as_what = f" as {old.name}" if old.name != str(name) else ""
            self._say(f"{name} was learned before{as_what}: left out")

    def open(self, path: str | Path, columns: Columns, follow: bool = False) -> Source:
        """Open a source; raises if a column is not there. Names come from its header, or the first source."""
        source = self._opened(path, follow)
        try:
            column_kinds(source, columns.layout, columns.target, columns.key)
        except SourceError:
            source.close()
            if not _is_row(source, columns.names):
                raise
            source = self._opened(path, follow, columns.names)
        return source

    def _opened(self, path: str | Path, follow: bool, names: Sequence[str] | None = None) -> Source:
        return open_source(path, whole_lines=True, reading=self.reading, follow=follow, names=names)

    def _check_expected(self, name: str) -> None:
        """With `strict`, raise if a source that is not known should be."""
        if self._expected or (self.strict and any(record.name == name for record in self.known)):
            raise another_source(name, 1)

    # -- rotation

    def _rotated_while_away(self, path: str | Path) -> list[Path]:
        """The files that a followed file was renamed to after the run stopped, the oldest first."""
        if not self.known or not os.path.isfile(path):
            return []
        with contextlib.suppress(SourceError):  # shorter than before
            if find(path, self.known, self.reading) is not None:
                return []
        last = len(self.known) - 1
        for place, time_ns in candidates(path).items():
            with contextlib.suppress(SourceError):
                found = find(place, self.known, self.reading)
                if found is not None and found.place == last:
                    return [place, *(other for other in rotated_since(path, time_ns) if other != place)]
        if self.strict and not self.known[last].ended:
            raise SourceError(
                f"{path} is not the file that the run has learned from, and that one is not beside it: name "
                f"it before {path}, or leave it out with --into"
            )
        self._expected = False
        return []

    def _after_rotation(self, path: str | Path, columns: Columns) -> Iterator[Item]:
        """The rows of the files that get the name of a followed file, one after the other."""
        while not self._stopped and (since := self._current().rotation()) is not None:
            for place in rotated_since(path, since):
                if self._is_readable(place, columns):
                    yield from self._new_rows(place, columns, rotated=True)
            while not os.path.exists(path) and not self._stopped:
                following.wait()
            if not self._stopped:
                yield from self._new_rows(path, columns, follow=True, rotated=True)

    def _is_readable(self, path: str | Path, columns: Columns) -> bool:
        """Whether a file can be opened and recognised. One that is just being packed cannot."""
        try:
            find(path, self.known, self.reading)
            self.open(path, columns).close()
        except SourceError:
            return False
        return True


def _is_row(source: Source, names: Sequence[str] | None) -> bool:
    """Whether the first line of a text is a row, not a header: as many cells, none a name, some a number."""
    if not isinstance(source, Delimited) or names is None or len(source.names) != len(names):
        return False
    return not set(source.names) & set(names) and any(
        number(cell) is not None for cell in source.names if cell
    )


def _is_short_file(path: str | Path) -> bool:
    """Whether a file has at most one whole line, which may be its header."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(1 << 20).count(b"\n") <= 1 and os.path.getsize(path) <= 1 << 20


def _size(name: str | Path) -> int:
    return os.path.getsize(name) if os.path.isfile(name) else 0
