"""The data of the benchmark, the same on every machine."""

import numpy as np

FIELDS = 50  # nonzeros of a sparse row


def sizes(rounds, seed=0):
    """Sizes; 1 % of them are a thousand times too large."""
    rng = np.random.default_rng(seed)
    drawn = rng.lognormal(size=rounds)
    drawn[rng.random(rounds) < 0.01] *= 1e3
    return drawn


def dense(rounds, dim, share=0.0, dtype=np.float64):
    """Examples of a logistic model; a share of them is 1,000 times too long and has the wrong label."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, dim), dtype=dtype)
    z = 5.0 * X @ rng.standard_normal(dim, dtype=dtype) / np.sqrt(dim)
    y = np.where(z + rng.logistic(size=rounds) > 0.0, 1.0, -1.0)
    _spoil(rng, X, y, share)
    return X, y


def sparse(rounds, columns, share=0.0):
    """The same for hashed features, as a CSR matrix: a row has one value of each of 50 fields.

    Each field has separate columns for the hashes of its values. The probability of the r-th most frequent
    value is proportional to 1/r (Zipf).
    """
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    width = columns // FIELDS
    rank = np.minimum(width ** rng.random((rounds, FIELDS)), width - 1).astype(np.int64)
    hashed = rng.permutation(width)[rank] + width * np.arange(FIELDS)
    values = rng.uniform(0.5, 1.5, (rounds, FIELDS)) / np.sqrt(FIELDS)
    z = (values * rng.standard_normal(columns)[hashed]).sum(axis=1)
    y = np.where(z + rng.logistic(size=rounds) > 0.0, 1.0, -1.0)
    _spoil(rng, values, y, share)
    starts = np.arange(0, rounds * FIELDS + 1, FIELDS, dtype=np.int32)
    parts = (values.ravel(), hashed.astype(np.int32).ravel(), starts)
    return csr_array(parts, shape=(rounds, columns)), y


def _spoil(rng, X, y, share):
    bad = rng.random(len(X)) < share
    X[bad] *= 1e3
    y[bad] *= -1.0
