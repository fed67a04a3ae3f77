"""Streams that lie in a file: the next rounds are read while these are played."""

import ctypes
import mmap
import threading

import numpy as np

_PIECE = 64 * 2**20  # bytes of rows that are played in one go


def pieces(adversary, first, last):
    """Ranges of rounds from first to last, one if nothing of the adversary is memory mapped.

    Otherwise a thread begins to read the rows of the next range whenever one is handed out. The system reads
    ahead by itself, too, but not as far as a game needs that takes 50 nanoseconds a round.
    """
    rows = [array for array in adversary if _is_mapped(array)]
    if not rows:
        yield first, last
        return
    width = max(array.strides[0] for array in rows)
    length = max(_PIECE // width, 1)
    for start in range(first, last, length):
        for array in rows:
            threading.Thread(
                target=_touch, args=(array, start + length, min(start + 2 * length, last))
            ).start()
        yield start, min(start + length, last)


def _is_mapped(array):
    """Whether an array of rows lies in a memory map."""
    base = array if isinstance(array, np.ndarray) and array.ndim > 0 else None
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, mmap.mmap)


def _touch(array, first, last):
    """Read a byte of every page, without the interpreter's lock. Asked by madvise, Linux reads little."""
    rows = array[first:last]
    if len(rows) > 0 and rows.strides[0] > 0:
        begin = rows.ctypes.data
        bytes_ = np.ctypeslib.as_array((ctypes.c_uint8 * (len(rows) * rows.strides[0])).from_address(begin))
        bytes_[:: mmap.PAGESIZE].max()
