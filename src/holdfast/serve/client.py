"""A client of `holdfast serve`, on the standard library: `Client`, and `AsyncClient` for asyncio.

A call that got no answer is sent again, with the same ids. The server answers a prediction it has already
given and counts a label once, so a call that is sent twice has the effect of one.
"""

import asyncio
import http.client
import json
import random
import time
import urllib.parse
import uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

_BUSY = (429, 503)  # the server refuses for now: send again
_LOST = (ConnectionError, TimeoutError, http.client.HTTPException)

Row = Mapping[str, Any]
_Result = TypeVar("_Result")
_Values = ParamSpec("_Values")


class Answer(NamedTuple):
    """What the server answers about a row. Keep `id` until the target is known."""

    id: str
    prediction: float | str | None  # None if nothing of the row could be read
    low: float | None = None  # numbers: an interval for the target
    high: float | None = None
    labels: Sequence[str] | None = None  # labels: those that may be right
    probability: float | None = None  # labels: that the prediction is right
    outlier: bool | None = None  # None if that is unknown
    note: str | None = None  # which cells did not count, and why


class ServerError(RuntimeError):
    """The server refused a call: `status` is that of HTTP, and the text is its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Client:
    """A client of `holdfast serve`. It can be used by several threads.

    Parameters
    ----------
    url : str
        The address of the server, such as `http://127.0.0.1:8000`.
    token : str
        The token of the server; needed for all that changes the model, and for predictions of a server
        that other machines reach.
    patience : float
        For how many seconds a call is sent again while the server cannot be reached, or has too much to do.
    timeout : float
        For how many seconds one attempt waits for the server.

    Examples
    --------
    [Serve](../serve.md) runs all of this::

        with Client("http://127.0.0.1:8000", token="secret") as client:
            answer = client.predict({"temperature": 21.5, "hour": 14})
            print(answer.prediction, answer.low, answer.high)
            client.label(answer.id, 17.9)        # an hour later: "accepted"
    """

    def __init__(self, url: str, token: str = "", patience: float = 30.0, timeout: float = 10.0) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url is the address of a server, such as http://127.0.0.1:8000: got {url!r}")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connect = partial(kind, parts.hostname, parts.port, timeout=timeout)
        self.url, self._path, self._patience = url.rstrip("/"), parts.path.rstrip("/"), patience
        self._idle: list[http.client.HTTPConnection] = []
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def predict(self, row: Row, id: str | None = None, key: str | None = None) -> Answer:
        """The answer about a row. `key` is the key of the row, if the run has keys."""
        return self.predict_many([row], None if id is None else [id], key)[0]

    def predict_many(
        self, rows: Iterable[Row], ids: Iterable[str] | None = None, key: str | None = None
    ) -> list[Answer]:
        """The answers about rows, in their order. Rows without `ids` get random ones.

        None and NaN are missing cells.
        """
        sent = list(map(_cells, rows))
        names = [uuid.uuid4().hex for _ in sent] if ids is None else list(ids)
        body = {"rows": sent, "ids": names}
        path = "/predict" if key is None else f"/predict?{_query(key=key)}"
        found = self.call("POST", path, body, again=True)
        return [Answer(**{name: one.get(name) for name in Answer._fields}) for one in found["predictions"]]

    def label(self, id: str, target: float | str) -> str:
        """Send a target: `accepted`, `repeated`, `contradicting`, `unknown` or `late`."""
        return self.label_many([(id, target)])[0]

    def label_many(self, labels: Iterable[tuple[str, float | str]]) -> list[str]:
        """Send pairs of id and target; what became of each."""
        body = {"labels": [{"id": name, "target": target} for name, target in labels]}
        return [one["status"] for one in self.call("POST", "/label", body, again=True)["labels"]]

    def learn(
        self, rows: Iterable[Row], source: str | None = None, first: int = 0, key: str | None = None
    ) -> dict[str, Any]:
        """Learn from rows with their targets.

        With `source` and the offset of the `first` row there, rows whose offset was already learned from are
        left out. Without, a call that is sent twice is learned twice, so it is sent once only.
        """
        body: dict[str, Any] = {"rows": list(map(_cells, rows))}
        if source is not None:
            body["offsets"] = {"source": source, "first": first}
        path = "/learn" if key is None else f"/learn?{_query(key=key)}"
        answer: dict[str, Any] = self.call("POST", path, body, again=source is not None)
        return answer

    def release(self, rows: str | Sequence[int], why: str = "") -> dict[str, Any]:
        """Learn from these skipped rows after all: numbers of rows, or a text such as 120-180,999."""
        return self._change("/release", rows, why)

    def retract(self, rows: str | Sequence[int], why: str = "") -> dict[str, Any]:
        """Take these rows back, however long that takes. It is sent once only."""
        return self._change("/retract", rows, why)

    def _change(self, path: str, rows: str | Sequence[int], why: str) -> dict[str, Any]:
        body = {"rows": rows if isinstance(rows, str) else list(rows), "why": why}
        answer: dict[str, Any] = self.call("POST", path, body, wait=True)
        return answer

    def call(
        self, method: str, path: str, body: Any = None, again: bool | None = None, wait: bool = False
    ) -> Any:
        """Any call of the API: what the server answers, from JSON.

        It is sent again if `again`; by default if it is a GET. With `wait` an attempt has no limit in time.
        """
        again = method == "GET" if again is None else again
        data = None if body is None else json.dumps(body, default=_of_numpy).encode()
        until, pause = time.monotonic() + (self._patience if again else 0.0), 0.05
        fresh = not again  # a connection that was idle for long may be closed by now
        while True:
            try:
                status, answer = self._send(method, path, data, fresh, wait)
                if status < 400:
                    return json.loads(answer)
                problem: Exception = ServerError(status, _sentence(status, answer))
                if status not in _BUSY:
                    raise problem
            except _LOST as lost:
                problem, fresh = lost, True
            pause = min(2.0 * pause, 2.0)
            rest = pause * random.uniform(0.5, 1.0)
            if time.monotonic() + rest > until:
                raise problem
            time.sleep(rest)

    def _send(self, method: str, path: str, data: bytes | None, fresh: bool, wait: bool) -> tuple[int, bytes]:
        connection = self._connect() if fresh or wait or not self._idle else self._idle.pop()
        if wait:
            connection.timeout = None
        try:
            connection.request(method, self._path + path, data, self._headers)
            with connection.getresponse() as response:
                status, answer = response.status, response.read()
        except BaseException:
            connection.close()
            raise
        if wait:
            connection.close()
        else:
            self._idle.append(connection)
        return status, answer

    def close(self) -> None:
        """Close the connections. The next call opens another."""
        while self._idle:
            self._idle.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _in_thread(
    method: Callable[Concatenate[Client, _Values], _Result],
) -> Callable[Concatenate["AsyncClient", _Values], Coroutine[Any, Any, _Result]]:
    """The same method, called in a thread of an `AsyncClient`."""

    @wraps(method)
    async def call(self: "AsyncClient", *values: _Values.args, **named: _Values.kwargs) -> _Result:
        work = partial(method, self._client, *values, **named)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    return call


class AsyncClient:
    """`Client` for asyncio: the same methods, to be awaited, such as `await client.predict(row)`.

    Calls run in threads, at most `connections` at a time; more of them wait. The other parameters are
    those of `Client`.
    """

    def __init__(
        self, url: str, token: str = "", patience: float = 30.0, timeout: float = 10.0, connections: int = 16
    ) -> None:
        self._client = Client(url, token, patience, timeout)
        self._threads = ThreadPoolExecutor(connections, "holdfast client")

    predict = _in_thread(Client.predict)
    predict_many = _in_thread(Client.predict_many)
    label = _in_thread(Client.label)
    label_many = _in_thread(Client.label_many)
    learn = _in_thread(Client.learn)
    release = _in_thread(Client.release)
    retract = _in_thread(Client.retract)
    call = _in_thread(Client.call)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *problem: object) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        self._client.close()


def _cells(row: Row) -> dict[str, Any]:
    """The cells of a row for JSON, which has no NaN."""
    return {name: None if value != value else value for name, value in row.items()}


def _of_numpy(value: Any) -> Any:
    """A number of numpy, which JSON does not know, as one of Python."""
    try:
        return value.item()
    except AttributeError:
        raise TypeError(f"a cell is a number, a text, true, false or None: got {value!r}") from None


def _query(**values: str) -> str:
    return urllib.parse.urlencode(values)


def _sentence(status: int, answer: bytes) -> str:
    """What the server says about an error."""
    try:
        return str(json.loads(answer)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered with status {status}"
