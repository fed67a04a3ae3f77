"""Many kinds of bad rows in a table with numbers or labels as targets, in any share of the rounds."""

import numpy as np

from holdfast_lab.trials.corruptions import SPARED, CorruptedTable

BURST = 1_000  # rounds of a burst, at most: the default believes longer ones
FIRST = 1_000  # of so many first rounds, a share is bad where a stream starts badly
_RUN = 50  # rows for which a sensor is stuck


def clean(table, bad, share, rng):
    """No bad row, but those of the source."""
    bad[:] = False
    return bad


def far_rows(table, bad, share, rng):
    """All features x 1000."""
    table.X[bad] *= 1000.0
    return bad


def one_column(table, bad, share, rng):
    """A wrong unit in one column, the one with the fewest zeros: x 1000."""
    table.X[bad, _column(table)] *= 1000.0
    return bad


def far_targets(table, bad, share, rng):
    """Targets x -1000."""
    table.y[bad] *= -1000.0
    return bad


def near_targets(table, bad, share, rng):
    """Targets + 10 standard deviations."""
    table.y[bad] += 10.0 * table.y.std()
    return bad


def mirrored(table, bad, share, rng):
    """Targets on the other side of their median."""
    table.y[bad] = 2.0 * np.median(table.y) - table.y[bad]
    return bad


def flips(table, bad, share, rng):
    """The other label."""
    table.y[bad] *= -1.0
    return bad


def far_flips(table, bad, share, rng):
    """The other label, and all features x 100."""
    table.X[bad] *= 100.0
    return flips(table, bad, share, rng)


def stuck(table, bad, share, rng):
    """Rows repeat the one before, for 50 rounds each time."""
    bad[:] = False
    count = round(share * (table.rounds - SPARED) / _RUN)
    for start in rng.integers(SPARED, max(table.rounds - _RUN, SPARED + 1), max(count, 1)):
        bad[start + 1 : start + _RUN] = True
        table.X[start + 1 : start + _RUN] = table.X[start]
    return bad


def missing(table, bad, share, rng):
    """One cell is NaN."""
    rows = np.flatnonzero(bad)
    table.X[rows, rng.integers(table.X.shape[1], size=len(rows))] = np.nan
    return bad


def ramp(table, bad, share, rng):
    """All features x a factor that grows from 1 to 1000 in the course of the stream."""
    table.X[bad] *= np.power(1000.0, np.arange(table.rounds) / table.rounds)[bad, None]
    return bad


def burst_of_rows(table, bad, share, rng):
    """A block of rows x 1000."""
    _block(table, bad, share, rng)
    table.X[bad] *= 1000.0
    return bad


def burst_of_targets(table, bad, share, rng):
    """A block of targets + 50 standard deviations."""
    _block(table, bad, share, rng)
    table.y[bad] += 50.0 * table.y.std()
    return bad


def burst_of_flips(table, bad, share, rng):
    """A block with the other label."""
    _block(table, bad, share, rng)
    return flips(table, bad, share, rng)


def bad_first_rows(table, bad, share, rng):
    """The first rows x 1000."""
    _first(table, bad, share)
    table.X[bad] *= 1000.0
    return bad


def bad_first_targets(table, bad, share, rng):
    """The first targets x -1000."""
    _first(table, bad, share)
    table.y[bad] *= -1000.0
    return bad


def bad_first_labels(table, bad, share, rng):
    """The first rows with the other label."""
    _first(table, bad, share)
    return flips(table, bad, share, rng)


NUMBER_KINDS = {
    "X x1000": far_rows,
    "column x1000": one_column,
    "y x-1000": far_targets,
    "y +10 sd": near_targets,
    "y mirrored": mirrored,
    "stuck": stuck,
    "NaN cell": missing,
    "ramp": ramp,
    "burst X x1000": burst_of_rows,
    "burst y +50 sd": burst_of_targets,
    "start X x1000": bad_first_rows,
    "start y x-1000": bad_first_targets,
}
LABEL_KINDS = {
    "X x1000": far_rows,
    "column x1000": one_column,
    "flips": flips,
    "flips, X x100": far_flips,
    "stuck": stuck,
    "NaN cell": missing,
    "ramp": ramp,
    "burst X x1000": burst_of_rows,
    "burst of flips": burst_of_flips,
    "start X x1000": bad_first_rows,
    "start flips": bad_first_labels,
}
CLEAN = "clean"
_KINDS = {CLEAN: clean} | NUMBER_KINDS | LABEL_KINDS


def corrupt_rows(table, kind, share, seed):
    """A corrupted copy of the table; the seed decides which rounds."""
    rng = np.random.default_rng(seed)
    bad = rng.random(table.rounds) < share
    bad[:SPARED] = False
    copy = table._replace(X=table.X.copy(), y=table.y.copy())
    bad = _KINDS[kind](copy, bad, share, rng)
    return CorruptedTable(copy, bad, table.y)


def first_scored(table, kind):
    """Bad first rows may delay learning, so that the first quarter is not scored, up to 2,000 rounds."""
    return min(table.rounds // 4, 2 * FIRST) if kind.startswith("start") else SPARED


def _column(table):
    return int(np.argmax((table.X != 0.0).mean(axis=0)))


def _block(table, bad, share, rng):
    length = max(min(round(share * table.rounds), BURST), 1)
    start = int(rng.integers(min(SPARED, table.rounds - length), table.rounds - length + 1))
    bad[:] = False
    bad[start : start + length] = True


def _first(table, bad, share):
    bad[:] = False
    bad[: round(share * min(table.rounds, FIRST))] = True
