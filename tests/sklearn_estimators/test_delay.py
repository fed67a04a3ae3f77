"""`delay`: forecasts are judged as they were asked."""

import math

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


# -- the error of forecasts as they were asked


def mistake(make, forecast, y):
    return abs(float(forecast) - y) if make is RobustRegressor else bool(forecast) != bool(y)


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("delay", [1, 7, "batch"])
def test_the_forecast_error_is_that_of_predictions_made_before_the_rows_are_learned(make, delay):
    """The slow way: predict a batch, then learn it row by row or at once."""
    X, y = stream(make, rows=140)
    X[::13] *= 1e6
    step, errors, slow = 7 if delay == "batch" else delay, [], make(delay=delay)
    classes = {} if make is RobustRegressor else {"classes": [False, True]}
    for start in range(0, 140, step):
        rows = slice(start, start + step)
        forecasts = slow.predict(X[rows]) if start else [math.nan] * step
        slow.partial_fit(X[rows], y[rows], **classes)
        if start >= 14 or (start >= 8 and step == 1):  # after 8 readable rows, and a whole batch
            own = zip(forecasts, y[rows], slow.kept_mask_, strict=True)
            errors += [mistake(make, forecast, target) for forecast, target, kept in own if kept]
        assert start or math.isnan(slow.forecast_error_)
    assert 90 < len(errors) < 132 and np.mean(errors) > 0.0
    assert slow.forecast_error_ == pytest.approx(np.mean(errors), rel=1e-9)
    if delay != "batch":
        assert learned(make, X, y, [3, 50], delay=delay).forecast_error_ == pytest.approx(np.mean(errors))


@pytest.mark.parametrize("make", MODELS)
def test_fit_counts_the_forecasts_of_its_first_pass(make):
    X, y = stream(make)
    once = learned(make, X, y, [], delay=100).forecast_error_
    model = make(shuffle=False, n_epochs=3).fit(X, y)
    assert model.forecast_error_ == pytest.approx(once, rel=1e-12)
    model.partial_fit(X[:50], y[:50])
    assert model.forecast_error_ != once


def test_with_three_classes_the_forecasts_of_all_models_count():
    X, y = stream(RobustRegressor, rows=300)
    codes, model = np.digitize(y, np.quantile(y, [0.3, 0.6])), RobustClassifier(delay=1)
    missed, counted = 0, 0
    for t in range(300):
        if t:
            margins = model._predictions(X[t : t + 1])[0]
            for number, pair in enumerate(model._class_models):
                sign, game = pair.sign_of(codes[t]), model._games[number]
                if sign and game.rounds - game.unmeasured_count >= 8:
                    missed, counted = missed + (not sign * margins[number] > 0.0), counted + 1
        model.partial_fit(X[t : t + 1], codes[t : t + 1], classes=[0, 1, 2])
    assert model.skipped_ == 0 and counted > 400
    assert model.forecast_error_ == pytest.approx(missed / counted, rel=1e-12)
