"""A server in a process of its own that can be killed, and clients that try again until they are answered."""

import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = ("a", "b")
_PATIENCE = 120.0  # seconds, for a machine under load


def write_table(path: Path, rows: int = 200, seed: int = 0) -> Path:
    """y = 2 a - b and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    y = X @ [2.0, -1.0] + 0.1 * rng.normal(size=rows)
    lines = [f"{a!r},{b!r},{t!r}" for (a, b), t in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    return path


class Server:
    """`holdfast serve`."""

    def __init__(self, run: Path, *options: str) -> None:
        command = [sys.executable, "-m", "holdfast.cli.main", "serve", str(run), "--port", "0", "--json"]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        assert '"ready"' in self.said, self.said + self.process.communicate()[0]
        self.port = int(json.loads(self.said)["address"].rpartition(":")[2])

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def stop(self) -> None:
        """End it with SIGTERM; it saves."""
        self.process.send_signal(signal.SIGTERM)
        self._ended()

    def _ended(self) -> None:
        self.said += self.process.communicate(timeout=_PATIENCE)[0]
        assert "Traceback" not in self.said, self.said


def call(port: int, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
    """Status and answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30.0)
    headers = {"content-type": "application/json"}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    with contextlib.closing(connection):
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


class Clients:
    """Threads that ask, label and send rows. Each repeats a call until it is answered."""

    def __init__(self, threads: int, seed: int) -> None:
        self.port, self.stopped = 0, threading.Event()
        self.predicted: dict[str, dict[str, Any]] = {}  # by id
        self.labelled: dict[str, float] = {}
        self.learned: dict[str, float] = {}  # by source and offset
        self.failures: list[BaseException] = []
        self._lock, self.answered = threading.Condition(), 0
        works = [self._ask_and_label if i % 3 else self._learn for i in range(threads)]
        self._threads = [
            threading.Thread(target=self._guarded, args=(work, i, random.Random(f"{seed} {i}")))
            for i, work in enumerate(works)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish the call that it has begun."""
        self.stopped.set()
        for thread in self._threads:
            thread.join(_PATIENCE)
            assert not thread.is_alive()
        if self.failures:
            raise self.failures[0]

    def wait_for(self, more: int) -> None:
        """Wait until so many more calls were answered."""
        with self._lock:
            goal = self.answered + more
            assert self._lock.wait_for(lambda: self.answered >= goal or self.failures, _PATIENCE)

    def _guarded(self, work: Any, number: int, rng: random.Random) -> None:
        try:
            step = 0
            while not self.stopped.is_set():
                work(number, step, rng)
                step += 1
        except BaseException as problem:
            self.failures.append(problem)

    def _call(self, path: str, body: Any) -> Any:
        """The answer, however often it takes."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                status, answer = call(self.port, "POST", path, body)
                assert status == 200, answer
                with self._lock:
                    self.answered += 1
                    self._lock.notify_all()
                return answer
            time.sleep(0.01)
        raise TimeoutError(path)

    def _row(self, rng: random.Random) -> dict[str, float]:
        row = {name: rng.gauss(0.0, 1.0) for name in COLUMNS}
        return row | ({"a": 1e6} if rng.random() < 0.05 else {})

    def _ask_and_label(self, number: int, step: int, rng: random.Random) -> None:
        rows = [self._row(rng) for _ in range(rng.choice([1, 1, 5]))]
        ids = [f"{number}-{step}-{i}" for i in range(len(rows))]
        answers = self._call("/predict", {"rows": rows, "ids": ids})["predictions"]
        self.predicted |= {answer["id"]: answer for answer in answers}
        labels = [{"id": id, "target": 2.0 * row["a"] - row["b"]} for id, row in zip(ids, rows, strict=True)]
        labels = labels[: rng.randint(0, len(labels))]
        if labels:
            found = self._call("/label", {"labels": labels})["labels"]
            assert {one["status"] for one in found} <= {"accepted", "repeated"}, found
            self.labelled |= {label["id"]: label["target"] for label in labels}

    def _learn(self, number: int, step: int, rng: random.Random) -> None:
        rows = [self._row(rng) for _ in range(3)]
        rows = [row | {"y": 2.0 * row["a"] - row["b"]} for row in rows]
        source = f"source {number}"
        found = self._call("/learn", {"rows": rows, "offsets": {"source": source, "first": 3 * step}})
        assert found["accepted"] + found["repeated"] == 3
        self.learned |= {f"{source}:{3 * step + i}": row["y"] for i, row in enumerate(rows)}
