"""What the server does, without HTTP: predict, label, learn, and show what the run has done."""

import contextlib
import itertools
import json
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from statistics import median
from typing import IO, Any

import numpy as np
from msgspec.json import Encoder

from holdfast.runs import choosing
from holdfast.runs.config import read_config
from holdfast.runs.files import locked
from holdfast.runs.folder import Folder
from holdfast.runs.ledger import read_ledger
from holdfast.runs.run import Run, open_run
from holdfast.serve.bodies import Label, LabelBody, LearnBody, PredictBody, Row, RowNumbers
from holdfast.serve.events import Events
from holdfast.serve.judge import mean_of
from holdfast.serve.learner import Learner
from holdfast.serve.log import RowLog
from holdfast.serve.page import last_entries
from holdfast.serve.repairs import release_rows, retract_rows
from holdfast.serve.rows import RowReader, cell_text, target_text
from holdfast.serve.store import Asked, Durable, Limits, Store
from holdfast.terminal import Refusal, quoted

FOLDER = "serve"  # in the run folder
_SUFFIX = {None: ".csv", "csv": ".csv", "tsv": ".tsv"}
_COUNTS = ("rounds", "kept", "skipped", "skipped_by_reason", "released")
_FIGURES = ("task", *_COUNTS, "warnings", "error_is", "error", "baseline")
_encode = Encoder().encode


class Conflict(Refusal):
    """An id was used for another row before."""


class Full(Refusal):
    """Too much waits."""


