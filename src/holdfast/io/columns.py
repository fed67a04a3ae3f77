"""Columns as numbers: each feature column as one or more features, and the target column."""

import math
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.dates import CLOCK, FORMS, ISO, texts
from holdfast.io.dates import seconds as seconds_of
from holdfast.io.forms import Form, numbers, read_form
from holdfast.io.rows import Batch, DenseRows, SparseRows, WrongCell, both_faults
from holdfast.io.typed import typed
from holdfast.linear_model import ClassModel, models_for

Wrong = tuple[list[int], str]  # rows with a wrong cell, and what was expected there
CYCLES = {"day": 86_400.0, "week": 604_800.0, "year": 31_556_952.0}  # seconds; the mean Gregorian year
MOST_WAVES = 3
_MOST_FEATURES = 1 << 23  # of one column, more than any reader makes
_LIMITS = dict.fromkeys(("width", "groups"), (1, _MOST_FEATURES)) | dict.fromkeys(CYCLES, (0, MOST_WAVES))


class Number(NamedTuple):
    """The number. With `middle`: `middle` if the number is missing, and a second feature that is then 1."""

    name: str
    middle: float | None = None
    truth: bool = False  # whether the cells are true and false
    form: Form | None = None  # how numbers are written, if it is not the usual way

    def features(self) -> list[str]:
        return [self.name] if self.middle is None else [self.name, f"{self.name} is missing"]

    def read(self, array: cells.Array) -> cells.Parsed:
        """The numbers, NaN where they are missing, and the rows with a wrong cell."""
        return cells.booleans(array) if self.truth else numbers(array, self.form)

    def write(self, array: cells.Array, X: np.ndarray) -> Wrong:
        """Write the features into X; return the rows with a wrong cell, and what was expected there."""
        X[:, 0], wrong = self.read(array)
        if self.middle is not None:
            missing = np.isnan(X[:, 0])
            X[missing, 0] = self.middle
            X[:, 1] = missing
        return wrong, "true or false" if self.truth else "a number"


class Time(NamedTuple):
    """Cycles: where a time is in the day, the week and the year, as points on circles.

    Each cycle has so many waves: the first goes once around in a cycle, the second twice, the third three
    times. Three waves can follow any pattern of seven days, or of parts of a day of four hours. A cycle
    without waves is left out.
    """

    name: str
    form: str = ISO  # how times are written, as in `holdfast.io.dates`
    day: int = MOST_WAVES
    week: int = MOST_WAVES
    year: int = 0
    fill: bool = False  # whether a missing time is the centre of the circles; otherwise it is NaN

    def waves(self) -> list[tuple[str, int]]:
        return [(cycle, 1 + i) for cycle in CYCLES for i in range(getattr(self, cycle))]

    def features(self) -> list[str]:
        return [
            f"{self.name}: {cycle} {part}{f' {wave}' if wave > 1 else ''}"
            for cycle, wave in self.waves()
            for part in ("sin", "cos")
        ]

    def write(self, array: cells.Array, X: np.ndarray) -> Wrong:
        seconds, wrong = seconds_of(array, self.form)
        for i, (cycle, wave) in enumerate(self.waves()):
            angle = 2.0 * math.pi * wave * ((seconds % CYCLES[cycle]) / CYCLES[cycle])
            X[:, 2 * i], X[:, 2 * i + 1] = np.sin(angle), np.cos(angle)
        if self.fill:
            X[np.isnan(seconds)] = 0.0
        return wrong, "a time"

    def texts(self, array: cells.Array) -> list[str | None]:
        """The times of these cells as `2016-03-12 04:00:00`, None where there is none."""
        return texts(seconds_of(array, self.form)[0])


class Category(NamedTuple):
    """One feature for each value, 1 where the cell has it. All are 0 if the value is missing or new."""

    name: str
    values: tuple[str, ...]

    def features(self) -> list[str]:
        return [f"{self.name} = {value}" for value in self.values]

    def write(self, array: cells.Array, X: np.ndarray) -> Wrong:
        places = {value: i for i, value in enumerate(self.values)}
        return _write_one_hot(array, X, lambda text: places.get(text, -1))

    def unknown(self, array: cells.Array) -> list[int]:
        """The rows whose value has no feature, and is not missing."""
        texts = cells.labels(array)
        known = pa.array([None, *self.values, *cells.NO_NUMBER], pa.string())
        return np.flatnonzero(pc.invert(pc.is_in(texts, known)).to_numpy(zero_copy_only=False)).tolist()


class Hashed(NamedTuple):
    """One feature for each group. The CRC-32 of a value decides its group."""

    name: str
    groups: int

    def features(self) -> list[str]:
        return [f"{self.name} # {group}" for group in range(self.groups)]

    def write(self, array: cells.Array, X: np.ndarray) -> Wrong:
        return _write_one_hot(array, X, lambda text: zlib.crc32(text.encode()) % self.groups)


class SparseColumns(NamedTuple):
    """One feature for each index below `width`; a row names only the features that are not 0."""

    name: str
    width: int

    def features(self) -> list[str]:
        return [str(index) for index in range(self.width)]


Column = Number | Time | Category | Hashed | SparseColumns
_KINDS = {"number": Number, "time": Time, "category": Category, "hashed": Hashed, "sparse": SparseColumns}
_NAMES = {made: kind for kind, made in _KINDS.items()}


def column_kind(column: Column) -> str:
    return "truth" if isinstance(column, Number) and column.truth else _NAMES[type(column)]


