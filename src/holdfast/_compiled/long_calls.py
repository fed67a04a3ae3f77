"""What surrounds a long call of machine code: Ctrl-C takes effect afterwards, and files are read ahead."""

import _signal  # type: ignore[import-not-found]  # `signal` looks for handlers in an enum: 15 us a block
import contextlib
import mmap
import signal
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


@contextlib.contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Handle SIGINT after the block, so that a state is not left between two rounds."""
    handler = _signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[Any] = []
    _signal.signal(signal.SIGINT, lambda *signal_and_frame: received.append(signal_and_frame))
    try:
        yield
    finally:
        _signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])


@contextlib.contextmanager
def sequential_reads(arrays: Iterable[Any]) -> Iterator[None]:
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


def _memory_map(array: Any) -> mmap.mmap | None:
    """The memory map that contains an array, or None."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def _advise(maps: list[mmap.mmap], name: str) -> None:
    advice = getattr(mmap, name, None)
    for base in maps:
        if advice is not None and len(base) > 0:
            base.madvise(advice)
