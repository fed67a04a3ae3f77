"""Cells of any Arrow type as numbers, times and labels."""

import datetime
import decimal
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Array: TypeAlias = pa.Array | pa.ChunkedArray
Parsed = tuple[np.ndarray, list[int]]  # numbers, and the positions of cells that are wrong
EXACT = 1 << 53  # float64 cannot hold all larger integers
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NaT", "<NA>", "NULL", "null", "None", "?")
# Where a number or a time is expected, a dash means a missing cell, too. As a label it may mean "negative".
NO_NUMBER = (*MISSING, "na", "n.a.", "N.A.", "-", "--", "\u2013", "\u2014", ".")


def is_text(array: Array) -> bool:
    return pa.types.is_string(array.type) or pa.types.is_large_string(array.type)


def plain(array: Array) -> pa.Array:
    """One array of values, without dictionary and chunks."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array


def numbers(array: Array, decimal: str = ".") -> Parsed:
    """Cells as float64, NaN where missing; and the positions of cells that are not numbers.

    `decimal` is the mark before the decimal places in texts.
    """
    if is_text(array):
        if decimal != ".":
            return parse_each(array, lambda text: number(text, decimal))
        try:
            return _to_numpy(pc.cast(array, pa.float64())), []
        except pa.ArrowInvalid:
            return parse_each(array, number)
    if pa.types.is_boolean(array.type):
        array = pc.cast(array, pa.int8())
    return _to_numpy(pc.cast(array, pa.float64(), safe=False)), []


def booleans(array: Array) -> Parsed:
    """Cells as 0 and 1, NaN where missing; and the positions of cells that are not true or false."""
    return parse_each(array, _boolean) if is_text(array) else numbers(array)


def times(array: Array) -> Parsed:
    """Cells as seconds since 1970, NaN where missing; and the positions of cells that are not times."""
    if is_text(array):
        try:
            array = pc.cast(array, pa.timestamp("us"))
        except pa.ArrowInvalid:
            return parse_each(array, _time)
    if pa.types.is_date(array.type):
        array = pc.cast(array, pa.timestamp("ms"))
    unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit]
    return _to_numpy(pc.cast(pc.cast(array, pa.int64()), pa.float64(), safe=False)) / unit, []


def labels(array: Array) -> pa.Array:
    """Keys or labels as text, null where missing. Two labels are equal if their texts are equal.

    Text is not changed. A number is written in the shortest way that has all its digits. A truth value is
    written as true or false.
    """
    array = plain(array)
    if pa.types.is_boolean(array.type):
        return pc.if_else(array, "true", "false")
    if pa.types.is_floating(array.type):
        array = pc.cast(array, pa.float64())
    elif pa.types.is_timestamp(array.type):
        return pc.cast(pc.cast(array, pa.timestamp(array.type.unit)), pa.string())
    elif not pa.types.is_decimal(array.type):
        return pc.cast(array, pa.string())
    coded = pc.dictionary_encode(array)
    names = pa.array([label(value) for value in coded.dictionary.to_pylist()], pa.string())
    return pc.take(names, coded.indices)


def without_missing(texts: Array) -> Array:
    """Texts with null where they mean a missing value, also with blanks around it."""
    missing = pc.is_in(pc.utf8_trim_whitespace(texts), pa.array(MISSING))
    return pc.if_else(missing, pa.scalar(None, texts.type), texts)


def different_labels(array: Array) -> set[str]:
    """The labels of a column, without those that mean a missing cell. A dash is one beside a plus."""
    found = set(pc.unique(pc.drop_null(labels(array))).to_pylist())
    return found if "+" in found else found - set(NO_NUMBER)


def can_be_labels(arrow_type: pa.DataType) -> bool:
    t = pa.types
    tests = (t.is_string, t.is_large_string, t.is_boolean, t.is_integer, t.is_floating, t.is_decimal)
    return any(test(arrow_type) for test in (*tests, t.is_timestamp, t.is_date, t.is_null))


def label(value: Any) -> str | None:
    """The text of a number: 7 for the integer, for 7.0 and for Decimal("7.00"); None for NaN."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    text = format(value, "f") if isinstance(value, decimal.Decimal) else str(value)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def number(text: str, decimal: str = ".") -> float | None:
    """The number in a text, NaN if the text means a missing value; None if it is not a number."""
    text = text.strip()
    if text in NO_NUMBER:
        return math.nan
    if decimal != ".":
        text = text.replace(".", "_").replace(decimal, ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _boolean(text: str) -> float | None:
    return {"true": 1.0, "false": 0.0}.get(text.strip().lower())


def _time(text: str) -> float | None:
    try:
        moment = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment.timestamp()


def parse_each(array: Array, read: Callable[[str], float | None]) -> Parsed:
    """The parsed texts, NaN where they are missing; and the positions where `read` returns None."""
    values = np.full(len(array), math.nan)
    wrong: list[int] = []
    for i, text in enumerate(array.to_pylist()):
        if text is None or text.strip() in NO_NUMBER:
            continue
        value = read(text)
        if value is None:
            wrong.append(i)
        else:
            values[i] = value
    return values, wrong


def _to_numpy(array: Array) -> np.ndarray:
    array = plain(array)
    values = array.to_numpy(zero_copy_only=False)
    return values if values.dtype == np.float64 else values.astype(np.float64)
