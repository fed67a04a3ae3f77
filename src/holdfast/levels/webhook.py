"""Send events to a web address, without ever stopping what found them."""

import logging
import queue
import threading
from typing import Any

from holdfast.levels.alarms import Event

_LOG = logging.getLogger("holdfast")


class Webhook:
    """POST each event as JSON to an address, from a thread of its own.

    It returns at once and raises nothing. If the receiver fails, it is tried again, after twice as long each
    time. If it fails `tries` times, or if more than `waiting` events wait, events are dropped, counted in
    `dropped`, and the log says so.

    Parameters:
        url: http or https.
        tries: How often an event is sent.
        waiting: How many events may wait.
        timeout: Seconds to wait for an answer.
        pause: Seconds before the second try.
    """

    def __init__(
        self, url: str, tries: int = 5, waiting: int = 1_000, timeout: float = 10.0, pause: float = 1.0
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"a webhook is an address that begins with http:// or https://: got {url!r}")
        if tries < 1 or waiting < 1:
            raise ValueError(f"tries and waiting are at least 1: got tries={tries} and waiting={waiting}")
        self.url, self.tries, self.timeout, self.pause = url, tries, timeout, pause
        self.dropped = 0
        self._queue: queue.Queue[Event | None] = queue.Queue(waiting)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send_all, name="holdfast webhook", daemon=True)
        self._thread.start()

    def __call__(self, event: Event) -> None:
        """Send an event soon."""
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self._drop(event, "too many events wait")

    def close(self, timeout: float | None = 10.0) -> None:
        """Wait until what is left was sent, at most so many seconds; then no more tries are made."""
        threading.Thread(target=self._queue.put, args=(None,), daemon=True).start()
        self._thread.join(timeout)
        self._stopped.set()

    def __deepcopy__(self, memo: Any) -> "Webhook":
        """The same object: a copy of a model sends its events to the same place."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Webhook, (self.url, self.tries, self._queue.maxsize, self.timeout, self.pause)

    def _send_all(self) -> None:
        for event in iter(self._queue.get, None):
            self._send(event)

    def _send(self, event: Event) -> None:
        pause, reason = self.pause, ""
        for turn in range(self.tries):
            if turn and self._stopped.wait(pause):
                break
            pause = 2.0 * pause if turn else pause
            reason = post(self.url, event.to_json(), self.timeout)
            if not reason:
                return
        self._drop(event, reason)

    def _drop(self, event: Event, reason: str) -> None:
        self.dropped += 1
        _LOG.warning("an event was not sent to the webhook (%s): %s", reason, event)


def post(url: str, text: str, timeout: float) -> str:
    """Send a text; returns why that failed, or an empty string."""
    import urllib.request  # slow to import, and few need it

    headers = {"Content-Type": "application/json", "User-Agent": "holdfast"}
    request = urllib.request.Request(url, text.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout):
            return ""
    except (OSError, ValueError) as problem:  # all errors of urllib are OSErrors
        return str(problem) or type(problem).__name__
