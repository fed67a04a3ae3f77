"""Streams that change: in the middle, all the time, or not at all but with heavy tails.

The basic stream is y = <w, x> + noise with 8 columns and weights of length 1. Each kind changes one thing
from round `CHANGE` on.
"""

import math

import numpy as np

from holdfast_lab.trials.data import Table

ROUNDS, CHANGE = 20_000, 10_000
_DIM, _NOISE = 8, 0.3
_PERIOD = 2_000.0  # of a season
_LATE = np.arange(ROUNDS) >= CHANGE


def _rows(rng):
    return rng.standard_normal((ROUNDS, _DIM))


def _made(rng, X, w=None, noise=_NOISE):
    """The table of these rows; `w` may be one vector, or one for each round."""
    w = _weights(rng) if w is None else w
    return _table(X, (X * w).sum(axis=1) + noise * rng.standard_normal(ROUNDS))


def _weights(rng):
    w = rng.standard_normal(_DIM)
    return w / np.linalg.norm(w)


def _table(X, y, regression=True):
    return Table(np.ascontiguousarray(X), y, np.zeros(len(y), bool), regression)


def shifted_target(rng, deviations):
    """The target moves by so many of its standard deviations."""
    table = _made(rng, _rows(rng))
    table.y[_LATE] += deviations * table.y.std()
    return table


def scaled_target(rng, factor):
    table = _made(rng, _rows(rng))
    table.y[_LATE] *= factor
    return table


def scaled_rows(rng, factor, columns=_DIM):
    """The unit of the first columns changes; the target stays what it was."""
    table = _made(rng, _rows(rng))
    table.X[CHANGE:, :columns] *= factor
    return table


def new_weights(rng):
    before, after = _weights(rng), _weights(rng)
    return _made(rng, _rows(rng), np.where(_LATE[:, None], after, before))


def moving_weights(rng):
    """From the change on, the weights move a little in every round."""
    before, after = _weights(rng), _weights(rng)
    share = np.clip(np.arange(ROUNDS) / CHANGE - 1.0, 0.0, 1.0)[:, None]
    return _made(rng, _rows(rng), before + share * (after - before))


def more_noise(rng):
    return _made(rng, _rows(rng), noise=np.where(_LATE, 10.0 * _NOISE, _NOISE))


def season_in_target(rng):
    table = _made(rng, _rows(rng))
    table.y[:] += 10.0 * np.sin(2.0 * math.pi / _PERIOD * np.arange(ROUNDS))
    return table


def season_in_rows(rng):
    return _made(rng, _rows(rng) + 5.0 * np.sin(2.0 * math.pi / _PERIOD * np.arange(ROUNDS))[:, None])


def shrinking(rng):
    """Rows and targets shrink from 10 to 0.16, as gradients do in training."""
    table, sizes = _made(rng, _rows(rng)), 10.0 * np.power(0.016, np.arange(ROUNDS) / ROUNDS)
    return table._replace(X=table.X * sizes[:, None], y=table.y * sizes)


def lognormal(rng):
    """No change: large values are right, and rare."""
    return _made(rng, rng.lognormal(0.0, 1.5, (ROUNDS, _DIM)))


def student(rng):
    """No change: rows without a finite variance."""
    return _made(rng, rng.standard_t(2.0, (ROUNDS, _DIM)))


def friedman(rng, drift_type, position):
    """River's `FriedmanDrift`, whose target is not linear."""
    from river.datasets import synth

    seed = int(rng.integers(2**31))
    return _generated(synth.FriedmanDrift(drift_type, position, transition_window=CHANGE // 2, seed=seed))


def hyperplane(rng):
    """River's `Hyperplane`: labels, a border that turns in every round."""
    from river.datasets import synth

    return _generated(
        synth.Hyperplane(seed=int(rng.integers(2**31)), n_drift_features=5, mag_change=0.001), labels=True
    )


def sea(rng):
    """River's `SEA`: labels, another threshold from the change on."""
    from river.datasets import synth

    one, other, seed = (int(each) for each in rng.integers(2**31, size=3))
    before, after = synth.SEA(variant=0, noise=0.1, seed=one), synth.SEA(variant=3, noise=0.1, seed=other)
    return _generated(
        synth.ConceptDriftStream(before, after, position=CHANGE, width=100, seed=seed), labels=True
    )


def _generated(stream, labels=False):
    rows, targets = zip(*stream.take(ROUNDS), strict=True)
    y = np.array(targets, np.float64)
    X = np.array([list(row.values()) for row in rows], np.float64)
    return _table(X, np.where(y > 0.5, 1.0, -1.0) if labels else y, not labels)


OWN = {
    "y + 50 sd": lambda rng: shifted_target(rng, 50.0),
    "y + 1000 sd": lambda rng: shifted_target(rng, 1000.0),
    "y x 100": lambda rng: scaled_target(rng, 100.0),
    "y / 100": lambda rng: scaled_target(rng, 0.01),
    "y x -1": lambda rng: scaled_target(rng, -1.0),
    "X x 100": lambda rng: scaled_rows(rng, 100.0),
    "X / 10": lambda rng: scaled_rows(rng, 0.1),
    "one column x 1000": lambda rng: scaled_rows(rng, 1000.0, 1),
    "new weights": new_weights,
    "weights move": moving_weights,
    "noise x 10": more_noise,
    "season in y": season_in_target,
    "season in X": season_in_rows,
    "shrinking": shrinking,
    "lognormal X": lognormal,
    "Student t X": student,
}
OF_RIVER = {
    "Friedman, local": lambda rng: friedman(rng, "lea", (2_500, 5_000, CHANGE)),
    "Friedman, global": lambda rng: friedman(rng, "gra", (CHANGE // 2, CHANGE)),
    "Friedman, gradual": lambda rng: friedman(rng, "gsg", (CHANGE // 2, CHANGE)),
    "Hyperplane": hyperplane,
    "SEA": sea,
}


def make(kind, seed):
    """The stream of a kind; equal seeds give equal streams."""
    return (OWN | OF_RIVER)[kind](np.random.default_rng([seed, 7]))
