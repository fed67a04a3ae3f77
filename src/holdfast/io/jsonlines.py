"""JSON lines: each line is an object."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from holdfast.io.byte_stream import BOM, ByteStream, LineBlock, SourceError
from holdfast.io.cells import EXACT, MISSING, is_text, label, labels, number, without_missing
from holdfast.io.delimited import TYPES, Delimited, Kinds
from holdfast.io.rows import BOOLEAN, LABEL, NUMBER, TEXT, Batch, WrongCell


class JsonLines(Delimited):
    """The rows of a text with an object in each line. The first rows decide which columns there are."""

    quoted = False

    def __init__(self, stream: ByteStream) -> None:
        lines = self._begin(stream, "an object in each line")
        if lines[0].removeprefix(BOM).lstrip().startswith(b"["):
            raise SourceError(
                f"{stream.name} is one JSON array: expected an object in each line; convert it first, such "
                "as with jq -c '.[]'"
            )
        objects = [found for found in map(_object, lines) if found is not None]
        if not objects:
            raise SourceError(f"{stream.name}: its first lines are no JSON objects")
        self.names = list(dict.fromkeys(name for found in objects for name in found))
        columns = {name: _column([found.get(name) for found in objects]) for name in self.names}
        self._types = {name: column.type for name, column in columns.items()}
        self._kinds = {name: _kind([found.get(name) for found in objects]) for name in self.names}

    def decode_kind(self, name: str, kind: str) -> str:
        return LABEL if kind == LABEL else self._kinds[name]

    def sample(self, block: LineBlock) -> Batch:
        lines = [line for line in enumerate(block.data.split(b"\n")) if line[1].strip()]
        objects = [_object(line) for _, line in lines]
        faults = {i: "no JSON object" for i, found in enumerate(objects) if found is None}
        columns = {name: _column([(found or {}).get(name) for found in objects]) for name in self.names}
        return Batch(columns, np.array([block.row + i for i, _ in lines], np.int64), faults)

    def _parse_block(self, data: bytes, row: int, count: int, kinds: Kinds) -> Batch | None:
        types = {name: self._types[name] if kind == LABEL else TYPES[kind] for name, kind in kinds.items()}
        schema = pa.schema(list(types.items()))
        parsing = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        reading = pajson.ReadOptions(block_size=max(len(data), 1))
        try:
            table = pajson.read_json(pa.BufferReader(pa.py_buffer(data)), reading, parsing)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        batch = Batch.from_table(table, np.arange(row, row + count), kinds)
        if batch is None or any(
            kind == LABEL and _is_rounded(batch.columns[name]) for name, kind in kinds.items()
        ):
            return None
        columns = {
            name: _texts(column) if kinds[name] in (TEXT, LABEL) else column
            for name, column in batch.columns.items()
        }
        return batch._replace(columns=columns)

    def _parse_row(self, lines: Sequence[bytes], i: int) -> tuple[dict[str, Any] | None, str | None, int]:
        found = _object(lines[i])
        return found, "no JSON object" if found is None else None, i + 1

    def _cell(self, name: str, value: Any, kind: str) -> tuple[Any, str | None]:
        found, wrong = _cell(value, kind)
        return found, WrongCell.of(name, _text(value), wrong) if wrong else None


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
        json.dumps(found, ensure_ascii=False).encode()  # raises if a text has a lone surrogate
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _cell(value: Any, kind: str) -> tuple[Any, str | None]:
    """A value as this kind, and what it is not."""
    if value is None or (isinstance(value, str) and value.strip() in MISSING):
        return None, None
    if kind in (TEXT, LABEL):
        return _text(value), None
    if kind == BOOLEAN:
        return (value, None) if isinstance(value, bool) else (None, "not true or false")
    found = number(value) if isinstance(value, str) else _float(value)
    return (found, None) if found is not None else (None, "not a number")


def _float(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return float("inf")


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return label(value) if isinstance(value, int | float) else json.dumps(value)


def _texts(column: pa.Array) -> pa.Array:
    """Labels or text, null where the text means a missing value."""
    texts = labels(column)
    return without_missing(texts) if is_text(column) else texts


def _is_rounded(column: pa.Array) -> bool:
    """Whether a float64 may have rounded an integer of this column."""
    return pa.types.is_floating(column.type) and (pc.max(pc.abs(column)).as_py() or 0.0) >= EXACT


def _kind(values: Sequence[Any]) -> str:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return BOOLEAN
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return NUMBER
    return TEXT


def _column(values: list[Any]) -> pa.Array:
    """A column with the exact values; text if an integer fits neither int64 nor float64."""
    kind = _kind(values)
    if kind == BOOLEAN:
        return pa.array(values, pa.bool_())
    integers = [abs(value) for value in values if isinstance(value, int)]
    if kind == NUMBER and len(integers) + values.count(None) == len(values) and max(integers) < 1 << 63:
        return pa.array(values, pa.int64())
    if kind == NUMBER and max(integers, default=0) < EXACT:
        return pa.array(values, pa.float64())
    return pa.array([_cell(value, TEXT)[0] for value in values], pa.string())
