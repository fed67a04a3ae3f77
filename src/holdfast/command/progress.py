"""How far a run is, on one line of a terminal; nothing in a pipe."""

import sys
import time

_OFTEN = 0.2  # seconds between two looks


class Bar:
    """Rounds a second, the share skipped, the error so far and the time left."""

    def __init__(self, quiet):
        self.quiet = quiet or not sys.stderr.isatty()
        self.start, self.shown, self.first, self.begun = time.monotonic(), 0.0, None, None

    def __call__(self, run, source, read):
        now = time.monotonic()
        if self.first is None:
            self.first, self.begun = run.trace.rounds, read
        if self.quiet or now - self.shown < _OFTEN:
            return
        self.shown = now
        print(
            f"\r\033[K{self.line(run, source, read, now - self.start)}", end="", file=sys.stderr, flush=True
        )

    def line(self, run, source, read, spent):
        rounds, error = run.trace.rounds, run.trace.errors()[1]
        speed = (rounds - self.first) / max(spent, 1e-9)
        words = [
            f"{rounds:,} rounds",
            f"{speed:,.0f}/s",
            f"{100 * run.trace.sums[4] / max(rounds, 1):.2g} % skipped",
        ]
        words += [f"error {error:.4g}"] if error is not None else []
        if source.size and read:
            share = min(read / source.size, 1.0)
            filled = round(20 * share)
            new = max(read - (self.begun or 0), 0)
            left = f"{spent / new * (source.size - read):.0f} s left" if new else ""
            return f"{'█' * filled}{'░' * (20 - filled)} {100 * share:3.0f} %  " + ", ".join(
                [*words, left]
            ).rstrip(", ")
        return ", ".join(words)

    def end(self):
        if not self.quiet:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
