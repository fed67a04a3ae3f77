"""Watch a column of a file: a `Level` for each key, what it says of each row, and a state to go on from."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.io.columns import Layout, Target
from holdfast.io.sources import Piece, SourceError
from holdfast.levels import Event, Level, Readings
from holdfast.norms import HUGE
from holdfast.runs.files import RunError, atomic_file, reading
from holdfast.runs.inputs import Columns, Inputs, Item, SourceEnd
from holdfast.runs.source_records import SourceRecord, read_record

FORMAT = "holdfast watch 1"
_OF_RUNS = ", which the run has learned from"


class Watched:
    """The levels of all keys, the sources that were read, and counts."""

    def __init__(
        self, value: str, by: str | None, settings: tuple[float, int, int, float], on_event: Any
    ) -> None:
        self.value, self.by, self.settings, self.on_event = value, by, settings, on_event
        self.levels: dict[str, Level] = {}
        self.sources: list[SourceRecord] = []
        self.counts = {"values": 0, "unreadable": 0, "odd": 0, "glitch": 0, "change": 0, "frozen": 0}

    def items(self, inputs: Inputs) -> Iterator[Item]:
        """The pieces of all sources; raises if they do not have the columns."""
        target = Target(self.value, ())
        try:
            yield from inputs.from_all(Columns(Layout(()), target, self.by, None))
        except SourceError as problem:
            raise SourceError(str(problem).replace(_OF_RUNS, "")) from None

    def add(self, item: Item) -> pa.Table | None:
        """Follow the rows of a piece; a table of what is known of each."""
        if isinstance(item, SourceEnd):
            self.sources[item.place :] = [item.record]
            return None
        assert isinstance(item, Piece)
        values = item.y.copy()
        values[list(item.faults)] = np.nan
        found = np.zeros((len(values), 5))
        told: list[Event] = []
        for key, places in _by_key(item.keys, len(values)):
            level = self._level(key, told)
            readings = level.update_many(values[places], item.rows[places])
            found[places] = np.column_stack(readings)
        self.sources[item.place :] = [item.record]
        finite = np.abs(values) < HUGE
        self.counts["values"] += int(finite.sum())
        self.counts["unreadable"] += int((~finite).sum())
        self.counts["odd"] += int((finite & (found[:, 2] == 0.0)).sum())
        for event in sorted(told, key=lambda event: max(event.begin, event.end)):
            self.counts[event.kind] += event.kind != "frozen" or event.end == 0  # which is told twice
            self.on_event(event)
        return self._table(item, values, found)

    def _level(self, key: str, told: list[Event]) -> Level:
        if key not in self.levels:
            self.levels[key] = Level(*self.settings, key=key)
        self.levels[key].on_event = told.append
        return self.levels[key]

    def _table(self, item: Piece, values: np.ndarray, found: np.ndarray) -> pa.Table:
        columns: dict[str, Any] = {"row": item.rows}
        columns |= {} if item.keys is None else {"key": item.keys}
        numbers = dict(zip(Readings._fields, found.T, strict=True))
        columns |= {"value": values} | {name: numbers[name] for name in ("level", "spread", "low", "high")}
        return pa.table(columns | {"kept": numbers["kept"].astype(np.int8)})

    # -- the state

    def save(self, path: Path) -> None:
        found = {
            "format": FORMAT,
            "value": self.value,
            "by": self.by,
            "settings": self.settings,
            "counts": self.counts,
            "sources": [record._asdict() for record in self.sources],
            "levels": {key: level.state_dict() for key, level in self.levels.items()},
        }
        with atomic_file(path) as file:
            file.write(json.dumps(found).encode())

    def load(self, path: Path) -> None:
        """Go on from what `save` wrote; raises if it is not about the same column and settings."""
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RunError(f"{path} is not a state of holdfast watch: choose another file with --state")
        mine = {"value": self.value, "by": self.by, "settings": list(self.settings)}
        for name, value in mine.items():
            if found.get(name) != value:
                raise RunError(
                    f"{path} was written with {name} {found.get(name)!r}, and now it is {value!r}: use the "
                    "same, or another file with --state"
                )
        with reading(path):
            self.sources = [read_record(record) for record in found["sources"]]
            self.counts = {name: int(found["counts"][name]) for name in self.counts}
            for key, stored in found["levels"].items():
                level = Level(*self.settings, key=key)
                level.load_state_dict(stored)
                self.levels[key] = level


def _by_key(keys: Any, count: int) -> Iterator[tuple[str, np.ndarray]]:
    """Each key, in the order of the first rows, and the places of its rows."""
    if keys is None:
        yield "", np.arange(count)
        return
    coded = pa.compute.dictionary_encode(keys)
    codes = coded.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    yield from zip(coded.dictionary.to_pylist(), np.split(order, cuts), strict=True)
