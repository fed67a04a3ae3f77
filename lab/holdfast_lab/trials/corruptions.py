"""Corruptions of a table: none, or 1 % of its rounds, or one round."""

from typing import NamedTuple

import numpy as np

from holdfast_lab.trials.data import Table

SPARED = 100  # the first rounds of a stream are neither corrupted nor scored
SHARE = 0.01  # of the other rounds are corrupted, independently
_EARLY = 1_000  # a single corrupted row is among these: the slow contestants meet it too


class CorruptedTable(NamedTuple):
    """A table as its contestants meet it, the rounds that were corrupted, and the true targets."""

    table: Table
    corrupted: np.ndarray
    truth: np.ndarray

    def first(self, rounds):
        return CorruptedTable(self.table.first(rounds), self.corrupted[:rounds], self.truth[:rounds])

    @property
    def good(self):
        """The rounds that are neither corrupted nor marked by their source."""
        return ~self.corrupted & ~self.table.marked

    @property
    def scored(self):
        return self.scored_from(SPARED)

    def scored_from(self, first):
        """The good rounds from this one on, without rows with a missing cell: some peers cannot read them."""
        scored = self.good & np.isfinite(self.table.X).all(axis=1)
        scored[:first] = False
        return scored

    def errors(self, predictions):
        """The error of each round: how far off, in units of the table, or whether the label is wrong."""
        if self.table.regression:
            return np.abs(predictions - self.truth) / self.table.unit
        wrong = np.where(predictions > 0.0, 1.0, -1.0) != self.truth
        return np.where(np.isnan(predictions), np.nan, wrong)


def untouched(table):
    """The table itself."""
    return CorruptedTable(table, np.zeros(table.rounds, bool), table.y)


def natural(table, bad, rng):
    """No corruption: only the outliers that the table has itself."""
    bad[:] = False
    return table


def features(table, bad, rng):
    """All features x 1000."""
    table.X[bad] *= 1000.0
    return table


def target(table, bad, rng):
    """Targets x -1000; or labels flipped and rows x 100."""
    table.y[bad] *= -1000.0 if table.regression else -1.0
    if not table.regression:
        table.X[bad] *= 100.0
    return table


def huge(table, bad, rng):
    """One of the first 1,000 rows is 1e300 in every column."""
    bad[:] = False
    if table.rounds > SPARED:
        bad[rng.integers(SPARED, min(table.rounds, _EARLY))] = True
    table.X[bad] = 1e300
    return table


def missing(table, bad, rng):
    """Rows of NaN."""
    table.X[bad] = np.nan
    return table


KINDS = {
    "natural": natural,
    "features x1000": features,
    "target attack": target,
    "one 1e300": huge,
    "1 % NaN": missing,
}


def corrupt(table, kind, seed):
    """A corrupted copy of the table; the seed decides which rounds."""
    rng = np.random.default_rng(seed)
    bad = rng.random(table.rounds) < SHARE
    bad[:SPARED] = False
    copy = table._replace(X=table.X.copy(), y=table.y.copy())
    return CorruptedTable(KINDS[kind](copy, bad, rng), bad, table.y)
