"""`holdfast trials --data`: every contestant on every data set, corruption and seed."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from holdfast.terminal import overwrite, tell
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.about import delay_option, written_by
from holdfast_lab.trials.contestants import CONTESTANTS, ORACLE, OURS
from holdfast_lab.trials.corruptions import KINDS, corrupt
from holdfast_lab.trials.data import available, load
from holdfast_lab.trials.table import MARKERS, Cell, goals, header, line, markdown


class TrialSize(NamedTuple):
    """How much is measured."""

    seeds: int
    rounds: int  # of any stream, at most
    slow_rounds: int  # the same for slow contestants


FULL = TrialSize(seeds=5, rounds=10**9, slow_rounds=10_000)
QUICK = TrialSize(seeds=2, rounds=50_000, slow_rounds=1_000)


def hold_trials(folder, names=None, quick=False, page=None, delays=(1,)):
    """Measure and print; with `page`, write the table into that file."""
    cells, size = [], QUICK if quick else FULL
    tell(header())
    for cell in trials(folder, names or available(folder), size, say=overwrite, delays=delays):
        cells.append(cell)
        tell(line(cell))
    tell("", *goals(cells))
    if page is not None:
        options = ["--data FOLDER", *["--quick"] * quick, *delay_option(delays)]
        command = f"holdfast trials {' '.join(options)} --write {page.name}"
        put_between_markers(page, markdown(cells, written_by(command)), MARKERS)


def trials(folder, names, size, contestants=CONTESTANTS, say=lambda text: None, delays=(1,)):
    """The cells of the table, one for each data set, delay and corruption."""
    for name in names:
        tables = [table.first(size.rounds) for table in load(folder, name)]
        for delay, kind in itertools.product(delays, KINDS):
            runs = []
            for seed in range(size.seeds if kind != "natural" else 1):
                say(f"{name}: delay {delay}, {kind}, seed {seed}")
                runs.append(_run(tables, kind, seed, size, contestants, delay))
            yield _cell(name, kind, delay, runs, size, contestants)


def _run(tables, kind, seed, size, contestants, delay):
    """For each stream, which rounds are scored, and the errors of each contestant in the rounds it meets."""
    run = []
    for i, table in enumerate(tables):
        stream, errors = corrupt(table, kind, (seed, i)), {}
        for name, contestant in contestants.items():
            if contestant.can_play(table):
                part = stream.first(_limit(contestant, size))
                with np.errstate(all="ignore"):
                    errors[name] = part.errors(contestant.predict(part, delay))
        run.append((stream.scored, errors))
    return run


def _limit(contestant, size):
    return size.slow_rounds if contestant.is_slow else size.rounds


def _score(run, name, limit):
    """The mean error over the first rounds of each stream; NaN if it failed in one."""
    errors = [errors[name][:limit][scored[:limit]] for scored, errors in run]
    return float(np.concatenate(errors).mean())


def _cell(data, kind, delay, runs, size, contestants):
    ratios, leads = {}, {}
    for name in runs[0][0][1]:
        limit = _limit(contestants[name], size)
        scores = [_score(run, name, limit) for run in runs]
        ratios[name] = _ratio(scores, [_score(run, ORACLE, limit) for run in runs])
        leads[name] = _ratio(scores, [_score(run, OURS, limit) for run in runs])
    error = float(np.median([_score(run, ORACLE, size.rounds) for run in runs]))
    return Cell(data, kind, delay, error, ratios, leads)


def _ratio(scores, others):
    """The median over the seeds."""
    pairs = zip(scores, others, strict=True)
    return float(np.median([a / b if b > 0.0 else math.nan for a, b in pairs]))
