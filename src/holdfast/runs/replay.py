"""What another budget would have skipped, from the sizes that a run wrote down, without learning again."""

import dataclasses

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holdfast.certified import Certified
from holdfast.runs.folder import RunError
from holdfast.stream import WORTH_COMPILING

_SHOWN = 10


def replayed(run, outliers):
    """How many rounds these filters would skip of those the run has seen, and the first rows that differ.

    The sizes are those the run measured. Had it learned from other rounds, later sizes would differ a little.
    """
    paths = run.folder.parts("sizes", run.parts)
    if not paths:
        raise RunError(f"{run.folder.path} did not write down its sizes: learn again without --no-sizes")
    player = dataclasses.replace(run.settings, outliers=outliers).player(run.regression)
    guarded = player.player if isinstance(player, Certified) else player
    compiled = run.trace.rounds >= WORTH_COMPILING
    states: dict = {}
    rounds, skipped, rows = 0, 0, []
    for path in paths:
        table = pq.read_table(path)
        for name, part in _games(table):
            kept = _kept(guarded, states, name, part, compiled)
            rounds, skipped = rounds + len(kept), skipped + int((~kept).sum())
            rows.append(part["row"][~kept])
    found = np.concatenate(rows)
    audit = run.folder.read_parts("audit", run.parts)
    before = audit.column("row").to_numpy() if audit is not None else np.zeros(0, int)
    return {
        "outliers": outliers,
        "rounds": rounds,
        "skipped": skipped,
        "skipped_in_the_run": len(before),
        "no_longer_skipped": np.setdiff1d(before, found)[:_SHOWN].tolist(),
        "newly_skipped": np.setdiff1d(found, before)[:_SHOWN].tolist(),
    }


def judge(filter, state, sizes, kept):
    """Ask a filter about sizes in order."""
    for i in range(len(sizes)):
        state, _, near = filter.decide(state, sizes[i])
        kept[i] = near
    return state


def _games(table):
    """The rounds of each key and label apart, as arrays."""
    names = [name for name in ("key", "label") if name in table.column_names]
    if not names:
        return [((), _arrays(table))]
    parts = [((), table)]
    for name in names:
        parts = [
            ((*known, value), part.filter(pc.equal(part.column(name), value)))
            for known, part in parts
            for value in pc.unique(part.column(name)).to_pylist()
        ]
    return [(known, _arrays(part)) for known, part in parts]


def _arrays(table):
    columns = [name for name in table.column_names if name not in ("key", "label")]
    return {name: table.column(name).to_numpy() for name in columns}


def _kept(guarded, states, name, part, compiled):
    """Which rounds all filters keep; `states` remembers what each has seen of each game."""
    other = "target" if "target" in part else "gradient"
    kept = np.isfinite(part["features"]) & np.isfinite(part[other])
    measured = np.flatnonzero(kept)
    asked = [("features", guarded.features, measured)]
    if other == "target":
        asked.append((other, guarded.target, measured))
    elif guarded.labels:
        positive = part["positive"][measured]
        asked += [
            (other, guarded.gradient, measured[positive]),
            ("negative", guarded.gradient, measured[~positive]),
        ]
    else:
        asked.append((other, guarded.gradient, measured))
    for memory, filter, places in asked:
        state = states.get((*name, memory), None)
        state = filter.init(1) if state is None else state
        near = np.ones(len(places), bool)
        sizes = np.ascontiguousarray(part["features" if memory == "features" else other][places])
        states[(*name, memory)] = _call(compiled, filter, state, sizes, near)
        kept[places] &= near
    return kept


def _call(compiled, *args):
    if compiled:
        from holdfast._compiled import call

        return call(judge, *args)
    with np.errstate(all="ignore"):
        return judge(*args)
