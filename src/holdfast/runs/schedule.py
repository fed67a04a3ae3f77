"""When the next checkpoint of a run is due."""

import math
import sys
import time

_LEAST = 500  # rounds between two looks at the clock


class Schedule:
    """When the next checkpoint is due, by rounds and by seconds."""

    def __init__(self, run, every):
        self._run, (self._rounds, self._seconds) = run, every
        self._speed = 0.0  # rounds a second; 0 if unknown
        self.done()

    def done(self):
        """A checkpoint was written."""
        self._since, self._last = self._run.trace.rounds, time.monotonic()

    def is_due(self):
        new, spent = self._progress()
        return new >= self._rounds or (new > 0 and spent >= self._seconds)

    def limit(self):
        """How many rounds to play until a checkpoint is due, at the speed so far."""
        new, spent = self._progress()
        self._speed = new / spent if new and spent > 0.0 else self._speed
        by_time = max(self._speed * (self._seconds - spent), _LEAST) if self._speed else math.inf
        return int(max(min(self._rounds - new, by_time, sys.maxsize), 1))

    def _progress(self):
        """Rounds and seconds since the last checkpoint."""
        return self._run.trace.rounds - self._since, time.monotonic() - self._last
