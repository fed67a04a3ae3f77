"""All data sets, corruptions, seeds and contestants."""

import datetime
import math
from importlib import metadata
from typing import NamedTuple

import numpy as np

from holdfast import __version__
from holdfast.lab.bench.table import put_between_markers
from holdfast.lab.trials.contestants import CONTESTANTS, ORACLE, OURS
from holdfast.lab.trials.corruptions import KINDS, corrupt
from holdfast.lab.trials.data import available, load
from holdfast.lab.trials.table import MARKERS, Cell, goals, header, line, markdown
from holdfast.terminal import overwrite, tell


class Scale(NamedTuple):
    """How much is measured."""

    seeds: int
    rounds: int  # of any stream, at most
    slow_rounds: int  # of any stream, by slow contestants


FULL = Scale(seeds=5, rounds=10**9, slow_rounds=10_000)
QUICK = Scale(seeds=2, rounds=50_000, slow_rounds=1_000)


def hold_trials(folder, names=None, quick=False, page=None):
    """Measure and print; with `page`, leave the table in that file."""
    cells = []
    tell(header())
    for cell in trials(folder, names or available(folder), QUICK if quick else FULL, say=overwrite):
        cells.append(cell)
        tell(line(cell))
    tell("", *goals(cells))
    if page is not None:
        put_between_markers(page, markdown(cells, _about(quick, page)), MARKERS)


def _about(quick, page):
    versions = {name: metadata.version(name) for name in ("numpy", "numba", "scikit-learn", "river")}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    command = f"holdfast trials --data FOLDER{' --quick' if quick else ''} --write {page.name}"
    return f"Written by `{command}` on {datetime.date.today().isoformat()}: holdfast {__version__}, {told}."


def trials(folder, names, scale, contestants=CONTESTANTS, say=lambda text: None):
    """The cells of the table, one for each data set and corruption."""
    for name in names:
        tables = [table.first(scale.rounds) for table in load(folder, name)]
        for kind in KINDS:
            runs = []
            for seed in range(scale.seeds if kind != "natural" else 1):
                say(f"{name}: {kind}, seed {seed}")
                runs.append(_run(tables, kind, seed, scale, contestants))
            yield _cell(name, kind, runs, scale, contestants)


def _run(tables, kind, seed, scale, contestants):
    """For each stream, which rounds are scored, and the errors of each contestant in the rounds it meets."""
    run = []
    for i, table in enumerate(tables):
        stream, errors = corrupt(table, kind, (seed, i)), {}
        for name, contestant in contestants.items():
            part = stream.first(_limit(contestant, scale))
            with np.errstate(all="ignore"):
                errors[name] = part.errors(contestant.predict(part))
        run.append((stream.scored, errors))
    return run


def _limit(contestant, scale):
    return scale.slow_rounds if contestant.is_slow else scale.rounds


def _score(run, name, limit):
    """The mean error over the first rounds of each stream; NaN if it failed in one."""
    errors = [errors[name][:limit][scored[:limit]] for scored, errors in run]
    return float(np.concatenate(errors).mean())


def _cell(data, kind, runs, scale, contestants):
    ratios, leads = {}, {}
    for name, contestant in contestants.items():
        limit = _limit(contestant, scale)
        scores = [_score(run, name, limit) for run in runs]
        ratios[name] = _ratio(scores, [_score(run, ORACLE, limit) for run in runs])
        leads[name] = _ratio(scores, [_score(run, OURS, limit) for run in runs])
    error = float(np.median([_score(run, ORACLE, scale.rounds) for run in runs]))
    return Cell(data, kind, error, ratios, leads)


def _ratio(scores, others):
    """The median over the seeds."""
    pairs = zip(scores, others, strict=True)
    return float(np.median([a / b if b > 0.0 else math.nan for a, b in pairs]))
