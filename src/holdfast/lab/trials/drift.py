"""`holdfast trials --drift`: how large errors are when a change is over."""

import importlib.util
from typing import NamedTuple

import numpy as np

from holdfast.lab.bench.table import put_between_markers
from holdfast.lab.trials.about import written_by
from holdfast.lab.trials.contestants import AFTER_A_CHANGE, FADING, OURS
from holdfast.lab.trials.corruptions import untouched
from holdfast.lab.trials.drift_streams import CHANGE, OF_RIVER, OWN, make
from holdfast.lab.trials.table import Goal, ratio, width
from holdfast.terminal import overwrite, tell

MARKERS = ("<!-- holdfast trials --drift: begin -->", "<!-- holdfast trials --drift: end -->")
SETTLED = 2_500  # rounds after the change, from which on errors count
_SEEDS = 3


class DriftRow(NamedTuple):
    """One stream: the error of SGD with a fading scale, and each error over it, as medians over the seeds."""

    kind: str
    error: float
    ratios: dict[str, float]


def hold_drift_trials(quick=False, page=None, kinds=None, contestants=AFTER_A_CHANGE):
    """Measure and print; with `page`, write the table into that file."""
    has_river = importlib.util.find_spec("river") is not None
    kinds = kinds or [*OWN, *(OF_RIVER if has_river else ())]
    tell(_header(contestants))
    rows = []
    for kind in kinds:
        rows.append(measure(kind, 1 if quick else _SEEDS, contestants))
        tell(_line(rows[-1], contestants))
    tell("", *map(str, goals(rows)))
    if not has_river:
        tell(f"River is not installed, so these are missing: {', '.join(OF_RIVER)}.")
    if page is not None:
        about = written_by(f"holdfast trials --drift{' --quick' if quick else ''} --write {page.name}")
        put_between_markers(page, markdown(rows, about, contestants), MARKERS)


def measure(kind, seeds, contestants=AFTER_A_CHANGE):
    runs = []
    for seed in range(seeds):
        overwrite(f"{kind}: seed {seed}")
        runs.append(_errors(make(kind, seed), contestants))
    ratios = {name: float(np.median([run[name] / run[FADING] for run in runs])) for name in runs[0]}
    return DriftRow(kind, float(np.median([run[FADING] for run in runs])), ratios)


def _errors(table, contestants):
    """The mean error of each contestant that can play; NaN if it failed."""
    stream, errors = untouched(table), {}
    for name, contestant in contestants.items():
        if contestant.can_play(table):
            with np.errstate(all="ignore"):
                errors[name] = float(stream.errors(contestant.predict(stream))[CHANGE + SETTLED :].mean())
    return errors


def goals(rows):
    """Ours against SGD with a fading scale."""
    return [_goal(OURS, rows)] if any(OURS in row.ratios for row in rows) else []


def _goal(name, rows):
    played = [row for row in rows if name in row.ratios]
    short = [f"{row.kind} ({ratio(row.ratios[name])})" for row in played if not row.ratios[name] <= 1.05]
    return Goal(f"{name}: at most 5 % behind SGD with a fading scale", len(played), short)


def _shown(contestants):
    return [name for name in contestants if name != FADING]


def _header(contestants):
    return f"{'':20}{FADING:>20}" + "".join(f"{name:>{width(name)}}" for name in _shown(contestants))


def _line(row, contestants):
    figures = "".join(f"{ratio(row.ratios.get(name)):>{width(name)}}" for name in _shown(contestants))
    return f"{row.kind:20}{row.error:>20.4g}{figures}"


def markdown(rows, about, contestants=AFTER_A_CHANGE):
    shown = _shown(contestants)
    lines = [f"| change | {FADING} | {' | '.join(shown)} |", "|---|--:|" + "--:|" * len(shown)]
    for row in rows:
        figures = " | ".join(ratio(row.ratios.get(name)) for name in shown)
        lines.append(f"| {row.kind} | {row.error:.4g} | {figures} |")
    return "\n".join([*lines, "", *(f"- {goal}." for goal in goals(rows)), "", about, ""])
