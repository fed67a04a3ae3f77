"""`holdfast learners`: the tables of docs/learners.md, printed and put in their places."""

import datetime
import math
import sys
from importlib import metadata

from holdfast import __version__
from holdfast.bench.runner import describe
from holdfast.bench.table import put_between_markers
from holdfast.trials.learners import DIMS, ENTRIES, FULL, QUICK, measure

MARKERS = ("<!-- holdfast learners: begin -->", "<!-- holdfast learners: end -->")
_HEAD = ("learner", "stream", "clean", "1 % outliers", "with filter", *(f"µs, d = {dim}" for dim in DIMS))


def compare_learners(quick=False, page=None, entries=ENTRIES, scale=None):
    """Measure all learners and print; with `page`, leave the table in that file."""
    lines = []
    print(_text(_HEAD))
    for name in entries:
        _say(f"{name}: compiling and measuring")
        lines.append(cells(measure(name, scale or (QUICK if quick else FULL), entries)))
        print(_text(lines[-1]), flush=True)
    if page is not None:
        put_between_markers(page, markdown(lines, _about(quick, page)), MARKERS)


def cells(line):
    """A line of figures as words."""
    regrets = (regret(line.clean), regret(line.outliers), regret(line.filtered))
    return (line.name, line.stream, *regrets, *(_microseconds(value) for value in line.microseconds))


def regret(value):
    if not math.isfinite(value):
        return "fails"
    return f"{value:.4f}" if abs(value) < 10.0 else f"{value:.0e}"


def _microseconds(value):
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if value < 1.0 else f"{value:.1f}" if value < 100.0 else f"{value:,.0f}"


def markdown(lines, about):
    head = [f"| {' | '.join(_HEAD)} |", "|---|---|" + "--:|" * (len(_HEAD) - 2)]
    return "\n".join([*head, *(f"| {' | '.join(line)} |" for line in lines), "", about, ""])


def _text(words):
    name, stream, *figures = (word.replace("`", "") for word in words)
    return f"{name:32}{stream:10}" + "".join(f"{figure:>14}" for figure in figures)


def _about(quick, page):
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    command = f"holdfast learners{' --quick' if quick else ''} --write {page.name}"
    day, machine = datetime.date.today().isoformat(), describe()["machine"]
    return f"Written by `{command}` on {day}: {machine}; holdfast {__version__}, {versions}."


def _say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}\r", end="", file=sys.stderr, flush=True)
