"""`holdfast trials --zoo`: the default estimators on awkward tables, as text and as markdown."""

import math

import numpy as np

from holdfast._compiled.compiling import expecting
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import written_by
from holdfast_lab.trials.table import ratio
from holdfast_lab.trials.zoo import ZOO
from holdfast_lab.trials.zoo_measures import WAYS, default_estimator, measure

MARKERS = ("<!-- holdfast trials --zoo: begin -->", "<!-- holdfast trials --zoo: end -->")
QUICK = (
    "rare 0/1",
    "months and hours",
    "60% 0 + 1e-15",
    "60% 0 + 1e-3",
    "max(sin, 0)",
    "rain in spells",
    "stuck",
    "counter: old rows",
    "epoch seconds: new rows",
    "collinear",
    "codes",
    "lognormal, values",
    "y 75% 0, explained",
    "y 75% 0, unexplained",
    "y counts, mean 5",
)


def hold_zoo_trials(quick=False, page=None, names=None, estimator=default_estimator):
    """Measure and print; with `page`, write the table into that file."""
    tell(f"{'':34}{'peer':>9}" + "".join(f"{way:>19}" for way in WAYS))
    rows = []
    for name, labels in cases(names or (QUICK if quick else ZOO)):
        overwrite(name)
        with expecting(math.inf):  # compiling takes a minute, playing all of it in Python takes ten
            rows.append(measure(name, labels, quick, estimator))
        tell(_line(rows[-1]))
    tell("", summary(rows), *notes(rows))
    if page is not None:
        about = written_by(f"holdfast trials --zoo{' --quick' if quick else ''} --write {page.name}")
        put_between_markers(page, markdown(rows, about), MARKERS)


def cases(names):
    """Each animal with numbers and, if it has some, with labels."""
    return [(name, labels) for name in names for labels in (False, True)[: 1 + ZOO[name].labels]]


def summary(rows):
    """In how many tables all goals are met, and in how many each of them."""
    missed = np.array([row.missed() for row in rows if not ZOO[row.animal].remark]).reshape(-1, len(WAYS))
    ways = zip(WAYS.items(), (~missed).sum(axis=0), strict=True)
    each = ", ".join(f"{way} (at most {most:.2f}): {within}" for (way, most), within in ways)
    return f"In {(~missed).all(axis=1).sum()} of {len(missed)} within the goal; {each}."


def notes(rows):
    """What the signs of the table mean, and why an animal has no goal."""
    signs = [
        "† The peer has no error: ours is divided by 0.1 % of the mean absolute deviation of the target."
    ]
    remarks = dict.fromkeys(row.animal for row in rows if ZOO[row.animal].remark)
    return signs * any(row.floored for row in rows) + [f"{name}: {ZOO[name].remark}" for name in remarks]


def _line(row):
    figures = "".join(f"{figure:>19}" for figure in _figures(row, "{} !"))
    return f"{row.name:34}{_peer(row):>9}{figures}"


def _figures(row, mark):
    """The ratios as text, with a mark where a goal is missed."""
    return [
        mark.format(ratio(r)) if missed else ratio(r)
        for r, missed in zip(row.ratios, row.missed(), strict=True)
    ]


def _peer(row):
    return f"{row.peer[0]:.3g}" + "†" * row.floored


def markdown(rows, about):
    lines = [f"| table | peer | {' | '.join(WAYS)} |", "|---|--:|" + "--:|" * len(WAYS)]
    for row in rows:
        lines.append(f"| {row.name} | {_peer(row)} | {' | '.join(_figures(row, '**{}**'))} |")
    return "\n".join([*lines, "", "\n\n".join([summary(rows), *notes(rows), about]), ""])
