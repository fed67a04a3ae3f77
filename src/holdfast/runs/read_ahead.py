"""A source as pieces of rows of numbers, read ahead while the last piece is learned from."""

import queue
import threading
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.columns import Number
from holdfast.io.sources import LABEL, NUMBER, TEXT, SourceError
from holdfast.terminal import quoted, visible

_ENTRIES = 1 << 21  # of a piece
_SPARSE = 1 << 16  # rows of a piece
_AHEAD = 1  # pieces


class Piece(NamedTuple):
    """Rows to learn from, and where they are."""

    features: Any  # `DenseRows` or `SparseRows`
    y: np.ndarray  # numbers, or places of labels; NaN where there is none
    keys: Any  # whose row it is, as text of Arrow; None if nobody asked
    rows: np.ndarray
    faults: dict[int, str]
    mark: Any  # of the block that they are in
    first: int  # the place of the first row in its block
    read: int | None  # bytes of the source so far


def pieces(source, blocks, layout, target, key=None, skip=0):
    """All rows of these blocks but the first `skip`; without a target, none is looked for."""
    reading = readings(source, layout, target, key)
    step = _SPARSE if layout.is_sparse() else max(_ENTRIES // max(layout.breadth(), 1), 1)
    for block in blocks:
        batch = source.decode(block, reading)
        read = source.progress()
        for start in range(skip, len(batch.rows), step):
            stop = min(start + step, len(batch.rows))
            features, faults = layout.rows(batch, start, stop)
            y = np.full(stop - start, np.nan)
            if target is not None:
                y, more = target.read(batch, start, stop)
                faults = more | faults
            keys = None
            if key is not None:
                keys = keys_of(batch.columns[key].slice(start, stop - start), key, source.name)
            yield Piece(features, y, keys, batch.rows[start:stop], faults, block.mark, start, read)
        skip = max(skip - len(batch.rows), 0)


def readings(source, layout, target=None, key=None):
    """How this source reads each column that is used; raises if it has not got it."""
    kinds = {
        column.name: NUMBER if isinstance(column, Number) and not column.truth else TEXT
        for column in layout.columns
    }
    kinds |= {target.name: NUMBER if target.regression else LABEL} if target is not None else {}
    kinds |= {key: LABEL} if key is not None else {}
    for name in kinds:
        if name not in source.names:
            raise SourceError(f"{source.name} has no column {quoted(name)}, of which the run has learned")
    return {name: source.reading(name, kind) for name, kind in kinds.items()}


def keys_of(array, name, where):
    """Whose row each is, as text; empty where that is missing."""
    if not cells.can_be_labels(array.type):
        raise SourceError(
            f"{where}, column {quoted(name)}: {visible(array.type, 80)} cannot be a key; text, numbers, "
            "truth values and times can"
        )
    return pc.fill_null(cells.labels(array), "")


class ReadAhead:
    """The items of an iterator, made by a thread of their own while others are used."""

    def __init__(self, items):
        self._queue: queue.Queue = queue.Queue(_AHEAD)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._fill, args=(items,), daemon=True)
        self._thread.start()

    def _fill(self, items):
        try:
            for item in items:
                if not self._put(item):
                    return
            self._put(None)
        except BaseException as problem:
            self._put(problem)

    def _put(self, item):
        while not self._left.is_set():
            try:
                self._queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def next(self, stopped):
        """The next item; None if there is none left, or if `stopped()` while waiting."""
        while True:
            try:
                item = self._queue.get(timeout=0.1)
            except queue.Empty:
                if stopped():
                    return None
                continue
            if isinstance(item, BaseException):
                raise item
            return item

    def leave(self):
        """No more of them. A thread that waits for a pipe is left behind."""
        self._left.set()
        self._thread.join(timeout=1.0)
