"""The service over HTTP: an ASGI application."""

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable
from functools import cache, partial
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from holdfast.pages.render import render
from holdfast.serve.bodies import READ_LABEL, READ_LEARN, READ_PREDICT, READ_ROWS
from holdfast.serve.metrics import Metrics
from holdfast.serve.openapi import openapi
from holdfast.serve.page import Page
from holdfast.serve.service import Conflict, Full, Service
from holdfast.terminal import Refusal

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
_LONGEST_QUERY = 2_000
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
_SOON, _LATER = ((b"retry-after", b"1"),), ((b"retry-after", b"5"),)
_encode = msgspec.json.Encoder().encode


class Problem(Exception):  # noqa: N818  (an answer)
    """An answer with a status and a sentence."""

    def __init__(self, status: int, text: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(text)
        self.status, self.headers = status, headers


class App:
    """Checks every call, answers those that change something, and routes the others.

    `guarded` says that predictions need the token, too: each is stored, and pushes out older ones.
    `hosts` are the names by which the server may be called; None allows all. A page of another site in the
    browser of a user cannot call a server on localhost: it would have another host, or could not send JSON.
    """

    def __init__(
        self,
        service: Service,
        token: str | None = None,
        hosts: frozenset[str] | None = None,
        guarded: bool = False,
    ) -> None:
        self.service, self._token, self._hosts = service, token, hosts
        self.metrics = Metrics(service)
        self._shown = Page(service, token is not None)
        self._limits, self._active = service.limits, 0
        self._allowance, self._then = service.limits.rate, time.monotonic()
        self._calls: dict[str, Callable[[bytes, dict[str, str]], Awaitable[Any]]] = {
            "/predict": self._predict,
            "/label": self._label,
            "/learn": self._learn,
            "/release": partial(self._change, "release"),
            "/retract": partial(self._change, "retraction"),
        }
        self._secret = {"/label", "/learn", "/release", "/retract"} | ({"/predict"} if guarded else set())
        self._views: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/": self._page,
            "/docs": self._docs,
            "/openapi.json": self._openapi,
            "/model": self._model,
            "/errors": self._errors,
            "/audit": self._audit,
            "/health": self._health,
            "/metrics": self._metrics,
            "/events": self._events,
        }
        self.paths = {*self._calls, *self._views}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._lifespan(receive, send)
            return
        path, begin = scope["path"], time.perf_counter()
        status: int | None = None
        self._active += 1

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._check(scope)
            call, view = self._calls.get(path), self._views.get(path)
            if view is not None:
                if scope["method"] not in ("GET", "HEAD"):
                    raise Problem(405, f"{path} is called with GET", ((b"allow", b"GET, HEAD"),))
                response = await view(Request(scope, receive))
                await response(scope, receive, noted)
            elif call is None:
                raise Problem(404, "there is nothing at this address: see /docs")
            else:
                self._check_call(scope, path)
                body = await self._body(scope, receive)
                answer = await call(body, _query(scope))
                status = 200
                await _send(send, 200, _encode(answer))
        except ClientDisconnect:
            status = 499
        except Exception as problem:
            begun, (status, text, headers) = status, _in_words(problem)
            if begun is None:
                await _send(send, status, _encode({"error": text}), headers)
        finally:
            self._active -= 1
            known = path if path in self.paths else "other"
            self.metrics.count(known, status or 500)
            if path != "/events":
                self.metrics.seconds.labels(known).observe(time.perf_counter() - begin)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.service.events.start(asyncio.get_running_loop())
                self.service.store.loop = asyncio.get_running_loop()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await asyncio.to_thread(self.service.close)
                await send({"type": "lifespan.shutdown.complete"})
                return

    # -- checks

    def _check(self, scope: Scope) -> None:
        """Raise if there are too many calls, or if it is for another host."""
        limits = self._limits
        if self._active > limits.requests + self.service.events.clients():
            raise Problem(429, f"{limits.requests:,} calls are being answered, which is the limit", _SOON)
        if limits.rate > 0.0:
            now = time.monotonic()
            self._allowance = min(self._allowance + (now - self._then) * limits.rate, max(limits.rate, 1.0))
            self._then = now
            if self._allowance < 1.0:
                raise Problem(429, f"more than {limits.rate:g} calls a second, which is the limit", _SOON)
            self._allowance -= 1.0
        if len(scope.get("query_string", b"")) > _LONGEST_QUERY:
            raise Problem(422, f"the address is too long: at most {_LONGEST_QUERY:,} bytes after ?")
        if self._hosts is not None:
            host = _header(scope, b"host").decode("latin-1").rpartition("@")[2]
            name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]
            if name.lower() not in self._hosts:
                raise Problem(
                    421, "this server answers to localhost only: allow other names with --allow-host"
                )

    def _check_call(self, scope: Scope, path: str) -> None:
        """Raise if a call is no POST of JSON, or lacks the token."""
        if scope["method"] != "POST":
            raise Problem(405, f"{path} is called with POST", ((b"allow", b"POST"),))
        if path in self._secret:
            self._check_token(scope, path)
        kind = _header(scope, b"content-type").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            raise Problem(415, "send JSON, with the header Content-Type: application/json")

    def _check_token(self, scope: Scope, path: str) -> None:
        if self._token is None:
            if path in ("/release", "/retract"):
                raise Problem(403, f"{path} needs a token: start the server with --token-file FILE")
            return
        scheme, _, given = _header(scope, b"authorization").partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self._token.encode()):
            text = "the token is missing or wrong: send the header Authorization: Bearer TOKEN"
            raise Problem(401, text, ((b"www-authenticate", b"Bearer"),))

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The body, up to the limit of its size and of the time."""
        most = self._limits.body
        length = _header(scope, b"content-length")
        if length.isdigit() and int(length[:18]) > most:
            raise Problem(413, f"a body of {int(length[:18]):,} bytes, and the limit is {most:,}")
        parts: list[bytes] = []
        total = 0
        try:
            async with asyncio.timeout(self._limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    parts.append(message.get("body", b""))
                    total += len(parts[-1])
                    if total > most:
                        raise Problem(413, f"a body of more than {most:,} bytes, which is the limit")
                    if not message.get("more_body"):
                        return parts[0] if len(parts) == 1 else b"".join(parts)
        except TimeoutError:
            raise Problem(408, f"the body did not arrive within {self._limits.seconds:g} s") from None

    # -- calls that change something

    async def _predict(self, body: bytes, query: dict[str, str]) -> Any:
        sent, future = self.service.predict(READ_PREDICT.decode(body), query.get("key"))
        found = None if future is None else await future
        return {"predictions": self.service.settled(sent, found)}

    async def _label(self, body: bytes, query: dict[str, str]) -> Any:
        ids, future = self.service.label(READ_LABEL.decode(body))
        statuses = await future
        self.service.learner.wake()
        return {"labels": [{"id": id, "status": status} for id, status in zip(ids, statuses, strict=True)]}

    async def _learn(self, body: bytes, query: dict[str, str]) -> Any:
        count, future = self.service.learn(READ_LEARN.decode(body), query.get("key"))
        new = await future
        self.service.learner.wake()
        return {"accepted": new, "repeated": count - new}

    async def _change(self, what: str, body: bytes, query: dict[str, str]) -> Any:
        future = self.service.change(what, READ_ROWS.decode(body))
        try:
            return await asyncio.wrap_future(future)
        except Refusal as problem:  # of the run: the call was well made
            raise Problem(409, str(problem)) from None

    # -- calls that only show

    async def _page(self, request: Request) -> Response:
        html, tag = await asyncio.to_thread(self._shown.html)
        headers = {"etag": tag, "cache-control": "no-cache", "content-security-policy": self._shown.policy}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return HTMLResponse(html, headers=headers)

    async def _docs(self, request: Request) -> Response:
        return HTMLResponse(_docs())

    async def _openapi(self, request: Request) -> Response:
        return _json(openapi())

    async def _model(self, request: Request) -> Response:
        return _json(self.service.model())

    async def _errors(self, request: Request) -> Response:
        return _json({"errors": await asyncio.to_thread(self.service.errors)})

    async def _audit(self, request: Request) -> Response:
        limit, after = _whole(request, "limit", 100), _whole(request, "after", None)
        assert limit is not None
        if not 1 <= limit <= 1_000:
            raise Problem(422, f"limit is from 1 to 1000: got {limit}")
        return _json(await asyncio.to_thread(self.service.audit, limit, after))

    async def _health(self, request: Request) -> Response:
        well, found = self.service.health()
        return _json(found, 200 if well else 503)

    async def _metrics(self, request: Request) -> Response:
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _events(self, request: Request) -> Response:
        events = self.service.events
        if events.clients() >= self._limits.streams:
            raise Problem(429, f"{self._limits.streams} clients listen already, which is the limit", _LATER)
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isascii() and last.isdigit() and len(last) < 16 else 0
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(events.stream(after), media_type="text/event-stream", headers=headers)


def _in_words(problem: Exception) -> tuple[int, str, tuple[tuple[bytes, bytes], ...]]:
    """Status, sentence and headers."""
    if isinstance(problem, Problem):
        return problem.status, str(problem), problem.headers
    if isinstance(problem, Conflict):
        return 409, str(problem), ()
    if isinstance(problem, Full):
        return 429, str(problem), _LATER
    if isinstance(problem, Refusal | msgspec.ValidationError):
        return 422, str(problem), ()
    if isinstance(problem, msgspec.DecodeError | RecursionError | UnicodeDecodeError):
        return 400, f"the body is not JSON that this server reads: {problem}", ()
    import sqlite3

    if isinstance(problem, OSError | sqlite3.Error):
        return 503, f"cannot be written: {problem}", _LATER
    import traceback

    traceback.print_exception(problem)
    return 500, "a mistake in holdfast; the server goes on, and its log has the details", ()


async def _send(send: Send, status: int, body: bytes, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*_HEADERS, length, *headers]})
    await send({"type": "http.response.body", "body": body})


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _query(scope: Scope) -> dict[str, str]:
    text = scope.get("query_string", b"")
    if not text:
        return {}
    try:
        found = parse_qs(text.decode("ascii"), keep_blank_values=True, max_num_fields=20, errors="strict")
    except ValueError:
        raise Problem(400, "the part of the address after ? cannot be read") from None
    if any(len(values) > 1 for values in found.values()):
        raise Problem(422, "a name after ? is there twice")
    return {name: values[0] for name, values in found.items()}


def _whole(request: Request, name: str, default: int | None) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise Problem(422, f"{name} is a whole number of at least 0")
    return int(text)


def _json(found: Any, status: int = 200) -> Response:
    return Response(
        _encode(found), status, media_type="application/json", headers={"cache-control": "no-store"}
    )


@cache
def _docs() -> str:
    return render("serve_docs.html", api=openapi())
