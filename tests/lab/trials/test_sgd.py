"""Our copy of scikit-learn's SGD and StandardScaler, against scikit-learn."""

import numpy as np
import pytest

from holdfast_lab.trials import contestants, one_pass
from holdfast_lab.trials.corruptions import untouched
from holdfast_lab.trials.data import Table
from holdfast_lab.trials.one_pass import FED
from holdfast_lab.trials.scalers import FadingScale, Moments, Still

ROUNDS = 200


def stream(regression):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROUNDS, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 0.0]
    X[: ROUNDS // 2, 2] = 0.0  # a column that does not vary at first
    y = X @ [1.0, 0.1, 5.0] + rng.standard_normal(ROUNDS)
    y = y if regression else np.where(y > np.median(y), 1.0, -1.0)
    return untouched(Table(X, y, np.zeros(ROUNDS, bool), regression))


def real(table, model, scalers):
    """The predictions of scikit-learn itself, round by round, from the first it can predict."""
    features, targets = scalers
    predictions = np.full(table.rounds, np.nan)
    for t in range(table.rounds):
        x, y = table.X[t : t + 1], table.y[t : t + 1]
        if t > FED:
            predict = model.predict if table.regression else model.decision_function
            z = predict(features.transform(x))
            predictions[t] = (targets.inverse_transform(z[:, None])[0] if table.regression else z)[0]
        features.partial_fit(x)
        targets.partial_fit(y[:, None])
        if t >= FED and table.regression:
            model.partial_fit(features.transform(x), targets.transform(y[:, None])[0])
        elif t >= FED:
            model.partial_fit(features.transform(x), y, classes=[-1.0, 1.0])
    return predictions


@pytest.mark.parametrize("huber", [False, True])
@pytest.mark.parametrize("regression", [False, True])
def test_the_predictions_are_those_of_scikit_learn(regression, huber):
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.preprocessing import StandardScaler

    if regression:
        model = linear_model.SGDRegressor(loss="huber" if huber else "squared_error")
    else:
        model = linear_model.SGDClassifier(loss="modified_huber" if huber else "hinge")
    given = stream(regression)
    copy = (contestants.huber_sgd if huber else contestants.plain_sgd)(given)
    expected = real(given.table, model, (StandardScaler(), StandardScaler()))
    assert copy[FED + 1 :] == pytest.approx(expected[FED + 1 :], rel=1e-6, abs=1e-6)


def test_the_still_scale_is_that_of_robust_scaler():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    X = stream(True).table.X[:150]
    X[:, 2] = 7.0
    scaler, scale = preprocessing.RobustScaler().fit(X), Still().fitted(X)
    assert scale.mean == pytest.approx(scaler.center_)
    assert scale.width == pytest.approx(scaler.scale_)


def test_the_logistic_loss_and_constant_steps_are_those_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.preprocessing import StandardScaler

    model = linear_model.SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01)
    given = stream(False)
    expected = real(given.table, model, (StandardScaler(), StandardScaler()))
    assert contestants.constant_sgd(given)[FED + 1 :] == pytest.approx(
        expected[FED + 1 :], rel=1e-6, abs=1e-6
    )


def test_the_fading_scale_has_weights_that_halve():
    rows = np.random.default_rng(0).standard_normal((60, 2)) * [1.0, 50.0] + [7.0, 0.0]
    scaler, moments = FadingScale(5.0), Moments.empty(2)
    for n, x in enumerate(rows, 1):
        scaler.absorb(moments, float(n), x)
    weights = 0.5 ** (np.arange(59, -1, -1) / 5.0)
    mean = np.average(rows, axis=0, weights=weights)
    assert moments.mean == pytest.approx(mean, rel=1e-3)
    assert moments.width == pytest.approx(
        np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights)), rel=1e-3
    )


@pytest.mark.slow  # compiles for long
def test_both_worlds_give_the_same_predictions(monkeypatch):
    interpreted = contestants.plain_sgd(stream(True))
    monkeypatch.setattr(one_pass, "_WORTH_COMPILING", 0)
    assert contestants.plain_sgd(stream(True)) == pytest.approx(interpreted, rel=1e-12)
