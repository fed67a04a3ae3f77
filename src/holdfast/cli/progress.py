"""How far a run is: on one line of a terminal, as JSON for machines, or not at all."""

import sys
import time

from holdfast.terminal import overwrite, progress_line, say, show


class Progress:
    """Looks at a run every now and then; by itself it says nothing."""

    often = 0.2  # seconds between two looks

    def __init__(self):
        self.start, self.shown, self.first, self.begun = 0.0, 0.0, None, None

    def __call__(self, run, source, read):
        now = time.monotonic()
        if self.first is None:  # the time that starting and compiling took says nothing about the rest
            self.first, self.begun, self.start, self.shown = run.trace.rounds, read, now, now
        if now - self.shown >= self.often:
            self.shown = now
            self.tell(self.figures(run, source, read, now - self.start))

    def figures(self, run, source, read, spent):
        """Rounds a second, the share skipped, the error so far, how much is done and the time left."""
        rounds, error = run.trace.rounds, run.trace.errors()[1]
        found = {
            "rounds": rounds,
            "rounds_a_second": round((rounds - self.first) / spent) if spent > 0.0 else None,
            "skipped_share": float(run.trace.sums[4]) / max(rounds, 1),
            "error": error,
            "done_share": None,
            "seconds_left": None,
        }
        if source.size and read:
            found["done_share"], new = min(read / source.size, 1.0), read - (self.begun or 0)
            found["seconds_left"] = spent / new * max(source.size - read, 0) if new > 0 else None
        return found

    def tell(self, figures):
        pass

    def note(self, text):
        """Say why it takes a while."""

    def end(self):
        pass


class Noted(Progress):
    """In a pipe: only what there is to say in sentences."""

    def note(self, text):
        say(text)


class Bar(Progress):
    """A line of a terminal that is written over and over."""

    def tell(self, figures):
        overwrite(line(figures))

    def note(self, text):
        overwrite("")
        say(text)

    def end(self):
        overwrite("")


class Events(Progress):
    """JSON lines on standard output."""

    often = 2.0

    def tell(self, figures):
        show({"event": "progress"} | figures)

    def note(self, text):
        show({"event": "note", "text": text})


def progress_for(quiet, json=False):
    """What fits where one stands."""
    if json:
        return Events()
    if quiet:
        return Progress()
    return Bar() if sys.stderr.isatty() else Noted()


def line(figures):
    words = [f"{figures['rounds']:,} rounds"]
    words += [f"{figures['rounds_a_second']:,}/s"] if figures["rounds_a_second"] is not None else []
    words += [f"{100 * figures['skipped_share']:.2g} % skipped"]
    words += [f"error {figures['error']:.4g}"] if figures["error"] is not None else []
    words += [f"{figures['seconds_left']:.0f} s left"] if figures["seconds_left"] is not None else []
    told, share = ", ".join(words), figures["done_share"]
    return told if share is None else progress_line(share, told)
