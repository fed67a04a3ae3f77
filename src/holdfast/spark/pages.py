"""Pages: the states of some keys as text in Spark's state store. A page is read and written as a whole."""

import base64
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.fleet.states import Columns, KeyStates, read_states
from holdfast.fleet.tensor_file import read_tensors
from holdfast.runs.files import RunError
from holdfast.spark.orders import too_old

FORMAT = "holdfast page 1"
_CODEC = "zstd"


class Stored(Protocol):
    """What is known of the states of a run: games of a key, columns of a page, and the digest of a state."""

    labels: int
    columns: Columns
    state_layout: str


class Places(NamedTuple):
    """Where the state of a key is: in one of `pages` pages of one of `groups` groups."""

    groups: int
    pages: int

    def pages_of(self, keys: Any) -> np.ndarray:
        """The page of each row, from an array of texts."""
        coded = pc.dictionary_encode(keys)
        return self.pages_of_names(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    def pages_of_names(self, names: list[str]) -> np.ndarray:
        """The page of each of these keys."""
        hashes = np.fromiter(map(zlib.crc32, map(str.encode, names)), np.int64, len(names))
        return hashes % (self.groups * self.pages)

    def group_of(self, page: Any) -> Any:
        return page % self.groups


def page_text(states: KeyStates, plan: str, layout: str, places: Places) -> str:
    """A page as text."""
    return to_text(b"".join(states.buffers(FORMAT, layout=layout, plan=plan, places=list(places))))


def read_page(text: str, plan: str, run: Stored, where: object, places: Places | None = None) -> KeyStates:
    """The page in this text; raises if it was written with another plan or by another version."""

    def check(header: dict[str, Any]) -> None:
        if places is not None and header.get("places") != list(places):
            raise RunError(
                f"{where} was begun with groups and pages {header.get('places')}: use the same again"
            )
        if header.get("layout") != run.state_layout:
            raise another_layout(where)
        if header.get("plan") != plan:
            raise RunError(
                f"{where}: the fleet was begun with other settings or another encoding of the columns: use "
                "those, or begin a new checkpoint"
            )

    try:
        return read_states(from_text(text, where), FORMAT, run.labels, run.columns, check)
    except RunError:
        raise
    except ValueError as problem:
        raise RunError(f"{where} is damaged: {problem}; begin a new checkpoint") from None


def plan_in(text: str, where: object) -> str:
    """The plan that a page was written with, as JSON."""
    try:
        return str(read_tensors(from_text(text, where), FORMAT)[0].get("plan"))
    except RunError:
        raise
    except ValueError as problem:
        raise RunError(f"{where} is damaged: {problem}; begin a new checkpoint") from None


def without_old(states: KeyStates, now: int, ttl: int | None, labels: int) -> KeyStates:
    """The keys that had a row in the last `ttl` milliseconds."""
    old = too_old(states.columns["counters"], now, ttl)
    return states.of(np.flatnonzero(~old), labels) if old.any() else states


def split(states: KeyStates, places: Places, labels: int) -> Iterator[tuple[int, KeyStates]]:
    """The keys by page: pairs of number and page."""
    numbers = places.pages_of_names(states.keys)
    for number in np.unique(numbers):
        yield int(number), states.of(np.flatnonzero(numbers == number), labels)


def another_layout(where: object) -> RunError:
    return RunError(
        f"{where}: the states have another layout than in this version of holdfast with these settings; use "
        "the version and the settings that wrote them, or begin a new checkpoint"
    )


# -- bytes as text: from the state store binary goes to Python byte by byte, and text at once


def to_text(data: bytes) -> str:
    """The bytes, compressed, as text."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, _CODEC) as stream:
        stream.write(data)
    return base64.b64encode(sink.getvalue()).decode()


def from_text(text: Any, where: object) -> bytes:
    """The bytes that `to_text` was given; raises RunError if the text is anything else."""
    try:
        data = pa.py_buffer(base64.b64decode(text, validate=True))
        with pa.input_stream(data, compression=_CODEC) as stream:
            return stream.read()
    except (ValueError, OSError) as problem:
        raise RunError(
            f"{where}: these states are damaged, or were written by another version of holdfast "
            f"({str(problem)[:80]}); begin a new checkpoint"
        ) from None
