"""svmlight: each line has a label, and index:value for each feature that is not 0."""

from array import array
from collections.abc import Sequence
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
_NO_INDEX = 1 << 62  # larger ones do not fit into int64, and are as wrong
Parsed = tuple[Any, list[int], list[float]]  # the label, the indices and the values
_FAULT = "not svmlight, such as 1 3:0.5 7:2"


class SvmLight(Delimited):
    """The rows as columns `label`, "1", "2", ... up to the largest index of the first rows; "0", if used.

    Larger indices in later rows are ignored. If there are too many columns, there are only two: `label`, and
    `features` with maps of Arrow from index to value.
    """

    quoted = False

    def __init__(self, stream: ByteStream) -> None:
        lines = self._begin(stream, "lines such as 1 3:0.5 7:2")
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
        rows: list[int] = []
        faults: dict[int, str] = {}
        labels, ends = [], array("q", [0])
        places, values = array("q"), array("d")
        for number, line in enumerate(lines, row):
            if not line.partition(b"#")[0].strip():  # a line that is empty, or has a comment only, is no row
                continue
            label, indices, entries = _parsed(line) or (None, [], [])
            if label is None:
                faults[len(rows)] = _FAULT
            elif self._wide and max(indices, default=0) > _LARGEST:
                faults[len(rows)] = f"index {max(indices):,} is too large"
            else:
                places.extend(indices)
                values.extend(entries)
            labels.append(label)
            ends.append(len(places))
            rows.append(number)
        if self._wide:
            maps = pa.MapArray.from_arrays(pa.array(ends, pa.int32()), pa.array(places), pa.array(values))
            columns = {FEATURES: maps}
        else:
            table = self._dense(np.diff(ends), np.array(places), np.array(values))
            table[list(faults)] = np.nan
            used = [name for name in kinds if name != LABEL]
            columns = {
                name: pa.array(table[:, self.names.index(name) - 1], from_pandas=True) for name in used
            }
        columns[LABEL] = _labels(labels, kinds.get(LABEL))
        return Batch({name: columns[name] for name in kinds}, np.array(rows, np.int64), faults)

    def _dense(self, counts: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The rows as a matrix, given how many entries each has. Of an index twice, the last one counts."""
        table = np.zeros((len(counts), len(self.names) - 1))
        columns = places - self._first
        inside = (columns >= 0) & (columns < table.shape[1])
        rows = np.repeat(np.arange(len(counts)), counts)
        table[rows[inside], columns[inside]] = values[inside]
        return table


def _labels(values: Sequence[Any], kind: str | None) -> pa.Array:
    if kind == AS_LABEL:
        return pa.array([None if value is None else cells.label(value) for value in values], pa.string())
    return pa.array(
        [None if value is None else float(value) for value in values], pa.float64(), from_pandas=True
    )


def _parsed(line: bytes) -> Parsed | None:
    """The label, the indices and the values of a line; None if it is not svmlight."""
    tokens = line.removeprefix(BOM).partition(b"#")[0].split()
    try:
        label: float = float(tokens[0])
        if abs(label) >= cells.EXACT and label.is_integer():
            label = int(tokens[0]) if tokens[0].lstrip(b"+-").isdigit() else label
        pairs = [token.split(b":") for token in tokens[1:] if not token.startswith(b"qid:")]
        indices = [min(int(index), _NO_INDEX) for index, _ in pairs]
        if min(indices, default=0) < 0:
            return None
        return label, indices, [float(value) for _, value in pairs]
    except (ValueError, IndexError):
        return None