class Layout(NamedTuple):
    columns: tuple[Column, ...]

    def features(self) -> list[str]:
        return [feature for column in self.columns for feature in column.features()]

    def is_sparse(self) -> bool:
        return any(isinstance(column, SparseColumns) for column in self.columns)

    def time(self) -> Time | None:
        """The first column that says on which day a row was measured."""
        return next((one for one in self.columns if isinstance(one, Time) and one.form != CLOCK), None)

    def feature_count(self) -> int:
        first = self.columns[0] if self.columns else None
        return first.width if isinstance(first, SparseColumns) else len(self.features())

    def rows(
        self, batch: Batch, start: int, stop: int, forgiving: bool = False
    ) -> tuple[DenseRows | SparseRows, dict[int, str]]:
        """The features of some rows of a batch, NaN where they are missing, and what is wrong with rows.

        A row with a fault is NaN. If `forgiving`, only the cell is missing in a row with a wrong cell.
        """
        unreadable = {i - start: fault for i, fault in batch.faults.items() if start <= i < stop}
        X, place = np.empty((stop - start, 0 if self.is_sparse() else len(self.features()))), 0
        faults: dict[int, str] = {}
        for column in self.columns:
            if isinstance(column, SparseColumns):
                maps = cells.plain(batch.columns[column.name].slice(start, stop - start))
                found = SparseRows.from_maps(maps, column.width)
                return found.with_nan(list(unreadable)) if unreadable else found, unreadable
            width = len(column.features())
            array = batch.columns[column.name].slice(start, stop - start)
            wrong, expected = column.write(array, X[:, place : place + width])
            what = f"not {expected}"
            if forgiving and isinstance(column, Category):
                wrong, what = column.unknown(array), "not a known value"
            for i in wrong:
                faults[i] = both_faults(faults.get(i), WrongCell.of(column.name, array[i], what)) or ""
            place += width
        for i, fault in unreadable.items():
            faults[i] = both_faults(fault, faults.get(i)) or ""
        # A row with a wrong cell is not learned from; to predict, its other cells count.
        lost = [i for i, fault in faults.items() if not (forgiving and isinstance(fault, WrongCell))]
        X[lost] = np.nan
        return DenseRows(X), faults

    def to_json(self) -> list[dict[str, Any]]:
        return [{"kind": _NAMES[type(column)]} | column._asdict() for column in self.columns]


def read_layout(found: Any) -> Layout:
    """The layout that `to_json` wrote; raises ValueError if it is anything else."""
    columns: list[Column] = []
    for entry in found if isinstance(found, list) else ():
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if not isinstance(kind, str) or kind not in _KINDS:
            raise ValueError(f"a column is one of {', '.join(_KINDS)}")
        fields = {name: value for name, value in entry.items() if name != "kind"}
        readers = {"form": read_form} if kind == "number" else {}
        columns.append(typed(_KINDS[kind], fields, readers, **_LIMITS))
        if isinstance(columns[-1], Time) and columns[-1].form not in FORMS:
            raise ValueError(f"times have one of the forms {', '.join(FORMS)}")
    layout = Layout(tuple(columns))
    if not columns or (layout.is_sparse() and len(columns) > 1):
        raise ValueError("a layout has columns, and a sparse one is the only column")
    return layout


class Target(NamedTuple):
    """The column to predict, and its labels in order; none for regression."""

    name: str
    labels: tuple[str, ...]
    form: Form | None = None  # as of `Number`

    @property
    def regression(self) -> bool:
        return not self.labels

    def class_models(self) -> list[ClassModel]:
        """The models that tell the labels apart (`holdfast.linear_model.models_for`); none for numbers."""
        return models_for(len(self.labels)) if self.labels else []

    def model_names(self) -> tuple[str, ...]:
        """A name for each model: empty for numbers, the second of two labels, `b, not a` for a pair."""
        return tuple(model.name(self.labels) for model in self.class_models()) or ("",)

    def read(self, batch: Batch, start: int, stop: int) -> tuple[np.ndarray, dict[int, str]]:
        """For each row a number, or the index of its label, NaN if missing; and what is wrong with rows."""
        array = batch.columns[self.name].slice(start, stop - start)
        if self.regression:
            y, wrong = numbers(array, self.form)
            return y, {i: WrongCell.of(self.name, array[i], "not a number") for i in wrong}
        texts = cells.labels(array)
        codes = pc.index_in(texts, pa.array(self.labels, pa.string()))
        y = pc.cast(codes, pa.float64()).to_numpy(zero_copy_only=False)
        known = pc.invert(pc.is_in(texts, pa.array([None, *cells.NO_NUMBER], pa.string())))
        known = known.to_numpy(zero_copy_only=False)
        unknown = np.flatnonzero(known & np.isnan(y))
        return y, {i: WrongCell.of(self.name, texts[i], "none of the labels") for i in unknown.tolist()}

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "labels": list(self.labels), "form": self.form}


def read_target(found: Any) -> Target:
    """The target that `to_json` wrote; raises ValueError if it is anything else."""
    target = typed(Target, found, {"form": read_form})
    if len(target.labels) == 1:
        raise ValueError("a target has no labels, or two or more")
    return target


def _write_one_hot(array: cells.Array, X: np.ndarray, column_of: Callable[[str], int]) -> Wrong:
    """Write 1 into the column of each value, 0 elsewhere; a value whose column is -1 has none."""
    X[:] = 0.0
    coded = pc.dictionary_encode(array if cells.is_text(array) else cells.labels(array))
    places = np.array([column_of(text) for text in coded.dictionary.to_pylist()] + [-1], np.int64)
    missing = pa.scalar(len(places) - 1, pa.int32())
    codes = places[pc.fill_null(coded.indices, missing).to_numpy(zero_copy_only=False)]
    known = np.flatnonzero(codes >= 0)
    X[known, codes[known]] = 1.0
    return [], ""
