"""`holdfast trials --data`: every contestant on every data set, corruption and seed."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.lab.bench.table import put_between_markers
from holdfast.lab.trials.about import written_by
from holdfast.lab.trials.contestants import CONTESTANTS, ORACLE, OURS
from holdfast.lab.trials.corruptions import KINDS, corrupt
from holdfast.lab.trials.data import available, load
from holdfast.lab.trials.table import MARKERS, Cell, goals, header, line, markdown
from holdfast.terminal import overwrite, tell


class TrialSize(NamedTuple):
    """How much is measured."""

    seeds: int
    rounds: int  # of any stream, at most
    slow_rounds: int  # the same for slow contestants


FULL = TrialSize(seeds=5, rounds=10**9, slow_rounds=10_000)
QUICK = TrialSize(seeds=2, rounds=50_000, slow_rounds=1_000)


def hold_trials(folder, names=None, quick=False, page=None):
    """Measure and print; with `page`, write the table into that file."""
    cells = []
    tell(header())
    for cell in trials(folder, names or available(folder), QUICK if quick else FULL, say=overwrite):
        cells.append(cell)
        tell(line(cell))
    tell("", *goals(cells))
    if page is not None:
        command = f"holdfast trials --data FOLDER{' --quick' if quick else ''} --write {page.name}"
        put_between_markers(page, markdown(cells, written_by(command)), MARKERS)


def trials(folder, names, size, contestants=CONTESTANTS, say=lambda text: None):
    """The cells of the table, one for each data set and corruption."""
    for name in names:
        tables = [table.first(size.rounds) for table in load(folder, name)]
        for kind in KINDS:
            runs = []
            for seed in range(size.seeds if kind != "natural" else 1):
                say(f"{name}: {kind}, seed {seed}")
                runs.append(_run(tables, kind, seed, size, contestants))
            yield _cell(name, kind, runs, size, contestants)


def _run(tables, kind, seed, size, contestants):
    """For each stream, which rounds are scored, and the errors of each contestant in the rounds it meets."""
    run = []
    for i, table in enumerate(tables):
        stream, errors = corrupt(table, kind, (seed, i)), {}
        for name, contestant in contestants.items():
            if contestant.can_play(table):
                part = stream.first(_limit(contestant, size))
                with np.errstate(all="ignore"):
                    errors[name] = part.errors(contestant.predict(part))
        run.append((stream.scored, errors))
    return run


def _limit(contestant, size):
    return size.slow_rounds if contestant.is_slow else size.rounds


def _score(run, name, limit):
    """The mean error over the first rounds of each stream; NaN if it failed in one."""
    errors = [errors[name][:limit][scored[:limit]] for scored, errors in run]
    return float(np.concatenate(errors).mean())


def _cell(data, kind, runs, size, contestants):
    ratios, leads = {}, {}
    for name in runs[0][0][1]:
        limit = _limit(contestants[name], size)
        scores = [_score(run, name, limit) for run in runs]
        ratios[name] = _ratio(scores, [_score(run, ORACLE, limit) for run in runs])
        leads[name] = _ratio(scores, [_score(run, OURS, limit) for run in runs])
    error = float(np.median([_score(run, ORACLE, size.rounds) for run in runs]))
    return Cell(data, kind, error, ratios, leads)


def _ratio(scores, others):
    """The median over the seeds."""
    pairs = zip(scores, others, strict=True)
    return float(np.median([a / b if b > 0.0 else math.nan for a, b in pairs]))
