"""The one thread that learns: from the queue of the store into the log, from the log into the run.

Predictions do not wait for it: they have a `Snapshot`, and get the next one after each batch. When there is
nothing to learn for a while, the run is saved and its folder unlocked, so that `holdfast retract`, `release`
and `learn --into` can change it; the next rows are learned by the run as it is then.
"""

import json
import math
import re
import sqlite3
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.io.rows import DenseRows
from holdfast.io.sources import Piece
from holdfast.runs.checkpoint import CHECKPOINT
from holdfast.runs.config import read_config
from holdfast.runs.folder import Folder
from holdfast.runs.learning import Schedule
from holdfast.runs.model import Model
from holdfast.runs.run import Run
from holdfast.serve.judge import Judge, Judged, judge
from holdfast.serve.log import LogReader, RowLog
from holdfast.serve.predicting import Snapshot
from holdfast.serve.store import Queued, Store, get, put
from holdfast.terminal import Refusal

BATCH = 2_000  # rows that are learned in one go
_EVERY = (100_000.0, 30.0)  # rounds and seconds between checkpoints
_IDLE = 2.0  # seconds without rows, after which the run is saved and unlocked
_LOOK_UP = 8_000  # rounds; with so many, compiled games are looked up, and none is compiled while we answer
_PAUSE = 0.1  # seconds between batches: each takes some milliseconds, however few rows it has
_RETRY = 0.5  # seconds until a locked folder is tried again
Tell = Callable[[dict[str, Any]], None]


