"""Recognise sources that a run has learned from, by their content."""

import contextlib
import os

from holdfast.io.byte_stream import AnotherSourceError, ByteStream, SourceError, fingerprint
from holdfast.io.sources import is_columnar, open_source


def place_of(path, records, reading):
    """The place of the last record whose content this file has or begins with; None if there is none.

    Raises if it begins like a record but is shorter or damaged, because then its rows may have been learned.
    """
    if not records or not os.path.isfile(path):
        return None
    with contextlib.closing(ByteStream(path)) as stream:
        head, columnar = stream.head, is_columnar(stream, reading)
    places = reversed(range(len(records)))
    if columnar:
        return _place_of_columnar(path, records, places, reading)
    for place in places:
        record = records[place]
        if fingerprint(head, record.begins["bytes"]) == record.begins:
            if record.mark is None:
                return place
            with contextlib.suppress(AnotherSourceError), contextlib.closing(ByteStream(path)) as stream:
                stream.continue_at(record.mark)
                return place
    return None


def _place_of_columnar(path, records, places, reading):
    """The same for Parquet and Arrow. Such a file has grown if it has the same name and earlier rows."""
    with contextlib.closing(open_source(path, reading=reading)) as source:
        sha256 = source.sha256()
        for place in places:
            record = records[place]
            if source.fingerprint(record.begins["bytes"]) != record.begins:
                continue
            if record.mark is None or (record.ended and record.mark["before"] == sha256):
                return place
            if record.name == source.name or not record.ended:
                with (
                    contextlib.suppress(SourceError),
                    contextlib.closing(open_source(path, reading=reading)) as again,
                ):
                    again.blocks(record.mark)
                    return place
    return None


def place_of_pipe(source, records):
    """The place of the last record that begins like this pipe, which cannot be read twice."""
    for place in reversed(range(len(records))):
        begins = records[place].begins
        if source.fingerprint(begins["bytes"]) == begins:
            return place
    return None
