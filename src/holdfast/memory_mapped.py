"""Streams that lie in a file: telling the system that their rows are read in order."""

import mmap
from contextlib import contextmanager

import numpy as np


@contextmanager
def in_order(arrays):
    """While these arrays are read from their first row to their last.

    Of those that lie in a file, the system then reads further ahead, and lets go of what was read first. Both
    are advice: nothing else changes, and where there is no such advice nothing does.
    """
    maps = [base for base in map(_file_of, arrays) if base is not None]
    _advise(maps, "MADV_SEQUENTIAL")
    try:
        yield
    finally:
        _advise(maps, "MADV_NORMAL")


def _file_of(array):
    """The memory map in which an array lies, if it does in one."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def _advise(maps, name):
    advice = getattr(mmap, name, None)
    for base in maps:
        if advice is not None and len(base) > 0:
            base.madvise(advice)
