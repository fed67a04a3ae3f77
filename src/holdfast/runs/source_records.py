"""What a checkpoint stores about each source, and how a source is recognised by its content.

So no row is learned twice or left out, whatever the names of the files are.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.io.byte_stream import AnotherSourceError, ByteStream, SourceError, fingerprint
from holdfast.io.columnar import Columnar
from holdfast.io.sources import Reading, Source, is_columnar, open_source
from holdfast.io.typed import is_count, typed

_LONGEST_HEAD = 1 << 16  # bytes; no source has a longer fingerprint
_COUNTS = (0, 1 << 53)
_DIGITS = set("0123456789abcdef")


class SourceRecord(NamedTuple):
    """A source, or a part of one, and how far it was learned.

    The numbers of rows go on from one source to the next: `base` plus the number in the source.
    """

    name: str
    begins: dict[str, int]  # the fingerprint of its first bytes
    base: int = 0
    last: int = 0  # the number in the source of the last row that was learned from or skipped
    mark: dict[str, Any] | None = None  # where the last block begins; None if no row was learned
    done: int = 0  # rows of that block that were learned from or skipped
    ended: bool = False  # whether it was read to its end

    @property
    def last_row(self) -> int:
        return self.base + self.last


def read_record(found: Any) -> SourceRecord:
    """The record that JSON has; raises ValueError if it is anything else."""
    limits = {"last": _COUNTS, "done": _COUNTS, "base": (-_COUNTS[1], _COUNTS[1])}
    return typed(SourceRecord, found, {"begins": read_fingerprint, "mark": _read_mark}, **limits)


def names_of(records: Iterable[SourceRecord]) -> list[str]:
    return list(dict.fromkeys(record.name for record in records))


def last_row(records: Iterable[SourceRecord]) -> int:
    return max((record.last_row for record in records), default=0)


def read_fingerprint(found: Any) -> dict[str, int]:
    """What `holdfast.io.byte_stream.fingerprint` returned; raises ValueError if it is anything else."""
    fits = isinstance(found, dict) and set(found) == {"bytes", "crc32"}
    if not fits or not all(map(is_count, found.values())) or found["bytes"] > _LONGEST_HEAD:
        raise ValueError("the beginning of a source has bytes and crc32")
    return found


def _read_mark(mark: Any) -> dict[str, Any] | None:
    """A position in a source: two counts, the fingerprint of the bytes there, a SHA-256."""
    if mark is None:
        return None
    if not isinstance(mark, dict) or set(mark) != {"offset", "row", "begins", "before"}:
        raise ValueError("the position in a source is not one that a run writes")
    before = mark["before"]
    hashed = isinstance(before, str) and len(before) in (0, 64) and set(before) <= _DIGITS
    if not (hashed and is_count(mark["offset"]) and is_count(mark["row"]) and mark["row"] > 0):
        raise ValueError("the position in a source is not one that a run writes")
    read_fingerprint(mark["begins"])
    return mark


# -- recognise a source


class Found(NamedTuple):
    """The place of the last record that a file has or begins with, and whether it has nothing more."""

    place: int
    is_all: bool


def find(path: str | Path, records: Sequence[SourceRecord], reading: Reading) -> Found | None:
    """What was learned of this file before; None if it is new.

    Raises if it begins like a record but is shorter or damaged, because then its rows may have been learned.
    """
    if not records or not os.path.isfile(path):
        return None
    with contextlib.closing(ByteStream(path)) as stream:
        head, columnar = stream.head, is_columnar(stream, reading)
    places = reversed(range(len(records)))
    if columnar:
        return _find_columnar(path, records, places, reading)
    for place in places:
        record = records[place]
        if fingerprint(head, record.begins["bytes"]) == record.begins:
            if record.mark is None:
                return Found(place, False)
            with contextlib.suppress(AnotherSourceError), contextlib.closing(ByteStream(path)) as stream:
                stream.continue_at(record.mark)
                return Found(place, record.ended and not stream.peek(1))
    return None


def _find_columnar(
    path: str | Path, records: Sequence[SourceRecord], places: Iterable[int], reading: Reading
) -> Found | None:
    """The same for Parquet and Arrow. Such a file has grown if it has the same name and earlier rows."""
    with contextlib.closing(open_source(path, reading=reading)) as source:
        assert isinstance(source, Columnar)
        sha256 = source.sha256()
        for place in places:
            record = records[place]
            if source.fingerprint(record.begins["bytes"]) != record.begins:
                continue
            if record.mark is None:
                return Found(place, False)
            if record.ended and record.mark["before"] == sha256:
                return Found(place, True)
            if record.name == source.name or not record.ended:
                with (
                    contextlib.suppress(SourceError),
                    contextlib.closing(open_source(path, reading=reading)) as again,
                ):
                    again.blocks(record.mark)
                    return Found(place, False)
    return None


def file_of(record: SourceRecord, paths: Iterable[str | Path], reading: Reading) -> str | Path | None:
    """The first of these files that has the rows of this record; None if none has."""
    for path in paths:
        with contextlib.suppress(SourceError):
            if find(path, [record], reading) is not None:
                return path
    return None


def place_of_pipe(source: Source, records: Sequence[SourceRecord]) -> int | None:
    """The place of the last record that begins like this pipe, which cannot be read twice."""
    for place in reversed(range(len(records))):
        begins = records[place].begins
        if source.fingerprint(begins["bytes"]) == begins:
            return place
    return None
