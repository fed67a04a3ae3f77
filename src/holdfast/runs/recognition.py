"""Recognise sources that a run has learned from, by their content."""

import contextlib
import os
from typing import NamedTuple

from holdfast.io.byte_stream import AnotherSourceError, ByteStream, SourceError, fingerprint
from holdfast.io.sources import is_columnar, open_source


class Found(NamedTuple):
    """The place of the last record that a file has or begins with, and whether it has nothing more."""

    place: int
    is_all: bool


def find(path, records, reading):
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


def _find_columnar(path, records, places, reading):
    """The same for Parquet and Arrow. Such a file has grown if it has the same name and earlier rows."""
    with contextlib.closing(open_source(path, reading=reading)) as source:
        sha256 = source.sha256()
        for place in places:
            record = records[place]
            if source.fingerprint(record.begins["bytes"]) != record.begins:
                continue
            same = record.ended and record.mark["before"] == sha256
            if record.mark is None or same:
                return Found(place, same)
            if record.name == source.name or not record.ended:
                with (
                    contextlib.suppress(SourceError),
                    contextlib.closing(open_source(path, reading=reading)) as again,
                ):
                    again.blocks(record.mark)
                    return Found(place, False)
    return None


def file_of(record, paths, reading):
    """The first of these files that has the rows of this record; None if none has."""
    for path in paths:
        with contextlib.suppress(SourceError):
            if find(path, [record], reading) is not None:
                return path
    return None


def place_of_pipe(source, records):
    """The place of the last record that begins like this pipe, which cannot be read twice."""
    for place in reversed(range(len(records))):
        begins = records[place].begins
        if source.fingerprint(begins["bytes"]) == begins:
            return place
    return None
