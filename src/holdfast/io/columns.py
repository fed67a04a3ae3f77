"""Columns as features: numbers, truth values, times and categories, each as one or more numbers."""

import math
import zlib
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.batch import wrong_cell
from holdfast.io.rows import DenseRows, SparseRows
from holdfast.io.typed import typed

_DAY, _WEEK = 86_400.0, 604_800.0
_WIDEST = 1 << 23  # features of one column, more than any reader makes


class Number(NamedTuple):
    """The number itself. Where it is missing: `middle`, and 1 in a feature of its own, if these are given."""

    name: str
    middle: float | None = None
    truth: bool = False  # whether the cells are true and false

    def features(self):
        return [self.name] if self.middle is None else [self.name, f"{self.name} is missing"]

    def write(self, array, X):
        X[:, 0], wrong = (cells.booleans if self.truth else cells.numbers)(array)
        if self.middle is not None:
            missing = np.isnan(X[:, 0])
            X[missing, 0] = self.middle
            X[:, 1] = missing
        return wrong, "true or false" if self.truth else "a number"


class Time(NamedTuple):
    """The hour of the day and the day of the week, each as a point on a circle."""

    name: str
    fill: bool = False  # whether a missing time is the middle of the circles, rather than missing

    def features(self):
        return [f"{self.name}: {part}" for part in ("day sin", "day cos", "week sin", "week cos")]

    def write(self, array, X):
        seconds, wrong = cells.times(array)
        for i, period in enumerate((_DAY, _WEEK)):
            angle = 2.0 * math.pi * ((seconds % period) / period)
            X[:, 2 * i], X[:, 2 * i + 1] = np.sin(angle), np.cos(angle)
        if self.fill:
            X[np.isnan(seconds)] = 0.0
        return wrong, "a time"


class Category(NamedTuple):
    """A feature for each value, 1 where it is that; all 0 for what is missing, or new."""

    name: str
    values: tuple[str, ...]

    def features(self):
        return [f"{self.name} = {value}" for value in self.values]

    def write(self, array, X):
        places = {value: i for i, value in enumerate(self.values)}
        return _mark(array, X, lambda text: places.get(text, -1))


class Hashed(NamedTuple):
    """A feature for each of some groups into which all values are put by their CRC-32."""

    name: str
    groups: int

    def features(self):
        return [f"{self.name} # {group}" for group in range(self.groups)]

    def write(self, array, X):
        return _mark(array, X, lambda text: zlib.crc32(text.encode()) % self.groups)


class SparseColumns(NamedTuple):
    """A feature for each index from 0 on, of rows that name those of their features that are not 0."""

    name: str
    width: int

    def features(self):
        return [str(index) for index in range(self.width)]

    def rows(self, array):
        maps = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        starts = maps.offsets.to_numpy().astype(np.int64)
        first, last = starts[0], starts[-1]
        places = maps.keys.to_numpy()[first:last]
        values = maps.items.to_numpy(zero_copy_only=False)[first:last]
        owners = np.repeat(np.arange(len(maps)), np.diff(starts))
        known = places < self.width
        # If an index is there twice, its last value counts.
        codes = owners[known] * self.width + places[known]
        kept = np.flatnonzero(known)[len(codes) - 1 - np.unique(codes[::-1], return_index=True)[1]]
        counts = np.bincount(owners[kept], minlength=len(maps))
        return SparseRows(
            values[kept].astype(np.float64),
            places[kept].astype(np.int64),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            self.width,
        )


_COLUMNS = {
    "number": Number,
    "time": Time,
    "category": Category,
    "hashed": Hashed,
    "sparse": SparseColumns,
}


class Layout(NamedTuple):
    """The features of a table, from left to right."""

    columns: tuple

    def features(self):
        return [feature for column in self.columns for feature in column.features()]

    def is_sparse(self):
        return any(isinstance(column, SparseColumns) for column in self.columns)

    def breadth(self):
        """How many features there are."""
        return self.columns[0].width if self.is_sparse() else len(self.features())

    def rows(self, batch, start, stop):
        """The features of some rows of a batch, NaN where they are missing, and what is wrong with rows."""
        if self.is_sparse():
            found = self.columns[0].rows(batch.columns[self.columns[0].name].slice(start, stop - start))
            faults = {i - start: fault for i, fault in batch.faults.items() if start <= i < stop}
            return found.spoiled(list(faults)) if faults else found, faults
        X, faults, place = np.empty((stop - start, len(self.features()))), {}, 0
        for column in self.columns:
            width = len(column.features())
            array = batch.columns[column.name].slice(start, stop - start)
            wrong, expected = column.write(array, X[:, place : place + width])
            for i in wrong:
                faults[i] = wrong_cell(column.name, array[i], f"not {expected}")
            place += width
        for i, fault in batch.faults.items():
            if start <= i < stop:
                faults[i - start] = fault
        X[list(faults)] = np.nan
        return DenseRows(X), faults

    def to_json(self):
        columns = [
            {"kind": next(kind for kind, made in _COLUMNS.items() if isinstance(column, made))}
            | column._asdict()
            for column in self.columns
        ]
        return columns


def read_layout(found):
    """A layout from what `to_json` gave; raises ValueError if it is anything else."""
    columns = []
    for entry in found if isinstance(found, list) else ():
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or kind not in _COLUMNS:
            raise ValueError(f"a column is one of {', '.join(_COLUMNS)}")
        parts = {name: value for name, value in entry.items() if name != "kind"}
        columns.append(typed(_COLUMNS[kind], parts, width=(1, _WIDEST), groups=(1, _WIDEST)))
    layout = Layout(tuple(columns))
    if not columns or (layout.is_sparse() and len(columns) > 1):
        raise ValueError("a layout has columns, and sparse ones stand alone")
    return layout


def _mark(array, X, place):
    X[:] = 0.0
    coded = pc.dictionary_encode(array if cells.is_text(array) else cells.labels(array))
    places = np.array([place(text) for text in coded.dictionary.to_pylist()] + [-1], np.int64)
    codes = places[
        pc.fill_null(coded.indices, pa.scalar(len(places) - 1, pa.int32())).to_numpy(zero_copy_only=False)
    ]
    known = np.flatnonzero(codes >= 0)
    X[known, codes[known]] = 1.0
    return [], ""
