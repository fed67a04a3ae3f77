"""`on_event`: glitches, changes and frozen columns of the rows of partial_fit; predict with intervals."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from holdfast.levels import Events, Webhook
from holdfast.sklearn import RobustClassifier, RobustRegressor


def table(rows=2_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    X[1_500:1_540, 1] = X[1_499, 1]
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=rows)
    X[1_000, 0], y[1_200:1_204] = 1e6, 1e6
    return X, y


def in_parts(model, X, y, size=100, **more):
    for start in range(0, len(y), size):
        model.partial_fit(X[start : start + size], y[start : start + size], **more)
    return [(event.kind, event.key, event.begin, event.end) for event in model.on_event]


FROZEN = [("frozen", "x1", 1_500, 0), ("frozen", "x1", 1_500, 1_540)]


def test_skipped_rows_and_frozen_columns_of_numbers_are_events():
    X, y = table()
    found = in_parts(RobustRegressor(on_event=Events(), delay=1), X, y)
    assert found == [("glitch", "x0", 1_001, 1_001), ("glitch", "target", 1_201, 1_204), *FROZEN]


@pytest.mark.parametrize("classes", [2, 3])
def test_of_labels_each_row_is_in_one_event(classes):
    X, _ = table()
    labels = np.digitize(X @ [1.0, 2.0, 3.0], [0.0, 2.0][: classes - 1])
    model = RobustClassifier(on_event=Events())
    found = in_parts(model, X, labels, classes=list(range(classes)))
    assert [event for event in found if event[1] == "x0"] == [("glitch", "x0", 1_001, 1_001)]
    assert found[-2:] == FROZEN


def test_fit_tells_nothing_and_later_rows_are_counted_on():
    X, y = table()
    model = RobustRegressor(on_event=Events(), random_state=0).fit(X, y)
    assert list(model.on_event) == []
    X, y = table()
    found = in_parts(model, X, y)
    assert ("glitch", "x0", 3_001, 3_001) in found


def test_rows_of_weight_zero_are_no_rows():
    X, y = table()
    keep = np.arange(len(y)) % 2 == 0
    one, other = RobustRegressor(on_event=Events()), RobustRegressor(on_event=Events())
    one.partial_fit(X, y, sample_weight=keep.astype(float))
    other.partial_fit(X[keep], y[keep])
    assert list(one.on_event) == list(other.on_event) != []


def test_of_sparse_rows_no_column_is_frozen():
    X, y = table()
    model = RobustRegressor(on_event=Events(), learner="adagrad")
    model.partial_fit(sp.csr_array(X), y)
    assert {event.kind for event in model.on_event} <= {"glitch", "change"}


def test_clones_and_copies_tell_the_same_receiver():
    X, y = table()
    for receiver in (Events(), Webhook("http://127.0.0.1:9/")):
        model = RobustRegressor(on_event=receiver).partial_fit(X, y)
        assert clone(model).on_event is receiver
        assert copy.deepcopy(model).on_event is receiver
        assert type(pickle.loads(pickle.dumps(model)).on_event) is type(receiver)


class Receiver:
    def __init__(self):
        self.events = []

    def add(self, event):
        self.events.append(event)


def test_rows_that_are_learned_again_are_told_once_and_to_the_same_receiver():
    X, y = table()
    receiver = Receiver()
    model = RobustRegressor(on_event=receiver.add, journal=500)
    for start in range(0, 1_800, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100])
    told = len(receiver.events)
    model.forget([700, 701])
    assert len(receiver.events) == told > 0
    model.partial_fit(X[1_800:], y[1_800:])
    X[1_900, 0] = 1e6
    model.partial_fit(X[1_850:], y[1_850:])
    assert len(receiver.events) == told + 1


def test_without_a_receiver_the_bits_are_the_same():
    X, y = table()
    one, other = RobustRegressor(on_event=Events()), RobustRegressor()
    in_parts(one, X, y)
    for start in range(0, len(y), 100):
        other.partial_fit(X[start : start + 100], y[start : start + 100])
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert one.audit_counts_ == other.audit_counts_


@pytest.mark.parametrize(("coverage", "shape"), [(0.9, (5, 2)), ([0.5, 0.9], (5, 2, 2))])
def test_predictions_and_intervals_come_together(coverage, shape):
    X, y = table()
    model = RobustRegressor(random_state=0).fit(X, y)
    predictions, intervals = model.predict(X[:5], return_interval=True, coverage=coverage)
    assert predictions.tobytes() == model.predict(X[:5]).tobytes() and intervals.shape == shape
    assert intervals.tobytes() == model.predict_interval(X[:5], coverage).tobytes()
    assert ((predictions > intervals[:, 0].T) & (predictions < intervals[:, 1].T)).all()
