"""What was answered, what waits for a label, and what waits to be learned from, in a file of SQLite.

One thread writes. What arrives while it writes is written together in the next transaction, and nobody gets
an answer before the transaction of the answer is committed. Kill the process at any moment: what was
acknowledged is there. `Durable` says what a loss of power may take.

SQLite works without Python's lock, and the lock has to be waited for after each statement while calls are
answered. So each group of rows is one statement.
"""

import asyncio
import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.terminal import Refusal

FORMAT = "holdfast serve 1"
WAITING, LABELLED, EXPIRED = range(3)
STATUSES = ("accepted", "repeated", "contradicting", "unknown", "late")
_SCHEMA = """
create table if not exists meta (name text primary key, value) without rowid;
create table if not exists asked (
    id text primary key, at real, state integer, key text, cells text, forecast text, answer text, target text
) without rowid;
create index if not exists asked_waiting on asked (at) where state = 0;
create index if not exists asked_done on asked (at) where state != 0;
create table if not exists queue (
    seq integer primary key, id text, at real, key text, cells text, forecast text, target text
);
create table if not exists judged (seq integer primary key, at real, error real, score real);
create table if not exists offsets (source text primary key, next integer) without rowid;
"""
_ASK = "insert into asked values", "(?, ?, 0, ?, ?, ?, ?, null)"
_ENQUEUE = "insert into queue values", "(?, ?, ?, ?, ?, ?, ?)"
_JUDGE = "insert or replace into judged values", "(?, ?, ?, ?)"
_REMEDY = "move it away to serve the run without what waits there"
_STEP = 10_000  # rows that are cleaned up at once
_JUDGED = 20_000  # errors that are kept for the page
_TOGETHER = 100  # rows of a statement; older versions of SQLite have a limit of 999 values
_CHECKPOINT = 1.0  # seconds between checkpoints of SQLite, in a thread of their own
_PAGES = 16_384  # of 4 KiB: the thread that writes waits for a checkpoint if its log is longer
_SYNCHRONOUS = {"power": "full", "process": "normal", "no": "off"}


class Limits(NamedTuple):
    """The limits of a server; a request beyond one gets a 4xx answer that names it."""

    body: int = 1 << 20  # bytes of a request
    rows: int = 1_000  # rows or labels of a request
    columns: int = 10_000  # of a row, also those that the model does not use
    text: int = 1_000  # characters of a cell, a key, an id or a reason
    requests: int = 1_000  # that are being answered at once
    rate: float = 0.0  # requests a second, of all clients together; 0: any number
    seconds: float = 10.0  # in which a request must have arrived
    streams: int = 50  # clients of /events at once
    waiting: int = 1_000_000  # predictions that wait for a label
    hours: float = 168.0  # for which they wait
    queue: int = 100_000  # rows with labels that wait to be learned from
    connections: int = 2_000


class Durable(StrEnum):
    """What an answer has survived before it is sent.

    POWER: a loss of power. Each transaction is flushed to the disk, which takes as long as the disk needs.
    PROCESS: the end of this process, however hard: the operating system has it. A loss of power may take the
    last seconds; what is left fits together. NO: nothing; a loss of power can damage the file.
    """

    POWER = "power"
    PROCESS = "process"
    NO = "no"


class Asked(NamedTuple):
    """A prediction: what was asked, and what was answered."""

    id: str
    at: float
    key: str
    cells: str  # JSON: the texts of the cells
    forecast: str  # JSON: what the label will be compared with
    answer: str  # JSON


class Queued(NamedTuple):
    """A row with its target, to be learned from. `seq` is its place in the log, from 1."""

    seq: int
    id: str
    at: float
    key: str
    cells: str
    forecast: str
    target: str


Operation = Callable[[sqlite3.Connection], Any]


