"""`holdfast learners`: the tables of docs/benchmarks.md, printed and written into the page."""

import datetime
import math
from importlib import metadata

from holdfast import __version__
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.runner import describe
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.experts import DATA, FILTERS, available, compare_experts, references
from holdfast_lab.trials.learners import DIMS, ENTRIES, FULL, QUICK, measure

MARKERS = ("<!-- holdfast learners: begin -->", "<!-- holdfast learners: end -->")
EXPERTS = ("<!-- holdfast learners --data: begin -->", "<!-- holdfast learners --data: end -->")
_SEEDS = 5
_HEAD = (
    "learner",
    "stream",
    "clean",
    "one outlier",
    "1 % outliers",
    "with filter",
    *(f"µs, d = {dim}" for dim in DIMS),
)


def compare_learners(quick=False, page=None, entries=ENTRIES, scale=None):
    """Measure all learners and print; with `page`, write the table into that file."""
    lines = []
    tell(_text(_HEAD))
    for name in entries:
        overwrite(f"{name}: compiling and measuring")
        lines.append(cells(measure(name, scale or (QUICK if quick else FULL), entries)))
        tell(_text(lines[-1]))
    if page is not None:
        put_between_markers(page, markdown(lines, about(quick, page)), MARKERS)


def compare_on_data(folder, quick=False, page=None, compiled=True):
    """The same for experts on the data sets of a folder."""
    head, lines, notes = ("data", "corruption", "learner", *FILTERS), [], []
    names = available(folder)
    tell(_wide(head))
    for name in names:
        for result in compare_experts(folder, name, 1 if quick else _SEEDS, compiled):
            scores = (f"{result.scores[filter]:.2f}" for filter in FILTERS)
            lines.append((result.data, result.kind, result.learner, *scores))
            tell(_wide(lines[-1]))
        uniform, best = references(folder, name)
        notes.append(
            f"- {name}: {DATA[name].score}. Equal weights {uniform:.2f}, the best expert {best:.2f}."
        )
    tell("", *notes)
    if page is not None:
        rows = [f"| {' | '.join(head)} |", "|---|---|---|" + "--:|" * len(FILTERS)]
        rows += [f"| {' | '.join(line)} |" for line in lines]
        put_between_markers(
            page, "\n".join([*rows, "", *notes, "", about(quick, page, " --data FOLDER"), ""]), EXPERTS
        )


def _wide(words):
    return f"{words[0]:14}{words[1]:20}{words[2]:10}" + "".join(f"{word:>16}" for word in words[3:])


def cells(line):
    """A line of figures as text."""
    regrets = map(regret, (line.clean, line.single, line.outliers, line.filtered))
    return (line.name, line.stream, *regrets, *(_microseconds(value) for value in line.microseconds))


def regret(value):
    if not math.isfinite(value):
        return "fails"
    return f"{value:.4f}" if abs(value) < 10.0 else f"{value:.0e}"


def _microseconds(value):
    return f"{value:.2f}" if value < 1.0 else f"{value:.1f}" if value < 100.0 else f"{value:,.0f}"


def markdown(lines, note):
    head = [f"| {' | '.join(_HEAD)} |", "|---|---|" + "--:|" * (len(_HEAD) - 2)]
    return "\n".join([*head, *(f"| {' | '.join(line)} |" for line in lines), "", note, ""])


def _text(words):
    name, stream, *figures = (word.replace("`", "") for word in words)
    return f"{name:32}{stream:10}" + "".join(f"{figure:>14}" for figure in figures)


def about(quick, page, data=""):
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    command = f"holdfast learners{data}{' --quick' if quick else ''} --write {page.name}"
    day, machine = datetime.date.today().isoformat(), describe()["machine"]
    return f"Written by `{command}` on {day}: {machine}; holdfast {__version__}, {versions}."
