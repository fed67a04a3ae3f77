"""The page for people: how the model does, what it skipped, what waits, and buttons to change that.

It is one HTML page, made here; a short script fetches it again when something happens. It is made at most
once a second, and what it shows of the run once for each checkpoint, however many look at it.
"""

import base64
import contextlib
import hashlib
import math
import threading
import time
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from holdfast import __version__
from holdfast.pages.render import environment, render
from holdfast.runs.checkpoint import CHECKPOINT
from holdfast.runs.run import open_run
from holdfast.serve import page_parts as parts
from holdfast.terminal import Refusal

if TYPE_CHECKING:
    from holdfast.serve.service import Service

_FRESH = 1.0  # seconds
_NOW = "1970-01-01 00:00:00 UTC"  # replaced by the time
_MEDIANS = (
    "Each label was compared with the forecast that was given for its id, however long ago. The line is the "
    "median of these errors at that time, which a few wrong rows do not move."
)
_MISTAKES = (
    "Each label was compared with the forecast that was given for its id, however long ago. The line is the "
    "share of mistakes at that time; dashed is that of the baseline, the most frequent label."
)


class Page:
    """The page of a server. `html` may be called in several threads."""

    def __init__(self, service: "Service", has_token: bool) -> None:
        self._service, self._has_token = service, has_token
        self._making = threading.Lock()
        self._made, self._html = -math.inf, ("", "")
        self._checkpoint: Any = None
        self._of_run = parts.RunPart([], [], [])
        self._script = environment().get_template("serve.js").render()
        digest = base64.b64encode(hashlib.sha256(self._script.encode()).digest()).decode()
        # Content-Security-Policy: nothing but the script of the page, and calls of this server
        self.policy = (
            f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    def html(self) -> tuple[str, str]:
        """The page, made now or less than a second ago, and a tag that is another one if the page is."""
        with self._making:
            if time.monotonic() - self._made > _FRESH:
                view = self._view()
                page = render("serve.html", view=view, script=Markup(self._script), version=__version__)
                tag = f'"{hashlib.sha256(page.encode()).hexdigest()[:32]}"'
                self._html = page.replace(_NOW, parts.time_words(self._service.clock())), tag
                self._made = time.monotonic()
            return self._html

    def _view(self) -> dict[str, Any]:
        """What the template shows."""
        found, errors = self._service.model(), self._service.errors()
        labels, events = found["labels_by_status"], list(self._service.events.past)
        problem = [f"it does not learn: {found['problem']}"] if found["problem"] else []
        view = {
            "name": found["run"],
            "target": found["target"],
            "now": _NOW,
            "cards": list(parts.cards(found)),
            "warnings": [*problem, *found["warnings"]],
            "errors": parts.error_plot(errors, found),
            "errors_are": _MEDIANS if found["task"] == "regression" else _MISTAKES,
            "alarms": [parts.event_line(event) for event in events[: -parts.ROWS - 1 : -1]],
            "waiting": parts.waiting(found),
            "labels": [(name, labels[name], words) for name, words in parts.LABELS.items()],
            "has_token": self._has_token,
        }
        return view | self._run_part()._asdict()

    def _run_part(self) -> parts.RunPart:
        """What the page shows of the run; made again if there is a new checkpoint."""
        with contextlib.suppress(OSError, Refusal):  # it is being written: next time
            stat = (self._service.path / CHECKPOINT).stat()
            checkpoint = stat.st_ino, stat.st_mtime_ns
            if checkpoint != self._checkpoint:
                self._of_run = parts.run_part(open_run(self._service.path))
                self._checkpoint = checkpoint
        return self._of_run
