"""Learn from the rows of a run until there are no more: read ahead, play, and save when it is due."""

import contextlib
import math
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.io.sources import Piece, SourceError
from holdfast.runs.inputs import Inputs, Item, SourceEnd
from holdfast.runs.rereading import LearnedRows
from holdfast.runs.run import Run
from holdfast.terminal import OutputLost

_MOST_WAITING = 500_000  # rounds in the log; then there is a checkpoint in any case
_LEAST = 500  # rounds between two looks at the clock


def learn(
    run: Run,
    inputs: "Inputs | LearnedRows",
    items: Iterator[Item],
    every: tuple[float, float],
    progress: Any,
    stopped: Callable[[], bool],
    written: Callable[[Run], object] = lambda run: None,
) -> Run:
    """Learn until there are no more rows or `stopped()`. `every`: rounds and seconds between checkpoints.

    `written` is called after each checkpoint.
    """
    schedule = Schedule(run, every)
    run.start_clock()

    def save_if_due() -> None:
        if schedule.is_due() or run.log.waiting >= _MOST_WAITING:
            run.checkpoint()
            written(run)
            schedule.done()

    def after(piece: Piece) -> bool:
        save_if_due()
        share = (run.sources[-1].done - piece.first) / len(piece.rows)
        progress(run, inputs, piece.read and piece.read[0] + share * (piece.read[1] - piece.read[0]))
        return stopped()

    ahead = ReadAhead(items)
    try:
        while not stopped():
            item = ahead.next(stopped, save_if_due)
            if item is None:
                break
            if isinstance(item, SourceEnd):
                run.note_source(*item)
                continue
            if not isinstance(item, Piece):
                item(run)
                continue
            run.compiling.expected = max(run.compiling.expected, inputs.rows(item))
            run.compiling.decide(item, run.trace.rounds, lambda text: progress.note(text))
            if run.learn(item, after, schedule.limit):
                break
        run.finished = not stopped()
        if inputs.unfinished and run.finished:
            progress.note(
                "the last line has no line end, so it may be unfinished: not learned from; --resume learns "
                "from it when its end is there"
            )
    except (SourceError, OutputLost):
        run.save()  # the rest cannot be read, or the output has no reader: keep what was learned
        raise
    finally:
        inputs.stop()
        inputs.is_waited_for = not ahead.stop()
    run.save()
    return run


class Schedule:
    """When the next checkpoint is due, by rounds and by seconds."""

    def __init__(self, run: Run, every: tuple[float, float]) -> None:
        self._run, (self._rounds, self._seconds) = run, every
        self._speed = 0.0  # rounds a second; 0 if unknown
        self.done()

    def done(self) -> None:
        """A checkpoint was written."""
        self._since, self._last = self._run.trace.rounds, time.monotonic()

    def is_due(self) -> bool:
        new, spent = self._progress()
        return new >= self._rounds or (new > 0 and spent >= self._seconds)

    def is_new(self) -> bool:
        """Whether there were rounds since the last checkpoint."""
        return self._progress()[0] > 0

    def limit(self) -> int:
        """How many rounds to play until a checkpoint is due, at the speed so far."""
        new, spent = self._progress()
        self._speed = new / spent if new and spent > 0.0 else self._speed
        by_time = max(self._speed * (self._seconds - spent), _LEAST) if self._speed else math.inf
        return int(max(min(self._rounds - new, by_time, sys.maxsize), 1))

    def _progress(self) -> tuple[int, float]:
        """Rounds and seconds since the last checkpoint."""
        return self._run.trace.rounds - self._since, time.monotonic() - self._last


class ReadAhead:
    """The items of an iterator. A thread makes the next item while the current one is used."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._queue: queue.Queue[Item | BaseException | None] = queue.Queue(1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._fill, args=(items,), daemon=True)
        self._thread.start()

    def _fill(self, items: Iterator[Item]) -> None:
        try:
            for item in items:
                if not self._put(item):
                    return
            self._put(None)
        except BaseException as problem:
            self._put(problem)

    def _put(self, item: Item | BaseException | None) -> bool:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(item, timeout=0.1)
                return True
        return False

    def next(self, stopped: Callable[[], bool], idle: Callable[[], None] = lambda: None) -> Item | None:
        """The next item, None if there is none or if `stopped()`. While waiting, `idle()` is called."""
        while True:
            try:
                item = self._queue.get(timeout=0.1)
            except queue.Empty:
                if stopped():
                    return None
                idle()
                continue
            if isinstance(item, BaseException):
                raise item
            return item

    def stop(self) -> bool:
        """End the thread; return whether it has ended. One that waits for a pipe ends with the process."""
        self._stopped.set()
        self._thread.join(timeout=1.0)
        return not self._thread.is_alive()
