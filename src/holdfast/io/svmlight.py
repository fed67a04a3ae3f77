"""svmlight: each line has a label, and index:value for each feature that is not 0."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.io import cells
from holdfast.io.byte_stream import BOM, ByteStream, LineBlock, SourceError
from holdfast.io.delimited import Delimited, Kinds
from holdfast.io.rows import LABEL as AS_LABEL
from holdfast.io.rows import NUMBER, Batch

LABEL, FEATURES = "label", "features"
_MOST_DENSE = 4096  # columns; with more, rows are sparse
_LARGEST = 1 << 22  # index
Parsed = tuple[Any, list[int], list[float]]  # the label, the indices and the values
_FAULT = "not svmlight, such as 1 3:0.5 7:2"


class SvmLight(Delimited):
    """The rows as columns `label`, "1", "2", ... up to the largest index of the first rows; "0", if used.

    Larger indices in later rows are ignored. If there are too many columns, there are only two: `label`, and
    `features` with maps of Arrow from index to value.
    """

    quoted = False

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        lines = stream.first_lines()
        if not lines:
            raise SourceError(f"{stream.name} is empty: expected lines such as 1 3:0.5 7:2")
        found = map(_parsed, lines)
        used = [index for row in found if row is not None for index in row[1]]
        if not used:
            raise SourceError(f"{stream.name}: its first lines are not svmlight, such as 1 3:0.5 7:2")
        if max(used) > _LARGEST:
            too_large = f"index {max(used):,}, but {_LARGEST:,} is the largest allowed"
            raise SourceError(f"{stream.name}: {too_large}: hash the indices")
        self._first, self._wide = min(1, min(used)), max(used) > _MOST_DENSE
        features = [FEATURES] if self._wide else map(str, range(self._first, max(used) + 1))
        self.names = [LABEL, *features]

    def sample(self, block: LineBlock) -> Batch:
        return self.decode(block, dict.fromkeys(self.names, NUMBER) | {LABEL: AS_LABEL})

    def decode_kind(self, name: str, kind: str) -> str:
        return AS_LABEL if name == LABEL and kind == AS_LABEL else NUMBER

    def _parse_block(self, data: bytes, row: int, count: int, kinds: Kinds) -> Batch | None:
        return self._parse_lines(data.split(b"\n")[:count], row, kinds)

    def _parse_lines(self, lines: Sequence[bytes], row: int, kinds: Kinds) -> Batch:
        return (self._sparse if self._wide else self._dense)(lines, row, kinds)

    def _sparse(self, lines: Sequence[bytes], row: int, kinds: Kinds) -> Batch:
        rows: list[int] = []
        faults: dict[int, str] = {}
        labels, ends = [], array("q", [0])
        places, values = array("q"), array("d")
        for number, found in _parsed_rows(lines, row):
            if found is None or max(found[1], default=0) > _LARGEST:
                faults[len(rows)] = _FAULT if found is None else f"index {max(found[1]):,} is too large"
            label, indices, entries = found or (None, [], [])
            labels.append(label)
            if max(indices, default=0) <= _LARGEST:
                places.extend(indices)
                values.extend(entries)
            ends.append(len(places))
            rows.append(number)
        made = {
            LABEL: _labels(labels, kinds.get(LABEL)),
            FEATURES: pa.MapArray.from_arrays(pa.array(ends, pa.int32()), pa.array(places), pa.array(values)),
        }
        return Batch({name: made[name] for name in kinds}, np.array(rows, np.int64), faults)

    def _dense(self, lines: Sequence[bytes], row: int, kinds: Kinds) -> Batch:
        rows: list[int] = []
        faults: dict[int, str] = {}
        values, labels = [], []
        width = len(self.names) - 1
        for number, found in _parsed_rows(lines, row):
            features = np.zeros(width)
            if found is None:
                faults[len(rows)] = _FAULT
                features[:] = np.nan
            else:
                places = np.array(found[1], np.int64) - self._first
                inside = (places >= 0) & (places < width)
                features[places[inside]] = np.array(found[2])[inside]
            rows.append(number)
            labels.append(None if found is None else found[0])
            values.append(features)
        table = np.array(values).reshape(-1, width)
        columns = {
            name: _labels(labels, kind)
            if name == LABEL
            else pa.array(table[:, self.names.index(name) - 1], from_pandas=True)
            for name, kind in kinds.items()
        }
        return Batch(columns, np.array(rows, np.int64), faults)


def _labels(values: Sequence[Any], kind: str | None) -> pa.Array:
    """The labels as numbers, or as text with all their digits."""
    if kind == AS_LABEL:
        return pa.array([None if value is None else cells.label(value) for value in values], pa.string())
    return pa.array(
        [None if value is None else float(value) for value in values], pa.float64(), from_pandas=True
    )


def _parsed_rows(lines: Sequence[bytes], row: int) -> Iterator[tuple[int, Parsed | None]]:
    """The number and the content of each row; a line that is empty, or has a comment only, is no row."""
    return ((row + i, _parsed(line)) for i, line in enumerate(lines) if line.partition(b"#")[0].strip())


def _parsed(line: bytes) -> Parsed | None:
    """The label, the indices and the values of a line; None if it is not svmlight."""
    tokens = line.removeprefix(BOM).partition(b"#")[0].split()
    try:
        label: float = float(tokens[0])
        if abs(label) >= cells.EXACT and label.is_integer():
            label = int(tokens[0]) if tokens[0].lstrip(b"+-").isdigit() else label
        pairs = [token.split(b":") for token in tokens[1:] if not token.startswith(b"qid:")]
        indices = [int(index) for index, _ in pairs]
        if min(indices, default=0) < 0:
            return None
        return label, indices, [float(value) for _, value in pairs]
    except (ValueError, IndexError):
        return None