class Service:
    """A run that is served. `close` learns what waits, and saves."""

    def __init__(
        self,
        path: str | Path,
        limits: Limits | None = None,
        durable: Durable = Durable.PROCESS,
        share: float = 0.9,
        every: tuple[float, float] = (100_000.0, 30.0),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path, self.limits, self.durable, self.clock = Path(path), limits or Limits(), durable, clock
        folder = Folder(self.path)
        folder.load()
        self.config = config = read_config(folder)
        suffix = _SUFFIX.get(config.settings.format)
        if suffix is None or not config.settings.header or config.settings.decimal == "comma":
            raise Refusal(
                f"{self.path} was begun with --format {config.settings.format}, --no-header or --decimal "
                "comma, and a server writes its rows as CSV with a header: begin a run without these options"
            )
        self.reader = RowReader(config.layout, self.limits.columns, self.limits.text)
        self.events = Events()
        place = self.path / FOLDER
        place.mkdir(exist_ok=True)
        self._lock: IO[bytes] = open(place / "lock", "ab")  # noqa: SIM115
        if locked(self._lock) is False:
            self._lock.close()
            raise Refusal(f"{self.path} is being served by another process: stop it first")
        self.store = Store(place / "waiting.sqlite", self.limits, durable, clock)
        rows, tabs = (place / f"rows{suffix}").resolve(), suffix == ".tsv"
        with contextlib.ExitStack() as failing:
            failing.callback(self._lock.close)
            failing.callback(self.store.close)
            self._log = RowLog(rows, config.layout, config.target, config.key, tabs)
            failing.callback(self._log.close)
            self.learner = Learner(self.path, self.store, self._log, self.events.tell, share, every)
            failing.pop_all()
        self._ids = itertools.count()
        self._begin, self.started = secrets.token_hex(4), clock()
        self._counts = {"predictions": 0, "outliers": 0}
        # The first answer about a row without a cell imports what it needs; nobody should wait for that.
        row = self.reader.read({config.layout.columns[0].name: None})
        self.learner.snapshot.answer(self.reader, [row], [""])
        self.learner.start()
        self.learner.wake()

    def close(self) -> None:
        self.events.close()
        self.learner.stop()
        self.store.close()
        self._log.close()
        self._lock.close()

    # -- predictions

    def predict(self, body: PredictBody, key: str | None) -> tuple[list[dict[str, Any]], Any]:
        """The answers, and a future that must be done before they are sent; None if nothing must be."""
        rows = _one_or_many(body.row, body.rows, "row", "rows")
        ids = _one_or_many(body.id, body.ids, "id", "ids")
        self._check_count(len(rows), "row or rows is missing")
        if ids and len(ids) != len(rows):
            raise Refusal(f"{len(rows):,} rows and {len(ids):,} ids: give an id for each row, or none")
        if len(set(ids)) < len(ids):
            raise Refusal("two of the ids are the same: each row needs its own")
        keys = [self._key(row, key) for row in rows]
        served = [self.reader.read(row) for row in rows]
        answers = self.learner.snapshot.answer(self.reader, served, keys)
        self._counts["predictions"] += len(rows)
        self._counts["outliers"] += sum(one.sent["outlier"] for one in answers)
        now = self.clock()
        names = ids or [self._new_id(now) for _ in rows]
        asked = [
            Asked(name, now, key, _text(row.texts), answer.forecast, _text(answer.sent))
            for name, key, row, answer in zip(names, keys, served, answers, strict=True)
        ]
        sent = [{"id": one.id} | answer.sent for one, answer in zip(asked, answers, strict=True)]
        if ids:
            return sent, self.store.do(self.store.ask_again(asked))
        future = self.store.ask(asked)
        return sent, None if self.durable == Durable.NO else future

    def settled(
        self, sent: list[dict[str, Any]], answers: Sequence[str | None] | None
    ) -> list[dict[str, Any]]:
        """The answers to send, with the result of the future of `predict`."""
        if answers is None:
            return sent
        found = []
        for one, text in zip(sent, answers, strict=True):
            if text is None:
                raise Conflict(
                    f"the id {quoted(one['id'])} was used for another row, or has expired: use a new one"
                )
            found.append({"id": one["id"]} | json.loads(text))
        return found

    def _new_id(self, now: float) -> str:
        return f"{int(now * 1e6):013x}-{self._begin}{next(self._ids):x}"

    def _key(self, row: Row, key: str | None) -> str:
        """The key of a row: that of the call, or the cell."""
        name = self.config.key
        if name is None:
            if key is not None:
                raise Refusal(
                    "?key= is given, and the run has one model for all rows: it was begun without --key"
                )
            return ""
        if key is None:
            if name not in row:
                raise Refusal(f"which key? Give ?key=, or the column {quoted(name)} in each row")
            return cell_text(name, row[name], False, self.limits.text)
        if name in row and cell_text(name, row[name], False, self.limits.text) != key:
            raise Refusal(f"?key= is {quoted(key)}, and the column {quoted(name)} of a row has another key")
        return cell_text(name, key, False, self.limits.text)

    def _check_count(self, count: int, missing: str = "there are no rows") -> None:
        if not count:
            raise Refusal(missing)
        if count > self.limits.rows:
            raise Refusal(
                f"{count:,} rows in a call, and the limit is {self.limits.rows:,}: send them in parts"
            )

    def _check_queue(self) -> None:
        if self.store.queued >= self.limits.queue:
            raise Full(
                f"{self.store.queued:,} labels wait to be learned from, which is the limit: try again later"
            )

    # -- labels and rows

    def label(self, body: LabelBody) -> tuple[list[str], Any]:
        """The ids, and a future with the status of each."""
        one = None if body.id is None or body.target is None else Label(body.id, body.target)
        if one is None and (body.id is not None or body.target is not None):
            raise Refusal("half of a label is missing: give id and target, or labels")
        found = _one_or_many(one, body.labels, "id and target", "labels")
        self._check_count(len(found), "a label is missing: give id and target, or labels")
        self._check_queue()
        target, longest = self.config.target, self.limits.text
        labels = [(each.id, target_text(target, each.target, longest)) for each in found]
        return [id for id, _ in labels], self.store.do(self.store.label(labels))

    def learn(self, body: LearnBody, key: str | None) -> tuple[int, Any]:
        """How many rows there are, and a future with how many of them are new."""
        self._check_count(len(body.rows))
        self._check_queue()
        name, rows = self.config.target.name, body.rows
        for row in rows:
            if name not in row:
                raise Refusal(
                    f"a row has no {quoted(name)}, which is the target: /learn takes rows with targets"
                )
        keys = [self._key(row, key) for row in rows]
        targets = [target_text(self.config.target, row[name], self.limits.text) for row in rows]
        served = [self.reader.read(row) for row in rows]
        answers = self.learner.snapshot.answer(self.reader, served, keys)
        found = [(keys[i], _text(served[i].texts), answers[i].forecast, targets[i]) for i in range(len(rows))]
        offsets = body.offsets
        source, first = (None, 0) if offsets is None else (offsets.source, offsets.first)
        return len(rows), self.store.do(self.store.learn(found, source, first))

    # -- changes of the run

    def change(self, what: str, body: RowNumbers) -> "Future[Any]":
        """Release rows that were skipped, or take rows back: `release` or `retraction`."""
        rows, why = body.rows, body.why
        if not (choosing.ranges(rows) if isinstance(rows, str) else rows):
            raise Refusal("rows is empty: name rows of the audit, such as 120-180,999")
        repair = {"release": release_rows, "retraction": retract_rows}[what]

        def command(run: Run) -> dict[str, int]:
            counts = repair(run, rows, why)
            self.events.tell({"event": what, "why": why} | counts)
            return counts

        return self.learner.do(command)

    # -- what there is to see

    def model(self) -> dict[str, Any]:
        config, figures = self.config, self.learner.figures
        return {name: figures[name] for name in _FIGURES} | {
            "run": self.path.name,
            "target": config.target.name,
            "labels": list(config.target.labels),
            "columns": [column.name for column in config.layout.columns],
            "key": config.key,
            "interval": self.learner.share,
            "judged": self.learner.judged(),
            "threshold": self.threshold(),
            "waiting": self.store.waiting,
            "queued": self.store.queued,
            "labels_by_status": dict(self.store.labels),
            "problem": self.learner.problem,
            "durable": self.durable,
            "limits": self.limits._asdict(),
        }

    def threshold(self) -> float | None:
        """The last threshold of the rows, without keys."""
        found = self.learner.snapshot.model.threshold
        if found is None or self.config.key is not None or not np.isfinite(found[0]):
            return None
        return float(found[0])

    def counts(self) -> dict[str, int]:
        return dict(self._counts)

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Whether all is well, and what is not."""
        problem = self.learner.problem
        alive = self.learner.is_alive()
        return problem is None and alive, {
            "status": "ok" if problem is None and alive else "not learning",
            "problem": problem,
            "seconds": round(self.clock() - self.started, 1),
            "rounds": self.learner.figures["rounds"],
            "queued": self.store.queued,
            "waiting": self.store.waiting,
        }

    def errors(self, points: int = 200) -> list[dict[str, Any]]:
        """Mean and median of the errors of judged forecasts over time, in at most so many parts."""
        connection = self.store.connect()
        try:
            rows = connection.execute(
                "select at, error from judged where error is not null order by seq"
            ).fetchall()
        finally:
            connection.close()
        step = max(-(-len(rows) // points), min(len(rows) // 10, 10), 1)
        parts = [rows[i : i + step] for i in range(0, len(rows), step)]
        return [
            {"at": part[-1][0], "error": mean_of(errors), "median": median(errors), "count": len(part)}
            for part in parts
            for errors in [[row[1] for row in part]]
        ]

    def audit(self, limit: int, after: int | None) -> dict[str, Any]:
        """Skipped rounds as of the last checkpoint: those after a row, or the last ones."""
        run = open_run(self.path)
        rows: list[dict[str, Any]] = []
        if after is None:
            rows = list(itertools.islice(last_entries(run), limit))[::-1]
        else:
            for part in run.read("audit"):
                numbers = part.column("row").to_numpy()
                part, numbers = part.filter(numbers > after), numbers[numbers > after]
                stop = min(limit - len(rows), len(numbers))
                if stop:  # a row of several labels has several entries, which stay together
                    stop = int(np.searchsorted(numbers, numbers[stop - 1], "right"))
                rows += part.slice(0, stop).to_pylist()
                if len(rows) >= limit:
                    break
        released = {row for part in run.read("released", ["row"]) for row in part.column("row").to_pylist()}
        for row in rows:
            row["released"] = row["row"] in released
        ledger = [entry.to_json() for entry in read_ledger(run).entries][-limit:]
        return {
            "rows": rows,
            "next": rows[-1]["row"] if len(rows) >= limit else None,
            "rounds": run.trace.rounds,
            "ledger": ledger,
        }


def _text(found: Any) -> str:
    return _encode(found).decode()


def _one_or_many(one: Any, many: list[Any] | None, name: str, names: str) -> list[Any]:
    """The values of a body that has one, or several, or none."""
    if one is not None and many is not None:
        raise Refusal(f"give {name} or {names}, not both")
    return many or ([] if one is None else [one])