class Learner:
    """The thread, and what it shows to others: `snapshot`, `figures` and `problem`."""

    def __init__(
        self,
        path: Path,
        store: Store,
        log: RowLog,
        tell: Tell,
        share: float = 0.9,
        every: tuple[float, float] = _EVERY,
    ) -> None:
        self.path, self.store, self.log, self.share = path, store, log, share
        self._tell, self._every = tell, every
        self._reading = store.connect()
        self._commands: deque[tuple[Callable[[Run], Any], Future[Any]]] = deque()
        self._wake, self._woken, self._last = threading.Condition(), True, -math.inf
        self._run: Run | None = None
        self._reader: LogReader  # of the log, and the times of checkpoints: both belong to `_run`
        self._schedule: Schedule
        self.locked = False  # whether this process has locked the run
        self._seen: tuple[int, int] | None = None  # the checkpoint that this thread has read or written
        self._judge: Judge
        self.problem: str | None = None  # why it does not learn
        self.figures: dict[str, Any] = {}
        self._warned: set[str] = set()  # the warnings of the run, without their figures
        self.stopping, self._idle_since = False, time.monotonic()
        self._logged, self._length = self._recover()
        self._open(begins=True)
        self._thread = threading.Thread(target=self._work, name="holdfast-learner", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There are rows in the queue."""
        with self._wake:
            self._woken = True
            self._wake.notify()

    def do(self, command: Callable[[Run], Any]) -> "Future[Any]":
        """Call a function with the run, saved and locked; then the run is read again."""
        future: Future[Any] = Future()
        with self._wake:
            self._commands.append((command, future))
            self._wake.notify()
        return future

    def stop(self) -> None:
        """Learn what is in the queue, save, and end."""
        self.stopping = True
        self.wake()
        self._thread.join()
        self._reading.close()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def judged(self) -> dict[str, Any]:
        """How many forecasts were judged, and the mean error of all and of the last ones."""
        found = self._judge
        mean = found.mean if found.count else None
        return {"count": found.count, "error": mean, "recent_error": found.mean_error()}

    # -- the log

    def _recover(self) -> tuple[int, int]:
        """Bring the log to where the store knows it; return the last row in it, and its length."""
        last, length = json.loads(get(self._reading, "log") or "[0, 0]")
        self.log.recover(length)
        return int(last), self.log.length

    # -- the run

    def _open(self, begins: bool = False) -> None:
        """Open and lock the run, and learn the rows of the log that it does not have."""
        folder = Folder(self.path)
        folder.load()
        folder.lock()
        try:
            run = Run(folder, read_config(folder))
            if not folder.has(CHECKPOINT):
                raise Refusal(f"{self.path} has learned from no row yet: learn first, with holdfast learn")
            run.restore()
            run.check_states()
            run.clean_up()
            self._run, self._reader = run, LogReader(run, self.log.path)
            self._schedule = Schedule(run, self._every)
            if begins:
                self._judge = Judge(run.target, run.answers.widths.numbers())
                self._judge_again()
            run.compiling.decide(_example(run), _LOOK_UP, lambda text: None)
            self._learn_log()
            self._show()
            self.locked = True
        except BaseException:
            self._run = None
            folder.close()
            raise

    def _close(self) -> None:
        if self._run is None or not self.locked:
            return
        self._save()
        self._seen = _identity(self.path)
        self._run.folder.close()
        self.locked = False

    def _save(self) -> None:
        assert self._run is not None
        if self._schedule.is_new():
            # Not before the store knows how long the log is: a run must not have rows that are cut from it.
            self.store.do(self.store.logged(self._logged, self._length, ())).result()
            self.store.sync()
            self._run.note_source(self._reader.place, self._reader.at_end())
            self._run.finished = True  # the server learns whole batches
            self._run.save()
        self._schedule.done()
        text, last = self._judge.to_text(), self._logged
        self.store.do(lambda connection: put(connection, "judge", json.dumps([last, text])))

    def _judge_again(self) -> None:
        """Continue the judging where it was saved, with what was judged since."""
        saved = get(self._reading, "judge")
        last, text = json.loads(saved) if saved is not None else (0, None)
        if text is not None:
            self._judge.load(text)
        rows = self._reading.execute("select error, score from judged where seq > ? order by seq", (last,))
        nan = float("nan")
        self._judge.add([Judged(*(nan if x is None else x for x in row)) for row in rows])

    def _learn_log(self) -> None:
        run, reader, schedule = self._run, self._reader, self._schedule
        assert run is not None
        for piece in reader.pieces():
            run.learn(piece, lambda piece: False, schedule.limit)
            run.note_source(reader.place, reader.record)

    def _show(self) -> None:
        """A new snapshot, and figures."""
        run = self._run
        assert run is not None
        model = run.model()._replace(widths=self._judge.table())
        self.snapshot = Snapshot(_copied(model), self._logged, run.trace.rounds, self.share)
        self.figures = run.metrics() | {"model_rows": run.trace.rounds}
        warnings = {re.sub(r"[0-9][0-9.,]*", "#", text): text for text in self.figures["warnings"]}
        for text in [text for name, text in warnings.items() if name not in self._warned]:
            self._tell({"event": "alarm", "text": text})
        self._warned = set(warnings)

    # -- the thread

    def _work(self) -> None:
        while not self._is_over():
            command = self._next_command()
            try:
                if self._run is None:  # after a problem, rows of the log may be missing in it
                    self._ready()
                self._learn_queue()
                self.problem = None
                if command is not None:
                    self._obey(*command)
                if self.stopping or time.monotonic() - self._idle_since > _IDLE:
                    self._close()
            except Exception as problem:  # whatever it is, predictions and labels go on
                self._note(problem)
                if command is not None and not command[1].done():
                    command[1].set_exception(Refusal(f"the server does not learn now: {problem}"))
        try:
            self._close()
        except Exception as problem:  # what was learned since the last checkpoint is in the log
            self._note(problem)
        self._forget()

    def _is_over(self) -> bool:
        """Whether the thread shall end, and cannot do more."""
        return self.stopping and (self.problem is not None or not (self._commands or self._has_rows()))

    def _note(self, problem: Exception) -> None:
        """Tell a problem, once, and begin again from the last checkpoint after a while."""
        if not isinstance(problem, Refusal | OSError | sqlite3.Error):
            traceback.print_exception(problem)
        if str(problem) != self.problem:
            self._tell({"event": "alarm", "text": f"not learning: {problem}"})
        self.problem = str(problem)
        self._forget()
        if not self.stopping:
            time.sleep(_RETRY)

    def _next_command(self) -> Any:
        """The next command; None if there may be rows, or nothing came for a while."""
        with self._wake:
            if not (self._woken or self._commands or self.stopping):
                self._wake.wait(_IDLE if self.locked or self.problem is not None else None)
            pause = self._last + _PAUSE - time.monotonic()
            if pause > 0.0 and not self._commands and not self.stopping:
                self._wake.wait_for(lambda: self._commands or self.stopping, pause)
            self._woken = False
            return self._commands.popleft() if self._commands else None

    def _forget(self) -> None:
        """Unlock the run without saving it: what it had learned since is in the log."""
        if self._run is not None:
            self._reader.close()
            self._run.folder.close()
        self._run = None
        self.locked = False

    def _has_rows(self) -> bool:
        return bool(self.store.next_rows(self._reading, self._logged, 1))

    def _ready(self) -> Run:
        """The run, locked; read again if another process has changed it."""
        if self._run is not None and not self.locked:
            self._run.folder.lock()
            self.locked = True
            self._run.folder.load()
            if _identity(self.path) != self._seen:
                self._forget()
        if self._run is None:
            self._open()
        assert self._run is not None
        return self._run

    def _obey(self, command: Callable[[Run], Any], future: "Future[Any]") -> None:
        try:
            run = self._ready()
            self._save()
            result = command(run)
        except Exception as problem:
            self._forget()
            future.set_exception(problem)
            return
        self._forget()
        try:
            self._open()
        finally:
            future.set_result(result)

    def _learn_queue(self) -> None:
        """Learn all that is in the queue, in batches."""
        while rows := self.store.next_rows(self._reading, self._logged, BATCH):
            run = self._ready()
            self._log(rows)
            rounds, skipped = run.trace.rounds, run.trace.skipped
            self._learn_log()
            self._show()
            self._idle_since = self._last = time.monotonic()
            new = run.trace.skipped - skipped
            if new:
                counts = {"count": new, "of": run.trace.rounds - rounds, "rounds": run.trace.rounds}
                self._tell({"event": "skips"} | counts)
            if self._schedule.is_due():
                self._save()
            if len(rows) < BATCH:
                self._woken = True  # there may be more, after a pause
                return

    def _log(self, rows: list[Queued]) -> None:
        """Append rows of the queue to the log, judge their forecasts, and let them leave the queue."""
        assert self._run is not None
        if self.log.length != self._length:  # a batch was not finished
            self.log.recover(self._length)
        judged = [judge(self._run.target, row.forecast, row.target) for row in rows]
        self.log.append(rows)
        self._judge.add(judged)
        self._logged, self._length = rows[-1].seq, self.log.length
        table = [(row.seq, row.at, *one) for row, one in zip(rows, judged, strict=True)]
        self.store.do(self.store.logged(self._logged, self.log.length, table))


def _example(run: Run) -> Piece:
    """A row, for which compiled games are looked up before there is any."""
    keys = pa.array([""]) if run.settings.key is not None else None
    features = DenseRows(np.zeros((1, run.layout.feature_count())))
    return Piece(features, np.zeros(1), keys, np.ones(1, np.int64), {}, None, 0, None, {})


def _copied(model: Model) -> Model:
    """The model with arrays of its own, which learning does not write to."""
    parameters = type(model.parameters)(*map(np.array, model.parameters))
    copies: dict[str, Any] = {
        name: None if (found := getattr(model, name)) is None else np.array(found)
        for name in ("recent", "threshold", "widths")
    }
    return model._replace(parameters=parameters, **copies)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = (path / CHECKPOINT).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
