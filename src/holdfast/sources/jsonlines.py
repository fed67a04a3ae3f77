"""JSON lines: an object a line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from holdfast.sources.batch import NUMBER, TEXT, Batch, SourceError
from holdfast.sources.cells import MISSING, number
from holdfast.sources.delimited import Delimited
from holdfast.terminal import quoted

_BOOLEAN = "boolean"
_TYPES = {NUMBER: pa.float64(), TEXT: pa.string(), _BOOLEAN: pa.bool_()}


class JsonLines(Delimited):
    """The rows of a text with an object a line; the names of the columns are those of its first rows."""

    quoted = False

    def __init__(self, stream):
        self.stream = stream
        head = stream.peek(1 << 20)
        if not head:
            raise SourceError(f"{stream.name} is empty: expected an object a line")
        lines = head.split(b"\n")
        whole = lines[:-1] if len(lines) > 1 else lines
        objects = [found for found in map(_object, whole) if found is not None]
        if not objects:
            raise SourceError(f"{stream.name}: its first lines are no JSON objects")
        self.names = list(dict.fromkeys(name for found in objects for name in found))
        columns = {name: _column([found.get(name) for found in objects]) for name in self.names}
        kinds = {pa.bool_(): _BOOLEAN, pa.float64(): NUMBER}
        self._kinds = {name: kinds.get(column.type, TEXT) for name, column in columns.items()}

    def reading(self, name, is_number):
        return self._kinds[name]

    def sample(self, block):
        lines = [line for line in enumerate(block.data.split(b"\n")) if line[1].strip()]
        objects = [_object(line) for _, line in lines]
        faults = {i: "no JSON object" for i, found in enumerate(objects) if found is None}
        columns = {name: _column([(found or {}).get(name) for found in objects]) for name in self.names}
        return Batch(columns, np.array([block.row + i for i, _ in lines], np.int64), faults)

    def _at_once(self, data, row, count, kinds):
        schema = pa.schema([(name, _TYPES[kind]) for name, kind in kinds.items()])
        parsing = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        reading = pajson.ReadOptions(block_size=max(len(data), 1))
        try:
            table = pajson.read_json(pa.BufferReader(pa.py_buffer(data)), reading, parsing)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        return Batch.whole(table, row, count, kinds)

    def _line_by_line(self, lines, row, kinds):
        rows, faults, cells = [], {}, {name: [] for name in kinds}
        for i, line in enumerate(lines):
            if not line.strip():
                continue
            found = _object(line)
            fault = "no JSON object" if found is None else None
            for name, kind in kinds.items():
                value, wrong = _cell((found or {}).get(name), kind)
                fault = fault or (f"column {quoted(name)}: {wrong}" if wrong else None)
                cells[name].append(value)
            if fault:
                faults[len(rows)] = fault
            rows.append(row + i)
        columns = {name: pa.array(cells[name], _TYPES[kind]) for name, kind in kinds.items()}
        return Batch(columns, np.array(rows, np.int64), faults)


def _object(line):
    try:
        found = json.loads(line)
        json.dumps(found, ensure_ascii=False).encode()  # lone surrogates are no text
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _cell(value, kind):
    """A value as this kind, and what is wrong with it."""
    if value is None or (isinstance(value, str) and value in MISSING):
        return None, None
    if kind == TEXT:
        return _text(value), None
    shown = quoted(_text(value), 40)
    if kind == _BOOLEAN:
        return (value, None) if isinstance(value, bool) else (None, f"{shown} is not true or false")
    found = number(value) if isinstance(value, str) else _float(value)
    return (found, None) if found is not None else (None, f"{shown} is not a number")


def _float(value):
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return float("inf")


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _column(values):
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return pa.array(values, pa.bool_())
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return pa.array([None if value is None else _float(value) for value in values], pa.float64())
    return pa.array([_cell(value, TEXT)[0] for value in values], pa.string())
