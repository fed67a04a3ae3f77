"""Ctrl-C during machine code: it takes effect when that returns."""

import _signal  # type: ignore[import-not-found]  # `signal` looks for handlers in an enum: 15 us a block
import contextlib
import signal
import threading


@contextlib.contextmanager
def deferred_interrupts():
    """Handle SIGINT after the block.

    A compiled game makes NamedTuples of its results, which runs Python code. If a signal handler raised an
    exception there, the process would crash.
    """
    handler = _signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received = []
    _signal.signal(signal.SIGINT, lambda *signal_and_frame: received.append(signal_and_frame))
    try:
        yield
    finally:
        _signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])
