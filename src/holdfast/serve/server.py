"""Run the application with uvicorn."""

import asyncio
import secrets
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from holdfast.serve.app import App
from holdfast.serve.service import Service
from holdfast.terminal import Refusal

LOCAL = ("localhost", "127.0.0.1", "::1")
_SWITCH = 0.001  # seconds; a prediction waits so long for a thread that is in Python
_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Together:
    """A transport that writes the head and the body of an answer in one call of the system."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Protocol(HttpToolsProtocol):
    """HTTP that closes a connection whose head does not arrive in time, and one too many."""

    seconds, most = 10.0, 2_000
    _open = 0  # connections of this process

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Together(transport, self.loop))  # type: ignore[arg-type]
        Protocol._open += 1
        self._deadline: asyncio.TimerHandle | None = None
        if Protocol._open > self.most:
            transport.close()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        Protocol._open -= 1
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def _expect_head(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(self.seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def check_address(host: str, token: str | None) -> None:
    """Raise if other machines could change the model without a token."""
    if host not in LOCAL and token is None:
        raise Refusal(
            f"--host {host} lets other machines change the model: give --token-file FILE, or leave --host "
            "out to answer to this machine only"
        )


def read_token(path: Path) -> str:
    """The token in a file: its only line, of at least 16 characters."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise Refusal(
            f"--token-file {path}: {getattr(problem, 'strerror', None) or 'not a text of ASCII'}"
        ) from None
    if len(token) < 16 or not token.isprintable() or " " in token:
        raise Refusal(
            f"--token-file {path} must have one line of at least 16 characters without blanks, such as "
            f"{secrets.token_urlsafe(24)}"
        )
    return token


def serve(
    service: Service,
    host: str,
    port: int,
    token: str | None,
    allowed: tuple[str, ...] = (),
    ready: Callable[[str], object] = lambda address: None,
    open_predict: bool = False,
) -> None:
    """Answer until a signal comes, then learn what waits, and save.

    At an address that other machines reach, predictions need the token, unless `open_predict`.
    """
    check_address(host, token)
    hosts = _HOSTS | {name.lower() for name in allowed} if host in LOCAL or allowed else None
    app = App(service, token, hosts, guarded=host not in LOCAL and not open_predict)
    Protocol.seconds, Protocol.most = service.limits.seconds, service.limits.connections
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,  # else the handlers of this process are closed
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=1 << 16,
        backlog=512,
    )
    sys.setswitchinterval(_SWITCH)
    try:
        bound = _bound(host, port)
    except BaseException:
        service.close()
        raise
    server = _Server(config, service, ready)
    try:
        server.run([bound])
    finally:
        if not server.started:
            service.close()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as problem:
        found.close()
        raise Refusal(
            f"cannot answer at {host}, port {port}: {problem.strerror or problem}: choose another --port"
        ) from None
    return found


class _Server(uvicorn.Server):
    """A server that says when it answers, and at which address."""

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[str], object]) -> None:
        super().__init__(config)
        self._service, self._ready = service, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = sockets[0].getsockname()[:2] if sockets else ("", 0)
            self._ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.events.close()  # these calls would never end
        await super().shutdown(sockets)
