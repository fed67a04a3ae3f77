"""Columns as numbers: each feature column as one or more features, and the target column."""

import math
import zlib
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.classes import models_for
from holdfast.io import cells
from holdfast.io.rows import DenseRows, SparseRows, wrong_cell
from holdfast.io.typed import typed

_DAY, _WEEK = 86_400.0, 604_800.0
_MOST_FEATURES = 1 << 23  # of one column, more than any reader makes


class Number(NamedTuple):
    """The number. With `middle`: `middle` if the number is missing, and a second feature that is then 1."""

    name: str
    middle: float | None = None
    truth: bool = False  # whether the cells are true and false

    def features(self):
        return [self.name] if self.middle is None else [self.name, f"{self.name} is missing"]

    def write(self, array, X):
        """Write the features into X; return the rows with a wrong cell, and what was expected there."""
        X[:, 0], wrong = (cells.booleans if self.truth else cells.numbers)(array)
        if self.middle is not None:
            missing = np.isnan(X[:, 0])
            X[missing, 0] = self.middle
            X[:, 1] = missing
        return wrong, "true or false" if self.truth else "a number"


class Time(NamedTuple):
    """The hour of the day and the day of the week, each as a point on a circle."""

    name: str
    fill: bool = False  # whether a missing time is the centre of the circles; otherwise it is NaN

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
    """One feature for each value, 1 where the cell has it. All are 0 if the value is missing or new."""

    name: str
    values: tuple[str, ...]

    def features(self):
        return [f"{self.name} = {value}" for value in self.values]

    def write(self, array, X):
        places = {value: i for i, value in enumerate(self.values)}
        return _write_one_hot(array, X, lambda text: places.get(text, -1))


class Hashed(NamedTuple):
    """One feature for each group. The CRC-32 of a value decides its group."""

    name: str
    groups: int

    def features(self):
        return [f"{self.name} # {group}" for group in range(self.groups)]

    def write(self, array, X):
        return _write_one_hot(array, X, lambda text: zlib.crc32(text.encode()) % self.groups)


class SparseColumns(NamedTuple):
    """One feature for each index below `width`; a row names only the features that are not 0."""

    name: str
    width: int

    def features(self):
        return [str(index) for index in range(self.width)]


_KINDS = {"number": Number, "time": Time, "category": Category, "hashed": Hashed, "sparse": SparseColumns}


def column_kind(column):
    """The type of a column, as in a schema file."""
    kinds = {made: kind for kind, made in _KINDS.items()}
    return "truth" if isinstance(column, Number) and column.truth else kinds[type(column)]


class Layout(NamedTuple):
    """The columns that features are made from, in order."""

    columns: tuple

    def features(self):
        return [feature for column in self.columns for feature in column.features()]

    def is_sparse(self):
        return any(isinstance(column, SparseColumns) for column in self.columns)

    def feature_count(self):
        return self.columns[0].width if self.is_sparse() else len(self.features())

    def rows(self, batch, start, stop):
        """The features of some rows of a batch, NaN where they are missing, and what is wrong with rows."""
        unreadable = {i - start: fault for i, fault in batch.faults.items() if start <= i < stop}
        if self.is_sparse():
            column, width = self.columns[0]
            found = SparseRows.from_maps(cells.plain(batch.columns[column].slice(start, stop - start)), width)
            return found.with_nan(list(unreadable)) if unreadable else found, unreadable
        X, faults, place = np.empty((stop - start, len(self.features()))), {}, 0
        for column in self.columns:
            width = len(column.features())
            array = batch.columns[column.name].slice(start, stop - start)
            wrong, expected = column.write(array, X[:, place : place + width])
            for i in wrong:
                faults[i] = wrong_cell(column.name, array[i], f"not {expected}")
            place += width
        faults |= unreadable
        X[list(faults)] = np.nan
        return DenseRows(X), faults

    def to_json(self):
        kinds = {made: kind for kind, made in _KINDS.items()}
        return [{"kind": kinds[type(column)]} | column._asdict() for column in self.columns]


def read_layout(found):
    """The layout that `to_json` wrote; raises ValueError if it is anything else."""
    columns = []
    for entry in found if isinstance(found, list) else ():
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or kind not in _KINDS:
            raise ValueError(f"a column is one of {', '.join(_KINDS)}")
        fields = {name: value for name, value in entry.items() if name != "kind"}
        columns.append(typed(_KINDS[kind], fields, width=(1, _MOST_FEATURES), groups=(1, _MOST_FEATURES)))
    layout = Layout(tuple(columns))
    if not columns or (layout.is_sparse() and len(columns) > 1):
        raise ValueError("a layout has columns, and a sparse one is the only column")
    return layout


class Target(NamedTuple):
    """The column to predict, and its labels in order; none for regression."""

    name: str
    labels: tuple[str, ...]

    @property
    def regression(self):
        return not self.labels

    def class_models(self, paired=True):
        """The models that tell the labels apart, as in `holdfast.classes.models_for`; none for numbers."""
        return models_for(len(self.labels), paired) if self.labels else []

    def model_names(self, paired=True):
        """A name for each model: empty for numbers, the second of two labels, `b, not a` for a pair."""
        return tuple(model.name(self.labels) for model in self.class_models(paired)) or ("",)

    def read(self, batch, start, stop):
        """For each row a number, or the index of its label, NaN if missing; and what is wrong with rows."""
        array = batch.columns[self.name].slice(start, stop - start)
        if self.regression:
            y, wrong = cells.numbers(array)
            return y, {i: wrong_cell(self.name, array[i], "not a number") for i in wrong}
        texts = cells.labels(array)
        codes = pc.index_in(texts, pa.array(self.labels, pa.string()))
        y = pc.cast(codes, pa.float64()).to_numpy(zero_copy_only=False)
        known = texts.is_valid().to_numpy(zero_copy_only=False)
        unknown = np.flatnonzero(known & np.isnan(y))
        return y, {i: wrong_cell(self.name, texts[i], "none of the labels") for i in unknown}

    def to_json(self):
        return {"name": self.name, "labels": list(self.labels)}


def read_target(found):
    """The target that `to_json` wrote; raises ValueError if it is anything else."""
    target = typed(Target, found)
    if len(target.labels) == 1:
        raise ValueError("a target has no labels, or two or more")
    return target


def _write_one_hot(array, X, column_of):
    """Write 1 into the column of each value, 0 elsewhere; a value whose column is -1 has none."""
    X[:] = 0.0
    coded = pc.dictionary_encode(array if cells.is_text(array) else cells.labels(array))
    places = np.array([column_of(text) for text in coded.dictionary.to_pylist()] + [-1], np.int64)
    missing = pa.scalar(len(places) - 1, pa.int32())
    codes = places[pc.fill_null(coded.indices, missing).to_numpy(zero_copy_only=False)]
    known = np.flatnonzero(codes >= 0)
    X[known, codes[known]] = 1.0
    return [], ""
