"""`holdfast trials --drift`: how large errors are when a change is over."""

import importlib.util
import itertools
from typing import NamedTuple

import numpy as np

from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import delay_option, written_by
from holdfast_lab.trials.contestants import AFTER_A_CHANGE, FADING, OURS
from holdfast_lab.trials.corruptions import untouched
from holdfast_lab.trials.drift_streams import CHANGE, OF_RIVER, OWN, make
from holdfast_lab.trials.table import Goal, ratio, width

MARKERS = ("<!-- holdfast trials --drift: begin -->", "<!-- holdfast trials --drift: end -->")
SETTLED = 2_500  # rounds after the change, from which on errors count
_SEEDS = 3


class DriftRow(NamedTuple):
    """One stream and delay: the error of SGD with a fading scale, and each error over it, as medians."""

    kind: str
    delay: int
    error: float
    ratios: dict[str, float]


def hold_drift_trials(quick=False, page=None, kinds=None, contestants=AFTER_A_CHANGE, delays=(1,)):
    """Measure and print; with `page`, write the table into that file."""
    has_river = importlib.util.find_spec("river") is not None
    kinds = kinds or [*OWN, *(OF_RIVER if has_river else ())]
    tell(_header(contestants))
    rows = []
    for delay, kind in itertools.product(delays, kinds):
        rows.append(measure(kind, 1 if quick else _SEEDS, contestants, delay))
        tell(_line(rows[-1], contestants))
    tell("", *map(str, goals(rows)))
    if not has_river:
        tell(f"River is not installed, so these are missing: {', '.join(OF_RIVER)}.")
    if page is not None:
        options = ["--drift", *["--quick"] * quick, *delay_option(delays)]
        about = written_by(f"holdfast trials {' '.join(options)} --write {page.name}")
        put_between_markers(page, markdown(rows, about, contestants), MARKERS)


def measure(kind, seeds, contestants=AFTER_A_CHANGE, delay=1):
    runs = []
    for seed in range(seeds):
        overwrite(f"{kind}: delay {delay}, seed {seed}")
        runs.append(_errors(make(kind, seed), contestants, delay))
    ratios = {name: float(np.median([run[name] / run[FADING] for run in runs])) for name in runs[0]}
    return DriftRow(kind, delay, float(np.median([run[FADING] for run in runs])), ratios)


def _errors(table, contestants, delay):
    """The mean error of each contestant that can play; NaN if it failed."""
    stream, errors = untouched(table), {}
    for name, contestant in contestants.items():
        if contestant.can_play(table):
            with np.errstate(all="ignore"):
                predictions = contestant.predict(stream, delay)
                errors[name] = float(stream.errors(predictions)[CHANGE + SETTLED :].mean())
    return errors


def goals(rows):
    """Ours against SGD with a fading scale, for each delay."""
    played = [row for row in rows if OURS in row.ratios]
    delays = dict.fromkeys(row.delay for row in played)
    return [_goal([row for row in played if row.delay == delay], delay) for delay in delays]


def _goal(rows, delay):
    short = [f"{row.kind} ({ratio(row.ratios[OURS])})" for row in rows if not row.ratios[OURS] <= 1.05]
    return Goal(f"delay {delay}, {OURS}: at most 5 % behind SGD with a fading scale", len(rows), short)


def _shown(contestants):
    return [name for name in contestants if name != FADING]


def _header(contestants):
    names = "".join(f"{name:>{width(name)}}" for name in _shown(contestants))
    return f"{'':20}{'delay':>6}{FADING:>20}{names}"


def _line(row, contestants):
    figures = "".join(f"{ratio(row.ratios.get(name)):>{width(name)}}" for name in _shown(contestants))
    return f"{row.kind:20}{row.delay:>6}{row.error:>20.4g}{figures}"


def markdown(rows, about, contestants=AFTER_A_CHANGE):
    shown = _shown(contestants)
    lines = [f"| change | delay | {FADING} | {' | '.join(shown)} |", "|---|--:|--:|" + "--:|" * len(shown)]
    for row in rows:
        figures = " | ".join(ratio(row.ratios.get(name)) for name in shown)
        lines.append(f"| {row.kind} | {row.delay} | {row.error:.4g} | {figures} |")
    return "\n".join([*lines, "", *(f"- {goal}." for goal in goals(rows)), "", about, ""])
