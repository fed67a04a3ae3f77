"""Tables in two halves, for numbers and for labels: constants are chosen on one and reported on the other."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from holdfast_lab.trials.data import Table, available, load

BINS = 12  # of a column that becomes one-hot
ORDERS = 20  # in which a short table is played


class Source(NamedTuple):
    """How to make the streams of a table, and the data set of the folder that it needs, if any."""

    data: str | None
    make: Callable


class Halves(NamedTuple):
    """The tables on which constants were chosen, and those that are reported."""

    chosen: dict[str, Source]
    reported: dict[str, Source]

    def streams(self, folder, name, rounds):
        """The streams of a table, each of at most so many rounds; none if its data are not there."""
        data, make = (self.chosen | self.reported)[name]
        if data is not None and data not in available(folder):
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


def in_random_orders(make):
    """A short table without an order in time becomes a stream for each of some random orders of its rows.

    One order has too few mistakes to compare players by. The same orders are met by all of them.
    """

    def make_streams(folder):
        (table,) = make(folder)
        orders = [np.random.default_rng(seed).permutation(table.rounds) for seed in range(ORDERS)]
        return [table._replace(X=table.X[order], y=table.y[order]) for order in orders]

    return make_streams


@in_random_orders
def diabetes(folder):
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, scaled=False)
    return [_unmarked(X, y, regression=True)]


def approval(folder):
    X, y = _river_rows("TrumpApproval")
    return [_unmarked(X, y, regression=True)]


@in_random_orders
def phishing(folder):
    X, y = _river_rows("Phishing")
    return [_labels(X, y > 0.0)]


def image_segments(folder):
    """Every other class against the rest."""
    X, y = _river_rows("ImageSegments")
    return [_labels(X, np.unique(y, return_inverse=True)[1] % 2 == 0)]


def bananas(folder):
    """Both columns as one-hot ones: no line separates the classes, but sums of steps do in part."""
    X, y = _river_rows("Bananas")
    return [one_hot(one_hot(_labels(X, y > 0.0), 0), 0)]


@in_random_orders
def breast_cancer(folder):
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return [_labels(X, y > 0.0)]


@in_random_orders
def digits(folder):
    """Odd digits against even ones."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return [_labels(X, y % 2 == 1)]


def _river_rows(name):
    """The rows and the targets of a stream that is part of River."""
    from river import datasets

    rows, targets = zip(*getattr(datasets, name)(), strict=True)
    return np.array([list(row.values()) for row in rows], np.float64), np.array(targets)


def _labels(X, positive):
    return _unmarked(X, np.where(positive, 1.0, -1.0), regression=False)


def _unmarked(X, y, regression):
    X, y = np.ascontiguousarray(X, np.float64), np.asarray(y, np.float64)
    return Table(X, y, np.zeros(len(y), bool), regression)


def _whole(name):
    return Source(name, lambda folder: load(folder, name))


def _one_hot(name, column):
    return Source(name, lambda folder: [one_hot(load(folder, name)[0], column)])


NUMBERS = Halves(
    chosen={
        "metro_traffic": _whole("metro_traffic"),
        "air_quality": _whole("air_quality"),
        "metro, one-hot": _one_hot("metro_traffic", 0),
        "diabetes": Source(None, diabetes),
        "barcelona_weather": _whole("barcelona_weather"),
    },
    reported={
        "nab_streams": _whole("nab_streams"),
        "covid_deaths": _whole("covid_deaths"),
        "eeg channel": Source("eeg_eye", lambda folder: [next_channel(load(folder, "eeg_eye")[0])]),
        "air, one-hot": _one_hot("air_quality", 1),
        "TrumpApproval": Source(None, approval),
        "beijing_pm25": _whole("beijing_pm25"),
    },
)
LABELS = Halves(
    chosen={
        "spambase": _whole("spambase"),
        "kddcup99": _whole("kddcup99"),
        "spambase, one-hot": _one_hot("spambase", -1),
        "Phishing": Source(None, phishing),
        "ImageSegments": Source(None, image_segments),
        "occupancy_detection": _whole("occupancy_detection"),
    },
    reported={
        "eeg_eye": _whole("eeg_eye"),
        "eeg, one-hot": _one_hot("eeg_eye", 0),
        "breast_cancer": Source(None, breast_cancer),
        "digits": Source(None, digits),
        "Bananas, one-hot": Source(None, bananas),
        "room_occupancy": _whole("room_occupancy"),
    },
)