class Store:
    """The file. Operations run one after the other in its thread; each has a `Future`."""

    def __init__(
        self,
        path: Path,
        limits: Limits,
        durable: Durable = Durable.PROCESS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path, self.limits, self.durable, self.clock = path, limits, durable, clock
        self._wake, self._stopped = threading.Condition(), False
        self._asked: list[tuple[Sequence[Asked], Any]] = []
        self._operations: list[tuple[Operation, Any]] = []
        self._turn: list[tuple[Any, Any, Any]] = []  # what came in this turn of the loop
        self.loop: asyncio.AbstractEventLoop | None = None  # that of the futures of asyncio
        self._check()
        with contextlib.closing(self.connect()) as connection:
            connection.executescript(_SCHEMA)
            connection.execute("insert or ignore into meta values ('format', ?)", (FORMAT,))
            self.seq = connection.execute(
                "select max(coalesce((select value from meta where name = 'seq'), 0),"
                " coalesce((select max(seq) from queue), 0))"
            ).fetchone()[0]
            self.waiting = connection.execute("select count(*) from asked where state = 0").fetchone()[0]
            self.stored = connection.execute("select count(*) from asked").fetchone()[0]
            self.queued = connection.execute("select count(*) from queue").fetchone()[0]
            labels = connection.execute("select value from meta where name = 'labels'").fetchone()
        self.labels: dict[str, int] = dict.fromkeys(STATUSES, 0) | (json.loads(labels[0]) if labels else {})
        self._cleaned = 0.0
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"holdfast-{name}", daemon=True)
            for name, work in (("store", self._write_all), ("checkpoint", self._checkpoint))
        ]
        for thread in self._threads:
            thread.start()

    def connect(self) -> sqlite3.Connection:
        """A connection; rows can be read while the thread of the store writes."""
        connection = sqlite3.connect(self.path, timeout=30.0, isolation_level=None, check_same_thread=False)
        connection.execute("pragma journal_mode = wal")
        connection.execute(f"pragma synchronous = {_SYNCHRONOUS[self.durable]}")
        connection.execute(f"pragma wal_autocheckpoint = {_PAGES}")
        return connection

    def _check(self) -> None:
        """Raise if the file is damaged, or that of another version."""
        if not self.path.exists():
            return
        try:
            with contextlib.closing(sqlite3.connect(self.path)) as connection:
                self._check_content(connection)
        except sqlite3.DatabaseError as problem:
            raise Refusal(f"{self.path} cannot be read ({problem}): {_REMEDY}") from None

    def _check_content(self, connection: sqlite3.Connection) -> None:
        names = {name for (name,) in connection.execute("select name from sqlite_master")}
        found = get(connection, "format") if "meta" in names else None
        if names and found != FORMAT:
            raise Refusal(f"{self.path} is of another version of holdfast: {_REMEDY}")

    # -- the thread

    def ask(self, asked: Sequence[Asked]) -> Any:
        """Write predictions with ids of ours; the future is done when they are on the disk."""
        return self._add(asked, None)

    def do(self, operation: Operation) -> Any:
        """Run an operation in the next transaction; the future has its result."""
        return self._add(None, operation)

    def _add(self, asked: Sequence[Asked] | None, operation: Operation | None) -> Any:
        """A future of asyncio in the thread of the loop, and one of threads elsewhere.

        The thread of the store is woken once for all that comes in a turn of the loop: that costs as much as
        to answer a call.
        """
        if self.loop is None or asyncio._get_running_loop() is not self.loop:
            future: Any = Future()
            self._hand_over([(asked, operation, future)])
            return future
        if not self._turn:
            self.loop.call_soon(self._end_turn)
        future = self.loop.create_future()
        self._turn.append((asked, operation, future))
        return future

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, []
        self._hand_over(turn)

    def _hand_over(self, found: Sequence[tuple[Any, Any, Any]]) -> None:
        with self._wake:
            self._asked += [(asked, future) for asked, _, future in found if asked is not None]
            self._operations += [
                (operation, future) for _, operation, future in found if operation is not None
            ]
            self._wake.notify()

    def close(self) -> None:
        with self._wake:
            self._stopped = True
            self._wake.notify()
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def sync(self) -> None:
        """Flush what was committed to the disk, so that a loss of power does not take it."""
        if self.durable == Durable.PROCESS:
            with contextlib.suppress(FileNotFoundError), open(f"{self.path}-wal", "rb+") as file:
                os.fsync(file.fileno())

    def _checkpoint(self) -> None:
        """Move what was committed from the log of SQLite into its file, while rows are written."""
        with contextlib.closing(self.connect()) as connection:
            while not self._ended.wait(_CHECKPOINT):
                with contextlib.suppress(sqlite3.Error):  # the next one, or the thread that writes, does it
                    connection.execute("pragma wal_checkpoint(passive)").fetchall()

    def _write_all(self) -> None:
        connection = self.connect()
        while True:
            with self._wake:
                while not (self._asked or self._operations or self._stopped):
                    self._wake.wait()
                asked, self._asked = self._asked, []
                operations, self._operations = self._operations, []
            if not (asked or operations):
                break
            self._write(connection, asked, operations)
        connection.close()

    def _write(self, connection: sqlite3.Connection, asked: Sequence[Any], operations: Sequence[Any]) -> None:
        """One transaction. If it fails, as when the disk is full, all futures have the error."""
        before, labels = (self.waiting, self.stored, self.queued, self.seq), dict(self.labels)
        results: list[Any] = []
        try:
            connection.execute("begin immediate")
            rows = [one for some, _ in asked for one in some]
            _insert(connection, _ASK, rows)
            self.waiting += len(rows)
            self.stored += len(rows)
            for operation, _ in operations:
                results.append(_result(connection, operation))
            self._clean(connection)
            if self.seq != before[3]:
                put(connection, "seq", self.seq)
            if self.labels != labels:
                put(connection, "labels", json.dumps(self.labels))
            connection.execute("commit")
        except BaseException as problem:
            if connection.in_transaction:
                connection.execute("rollback")
            (self.waiting, self.stored, self.queued, self.seq), self.labels = before, labels
            self._deliver([(future, problem) for _, future in (*asked, *operations)])
            return
        done = [(future, None) for _, future in asked]
        self._deliver(
            done + [(future, result) for (_, future), result in zip(operations, results, strict=True)]
        )

    def _deliver(self, found: list[tuple[Any, Any]]) -> None:
        """Set the futures; those of asyncio all together, in the thread of the loop."""
        of_loop = [pair for pair in found if isinstance(pair[0], asyncio.Future)]
        _settle([pair for pair in found if not isinstance(pair[0], asyncio.Future)])
        if of_loop and self.loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self.loop.call_soon_threadsafe(_settle, of_loop)

    def _clean(self, connection: sqlite3.Connection) -> None:
        """Let what is too old or too much expire; forget it after the same time again."""
        now, limits = self.clock(), self.limits
        if now < self._cleaned + 1.0 and self.waiting <= limits.waiting:
            return
        self._cleaned, old = now, now - 3600.0 * limits.hours
        over = max(self.waiting - limits.waiting, 0)
        some = f"select id from asked where state = {WAITING} %s order by at limit %d"
        for where, values, most in (("and at < ?", (old,), _STEP), ("", (), over)):
            if most:
                self.waiting -= connection.execute(
                    f"update asked set state = {EXPIRED}, cells = null, forecast = null, answer = null"
                    f" where id in ({some % (where, most)})",
                    values,
                ).rowcount
        over = max(self.stored - 2 * limits.waiting, 0)
        some = f"select id from asked where state != {WAITING} %s order by at limit %d"
        for where, values, most in (("and at < ?", (old - 3600.0 * limits.hours,), _STEP), ("", (), over)):
            if most:
                found = connection.execute(f"delete from asked where id in ({some % (where, most)})", values)
                self.stored -= found.rowcount

    # -- what the thread does

    def ask_again(self, asked: Sequence[Asked]) -> Operation:
        """Write predictions whose ids were given. The result has the answer of each: that of the first call
        if an id is there with the same row, and None if it is there with another.
        """

        def operation(connection: sqlite3.Connection) -> list[str | None]:
            known = _lookup(connection, "key, cells, answer", [one.id for one in asked])
            new = [one for one in asked if one.id not in known]
            _insert(connection, _ASK, new)
            self.waiting += len(new)
            self.stored += len(new)
            answers: list[str | None] = []
            for one in asked:
                key, cells, answer = known.get(one.id, (one.key, one.cells, one.answer))
                answers.append(answer if key == one.key and cells in (one.cells, None) else None)
            return answers

        return operation

    def label(self, labels: Sequence[tuple[str, str]]) -> Operation:
        """Put the rows of these ids into the queue, with their targets. The result has the status of each."""

        def operation(connection: sqlite3.Connection) -> list[str]:
            old = self.clock() - 3600.0 * self.limits.hours
            columns = f"state, target, at < {old!r}, key, cells, forecast"
            known = _lookup(connection, columns, [id for id, _ in labels])
            statuses: list[str] = []
            accepted: dict[str, str] = {}
            for id, target in labels:
                state, first, is_old, *_ = known.get(id, (None, None, False))
                if id in accepted:
                    state, first = LABELLED, accepted[id]
                if state is None:
                    status = "unknown"
                elif state == LABELLED:
                    status = "repeated" if first == target else "contradicting"
                elif state == EXPIRED or is_old:
                    status = "late"
                else:
                    status, accepted[id] = "accepted", target
                self.labels[status] += 1
                statuses.append(status)
            self.waiting -= len(accepted)
            self._enqueue(connection, [(id, *known[id][3:], target) for id, target in accepted.items()])
            for some in _parts(accepted.items()):
                cases = " ".join(["when ? then ?"] * len(some))
                ids = [id for id, _ in some]
                connection.execute(
                    f"update asked set state = {LABELLED}, cells = null, forecast = null,"
                    f" target = case id {cases} end where id in ({_marks(ids)})",
                    [*chain.from_iterable(some), *ids],
                )
            return statuses

        return operation

    def _enqueue(
        self, connection: sqlite3.Connection, rows: Sequence[tuple[str, str, str, str, str]]
    ) -> None:
        """Id, key, cells, forecast and target of each."""
        now = self.clock()
        queued = [(seq, id, now, *rest) for seq, (id, *rest) in enumerate(rows, self.seq + 1)]
        _insert(connection, _ENQUEUE, queued)
        self.seq += len(rows)
        self.queued += len(rows)

    def learn(self, rows: Sequence[tuple[str, str, str, str]], source: str | None, first: int) -> Operation:
        """Put rows with targets into the queue: key, cells, forecast, target of each. With a source, its rows
        have the offsets `first`, `first + 1`, ..., and those that were there before are left out.

        The result is how many are new.
        """

        def operation(connection: sqlite3.Connection) -> int:
            skip = 0
            if source is not None:
                found = connection.execute("select next from offsets where source = ?", (source,)).fetchone()
                skip = max(found[0] - first, 0) if found is not None else 0
                following = max(first + len(rows), found[0] if found is not None else 0)
                connection.execute("insert or replace into offsets values (?, ?)", (source, following))
            new = [
                ("" if source is None else f"{source}:{first + i}", *row)
                for i, row in enumerate(rows[skip:], skip)
            ]
            self._enqueue(connection, new)
            return len(new)

        return operation

    # -- what the learner needs

    def next_rows(self, connection: sqlite3.Connection, after: int, most: int) -> list[Queued]:
        """The next rows of the queue."""
        # `at` as a text: json_array writes 15 digits of a number.
        (text,) = connection.execute(
            "select json_group_array(json_array(seq, id, printf('%!.17g', at), key, cells, forecast, target))"
            " from (select * from queue where seq > ? order by seq limit ?)",
            (after, most),
        ).fetchone()
        rows = [Queued(*row) for row in json.loads(text)]
        return sorted(row._replace(at=float(row.at)) for row in rows)

    def logged(self, last: int, length: int, judged: Sequence[tuple[Any, ...]]) -> Operation:
        """Note that the log has all rows up to `last` in so many bytes: they leave the queue."""

        def operation(connection: sqlite3.Connection) -> None:
            self.queued -= connection.execute("delete from queue where seq <= ?", (last,)).rowcount
            put(connection, "log", json.dumps([last, length]))
            _insert(connection, _JUDGE, judged)
            connection.execute("delete from judged where seq <= ?", (last - _JUDGED,))

        return operation


