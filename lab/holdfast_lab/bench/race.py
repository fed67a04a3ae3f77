"""Measure times: all cases of a race take turns, so that other load slows down all of them."""

import contextlib
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


def _ignore(text):
    pass


class BenchRun(NamedTuple):
    """How much is measured, where files are written, and a function that shows the progress."""

    scale: str  # "full", "quick" or "tiny"
    to: Path  # folder of the results
    scratch: Path  # folder of temporary files
    show: Callable[[str], None] = _ignore
    disk: Path | None = None  # a folder on another disk, to play a large file from

    def amount(self, full, quick, tiny) -> Any:
        return {"full": full, "quick": quick, "tiny": tiny}[self.scale]

    @property
    def compiled(self):
        """False in a tiny run, whose figures have no meaning."""
        return self.scale != "tiny"


class Times(NamedTuple):
    """The seconds of each case, one for every turn."""

    seconds: dict[str, list[float]]

    def median(self, name):
        return statistics.median(self.seconds[name])

    def ratio(self, name, other):
        """The median over the turns of the time of one case divided by that of another in the same turn."""
        pairs = zip(self.seconds[name], self.seconds[other], strict=True)
        return statistics.median(a / b for a, b in pairs)


def race(run, title, cases, repeats):
    """Call each case once as a warm-up, then in every turn; a case returns the seconds it took.

    Each turn begins with another case.
    """
    names = list(cases)
    for i, name in enumerate(names):
        run.show(f"{title}: warming up, {i} of {len(names)}")
        cases[name]()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeats):
        run.show(f"{title}: {turn} of {repeats} turns")
        first = turn % max(len(names), 1)
        for name in names[first:] + names[:first]:
            seconds[name].append(cases[name]())
    run.show("")
    return Times(seconds)


@contextlib.contextmanager
def one_core():
    """Bind this process and its children to one core, where the system allows it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def timed(function, *args, per=1, **options):
    """A case that returns the time of the call, divided by `per`."""

    def case():
        start = time.perf_counter()
        function(*args, **options)
        return (time.perf_counter() - start) / per

    return case
