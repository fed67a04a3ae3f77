"""`delay`: forecasts are judged as they were asked."""

import numpy as np
import pytest

from holdfast.sklearn import RobustClassifier, RobustRegressor

MODELS = [RobustRegressor, RobustClassifier]


def stream(model, rows=600, seed=0):
    """Neighbours are alike: a slow walk in both columns and in what no column explains."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_normal((rows, 2)), axis=0) * 0.3 + rng.standard_normal((rows, 2))
    y = X @ [1.0, -2.0] + 5.0 * np.sin(np.arange(rows) / 30.0) + 0.1 * rng.standard_normal(rows)
    return X, y if model is RobustRegressor else y > np.median(y)


def learned(make, X, y, cuts, **words):
    """The model after these pieces of the rows."""
    model = make(**words)
    classes = {} if make is RobustRegressor else {"classes": [False, True]}
    for start, stop in zip([0, *cuts], [*cuts, len(X)], strict=True):
        model.partial_fit(X[start:stop], y[start:stop], **classes)
    return model


def bits(model, X):
    return model.coef_.tobytes(), model.intercept_.tobytes(), np.asarray(model.predict(X)).tobytes()


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("delay", [1, 50])
def test_with_a_number_of_rows_nothing_depends_on_how_rows_are_cut(make, delay):
    X, y = stream(make)
    whole = learned(make, X, y, [], delay=delay)
    for cuts in ([7, 300], [50, 100, 433], range(1, len(X))):
        assert bits(learned(make, X, y, cuts, delay=delay), X) == bits(whole, X)


@pytest.mark.parametrize("make", MODELS)
def test_batches_are_judged_with_the_state_before_them(make):
    X, y = stream(make, rows=620)  # the last batch is open in both
    by_batch = learned(make, X, y, range(50, 620, 50), delay="batch")
    assert bits(by_batch, X) == bits(learned(make, X, y, [], delay=50), X)
    assert bits(by_batch, X) != bits(learned(make, X, y, [], delay=1), X)


def test_one_row_ahead_the_short_memory_wins_and_a_batch_ahead_it_does_not():
    X, y = stream(RobustRegressor, rows=3_000)
    parts = {
        delay: learned(RobustRegressor, X, y, [], delay=delay)._games[0].state.hedge.parts
        for delay in (1, 200)
    }
    shortest = len(parts[1]) - 2  # the fallback is last
    assert parts[1][shortest] > parts[200][shortest]


@pytest.mark.parametrize("delay", [0, -1, 2.5, True, "row", None])
def test_other_delays_are_refused(delay):
    X, y = stream(RobustRegressor, rows=20)
    with pytest.raises(ValueError, match='delay must be "batch" or a number of rows from 1 to'):
        RobustRegressor(delay=delay).partial_fit(X, y)


def test_a_delay_is_refused_where_nothing_is_judged_by_it():
    X, y = stream(RobustRegressor, rows=20)
    with pytest.raises(ValueError, match="delay=5 is for the default learner"):
        RobustRegressor(delay=5, learner="adagrad").partial_fit(X, y)
