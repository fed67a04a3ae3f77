"""Advise the operating system that the rows of a memory-mapped file are read in order."""

import mmap
from contextlib import contextmanager

import numpy as np


@contextmanager
def sequential_reads(arrays):
    """A context in which these arrays are read from the first row to the last.

    If an array is memory-mapped, the system then reads further ahead and frees pages that were read. This is
    only advice: results do not change, and systems without it ignore it.
    """
    maps = [base for base in map(_memory_map, arrays) if base is not None]
    _advise(maps, "MADV_SEQUENTIAL")
    try:
        yield
    finally:
        _advise(maps, "MADV_NORMAL")


def _memory_map(array):
    """The memory map that contains an array, or None."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def _advise(maps, name):
    advice = getattr(mmap, name, None)
    for base in maps:
        if advice is not None and len(base) > 0:
            base.madvise(advice)