def put(connection: sqlite3.Connection, name: str, value: Any) -> None:
    connection.execute("insert or replace into meta values (?, ?)", (name, value))


def get(connection: sqlite3.Connection, name: str) -> Any:
    found = connection.execute("select value from meta where name = ?", (name,)).fetchone()
    return None if found is None else found[0]


def _parts(rows: Iterable[Any]) -> Iterable[list[Any]]:
    """The rows, as many at once as a statement has."""
    left = iter(rows)
    while some := list(islice(left, _TOGETHER)):
        yield some


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _lookup(connection: sqlite3.Connection, columns: str, ids: Sequence[str]) -> dict[str, list[Any]]:
    """Columns of the predictions with these ids, by id."""
    found: dict[str, list[Any]] = {}
    for some in _parts(ids):
        (text,) = connection.execute(
            f"select json_group_array(json_array(id, {columns})) from asked where id in ({_marks(some)})",
            some,
        ).fetchone()
        found |= {id: rest for id, *rest in json.loads(text)}
    return found


def _insert(connection: sqlite3.Connection, into: tuple[str, str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows; `into` has the statement and the values of one row."""
    for some in _parts(rows):
        connection.execute(f"{into[0]} {', '.join([into[1]] * len(some))}", [*chain.from_iterable(some)])


def _result(connection: sqlite3.Connection, operation: Operation) -> Any:
    """What an operation returns; or raises, and then it has changed nothing."""
    connection.execute("savepoint one")
    try:
        found = operation(connection)
    except Refusal as problem:
        connection.execute("rollback to one")
        found = problem
    connection.execute("release one")
    return found


def _settle(found: list[tuple[Any, Any]]) -> None:
    """Set the results, or the errors, of futures that somebody still waits for."""
    for future, result in found:
        if future.cancelled():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
