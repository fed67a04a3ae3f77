"""Tables with numbers as targets, in two halves: constants are chosen on one and reported on the other."""

import numpy as np

from holdfast.lab.trials.data import Table, available, load

BINS = 12  # of a column that becomes one-hot
CHOSEN = ("metro_traffic", "air_quality", "metro, one-hot", "diabetes")
REPORTED = ("nab_streams", "covid_deaths", "eeg channel", "air, one-hot", "TrumpApproval")


def number_tables(folder, name, rounds):
    """The streams of a table, each of at most so many rounds; none if its data are not there."""
    source, make = _SOURCES[name]
    if source is not None and source not in available(folder):
        return []
    return [table.first(rounds) for table in make(folder)]


def one_hot(table, column):
    """The table with one column cut into bins with equal counts. Each becomes a column of 0 and 1."""
    edges = np.quantile(table.X[:, column], np.arange(1, BINS) / BINS)
    codes = np.searchsorted(edges, table.X[:, column])
    rest = np.delete(table.X, column, axis=1)
    return table._replace(X=np.ascontiguousarray(np.hstack([rest, np.eye(BINS)[codes]])))


def next_channel(table):
    """The last column as the target, to be predicted from the others."""
    return Table(np.ascontiguousarray(table.X[:, :-1]), table.X[:, -1].copy(), table.marked, True)


def diabetes(folder):
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, scaled=False)
    return [Table(np.ascontiguousarray(X), y, np.zeros(len(y), bool), True)]


def approval(folder):
    from river import datasets

    rows, targets = zip(*datasets.TrumpApproval(), strict=True)
    X = np.array([list(row.values()) for row in rows], np.float64)
    return [Table(X, np.array(targets, np.float64), np.zeros(len(targets), bool), True)]


_SOURCES = {
    "metro_traffic": ("metro_traffic", lambda folder: load(folder, "metro_traffic")),
    "air_quality": ("air_quality", lambda folder: load(folder, "air_quality")),
    "nab_streams": ("nab_streams", lambda folder: load(folder, "nab_streams")),
    "covid_deaths": ("covid_deaths", lambda folder: load(folder, "covid_deaths")),
    "metro, one-hot": ("metro_traffic", lambda folder: [one_hot(load(folder, "metro_traffic")[0], 0)]),
    "air, one-hot": ("air_quality", lambda folder: [one_hot(load(folder, "air_quality")[0], 1)]),
    "eeg channel": ("eeg_eye", lambda folder: [next_channel(load(folder, "eeg_eye")[0])]),
    "diabetes": (None, diabetes),
    "TrumpApproval": (None, approval),
}
