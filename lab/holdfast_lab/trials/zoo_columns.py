"""Awkward columns of the zoo.

Each function takes a random generator and the number of rows. It returns two ordinary columns with the
awkward ones after them, and the part of the target that they explain.
"""

import numpy as np

YEARS = 17_520  # hours in two years
CODES = {800: 0.45, 801: 0.2, 803: 0.1, 500: 0.1, 211: 0.05, 45: 0.04, 12: 0.03, 7: 0.02, 1: 0.01}


def ordinary(rng, rows):
    """One column with mean 0 and standard deviation 1, one with mean 50 and standard deviation 10."""
    return rng.standard_normal((rows, 2)) * (1.0, 10.0) + (0.0, 50.0)


def _linear(rng, awkward, weights):
    """Ordinary columns and these, and 2 a + b / 5 + <weights, awkward>."""
    X = np.column_stack([ordinary(rng, len(awkward)), awkward])
    return X, X @ np.array([2.0, 0.2, *weights])


def rare(rng, rows):
    """Six columns that are 1 in 1 % of the rows, else 0."""
    return _linear(rng, rng.random((rows, 6)) < 0.01, (10.0, -10.0, 5.0, -5.0, 20.0, 0.0))


def calendar(rng, rows):
    """Twelve columns for the month and 24 for the hour; with fewer rows, every n-th hour of the two years."""
    hour = np.arange(rows) * (YEARS // rows)
    month = hour % (YEARS // 2) * 12 // (YEARS // 2)
    columns = np.column_stack([np.eye(12)[month], np.eye(24)[hour % 24]])
    return _linear(rng, columns, 5.0 * rng.standard_normal(36))


def near_equal(rng, rows, share, noise):
    """So large a share of the column is 0 plus noise."""
    equal, values = rng.random(rows) < share, rng.standard_normal((2, rows))
    return _linear(rng, np.where(equal, noise * values[0], 5.0 + 3.0 * values[1])[:, None], (2.0,))


def daylight(rng, rows):
    """max(sin, 0) of the hour: in the night 0, or 1e-16."""
    return _linear(rng, np.maximum(np.sin(2.0 * np.pi / 24.0 * np.arange(rows)), 0.0)[:, None], (20.0,))


def rain(rng, rows):
    """Millimetres of rain: 84 % zeros."""
    wet = rng.random(rows) < 0.16
    return _linear(rng, (wet * rng.lognormal(0.0, 1.0, rows))[:, None], (-2.0,))


def rain_in_spells(rng, rows):
    """95 % zeros: three times a long dry spell, and then rain in every fourth row."""
    wet = (np.arange(rows) % (rows // 3) >= rows * 4 // 15) & (rng.random(rows) < 0.25)
    return _linear(rng, (wet * rng.lognormal(0.0, 1.0, rows))[:, None], (-2.0,))


def stuck(rng, rows):
    """The column has one value from a quarter of the rows on, to two thirds of them."""
    column = 20.0 + 3.0 * rng.standard_normal(rows)
    column[rows // 4 : rows * 2 // 3] = column[rows // 4]
    return _linear(rng, column[:, None], (1.5,))


def times(rng, rows, start, step, trend):
    """Time as a number; `trend` is what it adds to the target from the first row to the last."""
    X, y = _linear(rng, (start + step * np.arange(rows, dtype=np.int64))[:, None], (0.0,))
    return X, y + np.linspace(0.0, trend, rows)


def collinear(rng, rows):
    """Two more columns, a copy of the second plus noise of 1e-6, and the sum of the third and the fourth."""
    X, y = _linear(rng, rng.standard_normal((rows, 2)), (1.0, -3.0))
    copy = X[:, 1] + 1e-6 * rng.standard_normal(rows)
    return np.column_stack([X, copy, X[:, 2] + X[:, 3]]), y


def codes(rng, rows):
    """Codes of one to three digits, from common to rare, read as numbers."""
    return _linear(rng, rng.choice([*CODES], rows, p=[*CODES.values()])[:, None], (0.01,))


def lognormal(rng, rows, logs):
    """Two columns of lognormal values; the target is linear in them, or in their logarithms."""
    values = rng.lognormal(0.0, 2.0, (rows, 2))
    X, y = _linear(rng, values, (0.0, 0.0) if logs else (1.0, -0.5))
    return X, y + np.log(values) @ (1.0, -0.5) if logs else y
