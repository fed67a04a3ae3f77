"""The column to predict: numbers, or labels."""

import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.batch import SourceError, wrong_cell
from holdfast.io.guess_columns import kind_of
from holdfast.io.typed import typed
from holdfast.terminal import quoted, visible

_MOST_LABELS = 100
_FEW_NUMBERS = 10  # different whole numbers that are taken for labels


class Target(NamedTuple):
    """The column to predict, and its labels in order; none for regression."""

    name: str
    labels: tuple[str, ...]

    @property
    def regression(self):
        return not self.labels

    def games(self):
        """The labels that have a game of their own, against the rest: with two, only the second."""
        return self.labels if len(self.labels) != 2 else self.labels[1:]

    def read(self, batch, start, stop):
        """A number a row, or the place of its label; NaN where missing; and what is wrong."""
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
    """A target from what `to_json` gave; raises ValueError if it is anything else."""
    target = typed(Target, found)
    if len(target.labels) == 1:
        raise ValueError("a target has no labels, or two or more")
    return target


def guess_target(head, name, task, labels, where):
    """The target and a sentence about it."""
    if labels:
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise SourceError(f"--labels must be at least two, each once: got {_listed(labels)}")
        found = _found(head.columns[name])
        if found and not set(found) & set(labels):
            raise SourceError(
                f"{where}, column {quoted(name)}: the first {head.rows:,} rows have {_listed(found)}, and "
                f"none of the --labels {_listed(labels)}: write them as they are in the file"
            )
        return Target(name, tuple(labels)), f"task: classification of {_listed(labels)}"
    array, kind, place = head.columns[name], kind_of(head.columns[name]), f"{where}, column {quoted(name)}"
    if kind == "empty":
        raise SourceError(f"{place}: no row has a target; name another with --target")
    if kind in ("time", "other"):
        raise SourceError(f"{place}: {kind} cannot be a target, numbers and labels can")
    if task == "regression" and kind not in ("number", "truth"):
        raise SourceError(f"{place}: holds no numbers; use --task classification")
    if task == "auto":
        task = "classification" if kind != "number" or _are_labels(array) else "regression"
    if task == "regression":
        return Target(name, ()), f"task: regression of {visible(name, 80)}"
    found = _found(array)
    if len(found) > _MOST_LABELS:
        raise SourceError(
            f"{place}: {len(found)} different labels in the first rows, and {_MOST_LABELS} "
            "are the most; use --task regression if they are numbers"
        )
    if len(found) < 2:
        raise SourceError(
            f"{place}: only the label {quoted(found[0])} in the first {head.rows:,} rows; "
            "name all with --labels, or use --task regression"
        )
    return Target(name, tuple(found)), f"task: classification of {visible(name, 80)}, labels {_listed(found)}"


def _found(array):
    """The different labels of a column, in order."""
    if not cells.can_be_labels(array.type):
        return []
    return sorted(pc.unique(pc.drop_null(cells.labels(array))).to_pylist(), key=_order)


def _order(text):
    """Numbers first, by value, then the rest by the alphabet."""
    value = cells.number(text)
    known = value is not None and math.isfinite(value)
    return not known, value if known else 0.0, text


def _are_labels(array):
    values, _ = cells.numbers(array)
    found = np.unique(values[np.isfinite(values)])
    return len(found) <= 2 or (len(found) <= _FEW_NUMBERS and bool((found == np.round(found)).all()))


def _listed(labels):
    shown = ", ".join(visible(label, 40) for label in labels[:6])
    return f"{shown} and {len(labels) - 6} more" if len(labels) > 6 else shown
