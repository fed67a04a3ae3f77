"""Timing: all cases of a race take turns, so that a busy minute hits them alike."""

import contextlib
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


def _silence(text):
    pass


class Run(NamedTuple):
    """How much is measured, where there is room for files, and whom to tell how far it is."""

    scale: str  # "full", "quick" or "tiny"
    to: Path  # for what stays
    scratch: Path  # for what does not
    say: Callable[[str], None] = _silence
    disk: Path | None = None  # another disk, to play a large file from as well

    def amount(self, full, quick, tiny) -> Any:
        return {"full": full, "quick": quick, "tiny": tiny}[self.scale]

    @property
    def compiled(self):
        """In a tiny run nothing is, and no figure means anything."""
        return self.scale != "tiny"


class Times(NamedTuple):
    """The seconds of each case, one for every turn."""

    seconds: dict[str, list[float]]

    def median(self, name):
        return statistics.median(self.seconds[name])

    def ratio(self, name, other):
        """The median over the turns of how much longer one case took than another in the same turn."""
        pairs = zip(self.seconds[name], self.seconds[other], strict=True)
        return statistics.median(a / b for a, b in pairs)


def race(run, title, cases, repeats):
    """Call each case once for warmth, then in every turn; a case returns the seconds it took.

    Each turn begins with another case, so that none always follows the same one.
    """
    names = list(cases)
    for i, name in enumerate(names):
        run.say(f"{title}: warming up, {i} of {len(names)}")
        cases[name]()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeats):
        run.say(f"{title}: {turn} of {repeats} turns")
        first = turn % max(len(names), 1)
        for name in names[first:] + names[:first]:
            seconds[name].append(cases[name]())
    run.say("")
    return Times(seconds)


@contextlib.contextmanager
def one_core():
    """One core for this process and what it starts, where the system can do that: ours uses no more."""
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
    """A case: how long the call takes, divided by `per`."""

    def case():
        start = time.perf_counter()
        function(*args, **options)
        return (time.perf_counter() - start) / per

    return case
