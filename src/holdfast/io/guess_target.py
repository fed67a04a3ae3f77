"""Guess from the first rows whether the target is a number or a label, and which labels there are."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.advice import of_alike
from holdfast.io import cells
from holdfast.io.byte_stream import SourceError
from holdfast.io.columns import Target
from holdfast.io.head import Head
from holdfast.terminal import listed, quoted, visible

_MOST_LABELS = 100
_FEW_NUMBERS = 10  # so few different integers are labels
_STEPS = 20  # between different numbers: fewer may all rise by chance
_OF_EACH = 10  # rows of each label, on average: with fewer, blocks mean nothing
_SORTED = (
    "; the rows are sorted by it: if that is not their order in time, shuffle them, because the model "
    "follows the last rows, and its error is that of the next one"
)


def guess_target(head: Head, name: str, task: str, labels: Sequence[str], where: str) -> tuple[Target, str]:
    array, place = head.columns[name], f"{where}, column {quoted(name)}"
    if not cells.can_be_labels(array.type):
        raise SourceError(f"{place}: {visible(array.type, 80)} cannot be a target, numbers and labels can")
    if labels:
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise SourceError(f"--labels must be at least two, each once: got {listed(labels, 6, 40)}")
        found = _found(array)
        if found and not set(found) & set(labels):
            raise SourceError(
                f"{place}: the first {head.rows:,} rows have {listed(found, 6, 40)}, and "
                f"none of the --labels {listed(labels, 6, 40)}: write them as they are in the file"
            )
        return Target(name, tuple(labels)), f"task: classification of {listed(labels, 6, 40)}"
    kind = head.kind(name)
    if kind == "empty":
        raise SourceError(f"{place}: no row has a target; name another with --target")
    if kind == "time":
        raise SourceError(f"{place}: a time cannot be a target, numbers and labels can")
    found = _found(array)
    if kind not in ("number", "truth") and (task == "regression" or len(found) > _MOST_LABELS):
        other = "name another with --target" if len(found) > _MOST_LABELS else "use --task classification"
        many = f"{len(found):,} different texts" if len(found) > 1 else "texts"
        raise SourceError(f"{place}: has {many}, such as {quoted(found[0], 40)}, and no numbers; {other}")
    if task == "auto":
        task = "classification" if kind != "number" or _are_labels(head.numbers(name)) else "regression"
    if task == "regression":
        return _numbers(head, name)
    if len(found) > _MOST_LABELS:
        raise SourceError(
            f"{place}: {len(found):,} different numbers in the first rows, and {_MOST_LABELS} labels are the "
            "most; leave out --task classification"
        )
    if not found:
        raise SourceError(f"{place}: no row has a label; name another column with --target")
    if len(found) < 2:
        raise SourceError(
            f"{place}: only the label {quoted(found[0])} in the first {head.rows:,} rows; name all with "
            "--labels, or another column with --target"
        )
    sentence = f"task: classification of {visible(name, 80)}, labels {listed(found, 6, 40)}"
    codes = pc.index_in(cells.labels(array), pa.array(found, pa.string())).drop_null().to_numpy()
    same = of_alike(found)
    sentence += f"; {same}: write them alike in the file if they are one" if same else ""
    return Target(name, tuple(found)), sentence + (_SORTED if is_in_blocks(codes) else "")


def _numbers(head: Head, name: str) -> tuple[Target, str]:
    form, sentence = head.form(name), f"task: regression of {visible(name, 80)}"
    if form is not None:
        sentence += f"; {head.example(name, form)}"
    return Target(name, (), form), sentence + (_SORTED if is_sorted(head.numbers(name)) else "")


def is_sorted(values: np.ndarray) -> bool:
    """Whether numbers rise, or fall, from row to row: in 99 of 100 steps, apart from equal neighbours.

    >>> is_sorted(np.arange(50) // 2), is_sorted(np.sin(np.arange(50)))
    (True, False)
    """
    steps = np.diff(values[np.isfinite(values)])
    rises, falls = int((steps > 0.0).sum()), int((steps < 0.0).sum())
    return rises + falls >= _STEPS and max(rises, falls) >= 0.99 * (rises + falls)


def is_in_blocks(codes: np.ndarray) -> bool:
    """Whether all rows of a label follow each other, so that the table is sorted by its label.

    >>> is_in_blocks(np.repeat([0, 2, 1], 10)), is_in_blocks(np.tile([0, 2, 1], 10))
    (True, False)
    """
    count = len(np.unique(codes))
    return len(codes) >= _OF_EACH * count and int((np.diff(codes) != 0).sum()) < count


def _found(array: cells.Array) -> list[str]:
    """The labels of a column, each once, in order."""
    return sorted(cells.different_labels(array), key=_order)


def _order(text: str) -> tuple[bool, float, str]:
    """A key to sort by: numbers first, by value; then the other texts."""
    value = cells.number(text)
    if value is None or not math.isfinite(value):
        return True, 0.0, text
    return False, value, text


def _are_labels(values: np.ndarray) -> bool:
    found = np.unique(values[np.isfinite(values)])
    return len(found) <= 2 or (len(found) <= _FEW_NUMBERS and bool((found == np.round(found)).all()))
