"""Ctrl-C, SIGTERM and SIGHUP: a command ends in good order, and a run is saved before it stops."""

import contextlib
import signal
import threading

from holdfast.cli.exits import Failure
from holdfast.terminal import DONE, HUNG_UP, STOPPED, TERMINATED

_STATUSES = {"SIGINT": STOPPED, "SIGTERM": TERMINATED, "SIGHUP": HUNG_UP}
STATUSES = {getattr(signal, name): status for name, status in _STATUSES.items() if hasattr(signal, name)}


@contextlib.contextmanager
def handled_by(handler):
    """Call this handler for the signals. One that is ignored, as SIGHUP after nohup, stays ignored."""
    before = {}
    if threading.current_thread() is threading.main_thread():  # elsewhere, signals cannot be handled
        for number in STATUSES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old if old is not None else signal.SIG_DFL)


def end(number, frame):
    """End the command, so that it removes its temporary files."""
    raise Failure(STATUSES[number])


class StopSignals:
    """While a run learns (`wait`), the first signal is stored, and the run stops after a round."""

    def __init__(self):
        self._number, self.wait = None, False

    def store(self, number, frame):
        if self._number is not None or not self.wait:
            end(number, frame)
        self._number = number

    def arrived(self):
        return self._number is not None

    def status(self):
        return DONE if self._number is None else STATUSES[self._number]
