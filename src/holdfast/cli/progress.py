"""Report the progress of a run: on one line of a terminal, as JSON, or not at all."""

import sys
import time
from typing import TYPE_CHECKING, Any

from holdfast.terminal import ProgressLine, is_live, percent, print_json, print_note, shown

if TYPE_CHECKING:
    from holdfast.io.sources import Source
    from holdfast.runs.run import Run


class Progress:
    """Computes figures of a run at intervals, which subclasses report. In a pipe there are only notes."""

    interval = 0.2  # seconds

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.start: float | None = None
        self.reported = 0.0
        self.first_round = self.first_byte = 0

    def __call__(self, run: "Run", source: "Source", read: int | None) -> None:
        """Report if the interval is over. `read` counts the bytes of the source that were read."""
        now = time.monotonic()
        if self.start is None:  # the time to start and to compile says nothing about the speed
            self.start, self.reported = now, now
            self.first_round, self.first_byte = run.trace.rounds, read or 0
        if now - self.reported >= self.interval:
            self.reported = now
            self.report(self._figures(run, source, read, now - self.start), source, read)

    def _figures(self, run: "Run", source: "Source", read: int | None, spent: float) -> dict[str, Any]:
        rounds = run.trace.rounds
        found = {
            "rounds": rounds,
            "rounds_a_second": round((rounds - self.first_round) / spent) if spent > 0.0 else None,
            "skipped_share": run.trace.skipped / max(rounds, 1),
            "error": run.trace.errors()[1],
            "done_share": None,
            "seconds_left": None,
        }
        if source.size and read:
            new = read - self.first_byte
            found["done_share"] = min(read / source.size, 1.0)
            found["seconds_left"] = spent / new * max(source.size - read, 0) if new > 0 else None
        return found

    def report(self, figures: dict[str, Any], source: "Source", read: int | None) -> None:
        pass

    def note(self, text: str) -> None:
        """Say why something takes long."""
        if not self.quiet:
            print_note(text)

    def end(self) -> None:
        pass


class Bar(Progress):
    """On a terminal: one line that is overwritten."""

    def __init__(self) -> None:
        super().__init__()
        self.line = ProgressLine()

    def report(self, figures: dict[str, Any], source: "Source", read: int | None) -> None:
        self.line.show(in_words(figures), read or 0, source.size)

    def note(self, text: str) -> None:
        self.line.clear()
        super().note(text)

    def end(self) -> None:
        self.line.clear()


class Events(Progress):
    interval = 2.0

    def report(self, figures: dict[str, Any], source: "Source", read: int | None) -> None:
        print_json({"event": "progress"} | figures)

    def note(self, text: str) -> None:
        print_json({"event": "note", "text": text})


def progress_for(quiet: bool, json: bool = False) -> Progress:
    if json:
        return Events()
    return Bar() if is_live(sys.stderr) and not quiet else Progress(quiet)


def in_words(figures: dict[str, Any]) -> str:
    words = [f"{figures['rounds']:,} rows"]
    words += [f"{figures['rounds_a_second']:,}/s"] if figures["rounds_a_second"] is not None else []
    words += [f"{percent(figures['skipped_share'])} skipped"]
    words += [f"error {shown(figures['error'])}"] if figures["error"] is not None else []
    return ", ".join(words)
