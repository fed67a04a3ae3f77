"""Server-sent events: skipped rows, alarms, releases and retractions, to whoever listens."""

import asyncio
import datetime
import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

_MOST = 100  # events that wait for a slow client; it loses the oldest
_BEAT = 15.0  # seconds between two comments, which show that the connection is alive


class Events:
    """What happens in the server. `tell` may be called in any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._clients: dict[asyncio.Event, deque[tuple[int, str]]] = {}
        self.recent: deque[tuple[int, str]] = deque(maxlen=_MOST)
        self.past: deque[dict[str, Any]] = deque(maxlen=_MOST)  # for the page
        self.counts: dict[str, int] = {}
        self._number, self._closed = 0, False

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def tell(self, event: dict[str, Any]) -> None:
        if self._loop is None:
            self._tell(event)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, event)

    def _tell(self, event: dict[str, Any]) -> None:
        event = event | {"at": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")}
        self._remember(event)
        name = str(event["event"])
        self.counts[name] = self.counts.get(name, 0) + 1
        self._number += 1
        self.recent.append(
            (self._number, f"id: {self._number}\nevent: {name}\ndata: {json.dumps(event)}\n\n")
        )
        for wake, waiting in self._clients.items():
            waiting.append(self.recent[-1])
            wake.set()

    def _remember(self, event: dict[str, Any]) -> None:
        """Note an event for the page. Skips that follow each other are one, so that they hide nothing."""
        last = self.past[-1] if self.past else event
        if last is not event and last["event"] == event["event"] == "skips":
            since = last.get("since", last["at"])
            event = event | {"since": since, "count": last["count"] + event["count"]}
            self.past.pop()
        self.past.append(event)

    def close(self) -> None:
        self._closed = True
        for wake in self._clients:
            wake.set()

    def clients(self) -> int:
        return len(self._clients)

    async def stream(self, after: int) -> AsyncIterator[str]:
        """The events after this number, then new ones."""
        wake = asyncio.Event()
        waiting: deque[tuple[int, str]] = deque((one for one in self.recent if one[0] > after), maxlen=_MOST)
        self._clients[wake] = waiting
        try:
            yield ": holdfast\n\n"
            while not self._closed:
                while waiting:
                    yield waiting.popleft()[1]
                wake.clear()
                try:
                    await asyncio.wait_for(wake.wait(), _BEAT)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            del self._clients[wake]
