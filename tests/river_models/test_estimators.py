"""`RobustRegressor` and `RobustClassifier`: the default of the other adapters, on dicts."""

import math
import pickle
import random

import numpy as np
import pandas as pd
import pytest
from river import datasets, evaluate, linear_model, metrics, preprocessing
from river_models.streams import error, numbers, scaled, spoiled, wild_features, wild_targets

import holdfast as hf
from holdfast import sklearn
from holdfast.defaults import recommended
from holdfast.learners.missing_cells import missing_with
from holdfast.river import RobustClassifier, RobustRegressor
from holdfast.steady import Logits, Ridges


def table(rows=400, seed=0, classes=0):
    """Rows with a few wild cells and targets; targets are numbers, or so many classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 5.0]
    y = (X - [0.0, 100.0, 5.0]) @ [1.0, 0.2, 3.0] + 0.3 * rng.normal(size=rows)
    X[50::40, 1] *= 1000.0
    if classes:
        return X, np.digitize(y, np.linspace(-1.0, 1.0, classes - 1))
    y[60::37] += 1e5
    return X, y


def dicts(X):
    return [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def learned(model, X, y):
    for x, target in zip(dicts(X), y.tolist(), strict=True):
        model.learn_one(x, target)
    return model


@pytest.mark.parametrize("delay", [1, 7])
def test_numbers_have_the_bits_of_scikit_learns_estimator(delay):
    X, y = table()
    model, other = learned(RobustRegressor(delay=delay), X, y), sklearn.RobustRegressor(delay=delay)
    for t in range(len(X)):
        other.partial_fit(X[t : t + 1], y[t : t + 1])
    assert list(model.weights.values()) == other.coef_.tolist()
    assert model.intercept == pytest.approx(other.intercept_[0], rel=1e-12)
    predictions = [model.predict_one(x) for x in dicts(X)]
    np.testing.assert_allclose(predictions, other.predict(X), rtol=1e-12)
    assert (model.kept, model.skipped) == (other.kept_, other.skipped_)
    assert model.audit_counts["features"] == other.audit_counts_["features"] > 5
    assert model.audit["column"][model.audit["reason"] == "features"].tolist() == ["b"] * 9


@pytest.mark.parametrize("classes", [2, 4])
def test_labels_have_the_probabilities_of_scikit_learns_estimator(classes):
    X, y = table(classes=classes)
    model = learned(RobustClassifier(classes=range(classes)), X, y)
    other = sklearn.RobustClassifier(delay=1)
    for t in range(len(X)):
        other.partial_fit(X[t : t + 1], y[t : t + 1], classes=range(classes))
    states = [game.state.v.tolist() for game in model._games]
    assert states == [game.state.v.tolist() for game in other._games]
    probabilities = [list(model.predict_proba_one(x).values()) for x in dicts(X)]
    np.testing.assert_allclose(probabilities, other.predict_proba(X), rtol=1e-9)
    assert (model.kept, model.skipped) == (other.kept_, other.skipped_)


@pytest.mark.parametrize("regression", [True, False])
def test_it_plays_what_recommended_builds(regression):
    settings = {"outliers": 0.05, "memory": 500, "patience": 200, "delay": 9}
    model = (RobustRegressor if regression else RobustClassifier)(**settings)
    player = recommended(regression, **settings)
    assert model._player == player._replace(missing=missing_with(0.9999))


def test_how_rows_are_cut_into_batches_does_not_matter():
    X, y = table()
    one, frame = learned(RobustRegressor(delay=5), X, y), pd.DataFrame(X, columns=list("abc"))
    many = RobustRegressor(delay=5)
    for start, stop in ((0, 3), (3, 150), (150, 400)):
        many.learn_many(frame[start:stop], pd.Series(y[start:stop]))
    assert many.weights == one.weights and many.audit_counts == one.audit_counts
    predictions = many.predict_many(frame)
    assert predictions.tolist() == [one.predict_one(x) for x in dicts(X)]
    assert predictions.index.equals(frame.index)


@pytest.mark.parametrize("delay", [1, 20])
def test_the_forecast_error_is_that_of_forecasts_as_they_were_asked(delay):
    model, forecasts, errors = RobustRegressor(delay=delay), {}, []
    rows = list(numbers(300))
    for t, (x, y) in enumerate(rows):
        if t % delay == 0:
            forecasts = {s: model.predict_one(rows[s][0]) for s in range(t, min(t + delay, 300))}
        kept = model.kept
        model.learn_one(x, y)
        if t >= max(8, delay) and model.kept > kept:
            errors.append(abs(y - forecasts[t]))
    assert model.forecast_error == pytest.approx(np.mean(errors), rel=1e-9)
    assert math.isnan(RobustRegressor().forecast_error)


def test_outliers_cost_little_on_rivers_streams():
    clean = error(RobustRegressor(), ((x, y, True) for x, y in datasets.TrumpApproval()))
    assert clean < 0.35
    for spoil in (wild_targets, wild_features):
        assert error(RobustRegressor(), spoiled(datasets.TrumpApproval(), spoil, 0.05)) < 1.1 * clean
    wrong = error(RobustClassifier(), spoiled(datasets.Phishing(), wild_features, 0.05))
    assert wrong < 0.12


def test_progressive_validation_with_a_delay_is_better_than_rivers_own_regression():
    def score(model):
        rows = datasets.TrumpApproval()
        return evaluate.progressive_val_score(rows, model, metrics.MAE(), moment=None, delay=20).get()

    plain = scaled(preprocessing.TargetStandardScaler(linear_model.LinearRegression()))
    assert score(RobustRegressor(delay=20)) < score(plain)


def test_before_units_are_known_the_median_target_is_predicted():
    model = RobustRegressor()
    assert model.predict_one({"a": 1.0}) == 0.0 and model.weights == {} and model.intercept == 0.0
    for y in (5.0, 7.0, 1e9):
        model.learn_one({"a": y}, y)
    assert model.predict_one({"a": 6.0}) == 7.0


def test_labels_that_come_late_get_models_of_their_own():
    rng, model = random.Random(0), RobustClassifier()
    centers = {"red": 0.0, "green": 3.0, "blue": 6.0}
    assert model.predict_one({"a": 0.0}) is None
    model.learn_one({"a": 0.0}, "red")
    assert model.predict_one({"a": 0.0}) == "red" and model.kept == 0
    for t in range(900):
        label = rng.choice(list(centers)[: 2 if t < 300 else 3])
        model.learn_one({"a": rng.gauss(centers[label], 0.5)}, label)
    assert [model.predict_one({"a": center}) for center in centers.values()] == list(centers)
    assert sum(model.predict_proba_one({"a": 2.0}).values()) == pytest.approx(1.0)


def test_the_21st_label_starts_models_against_the_rest():
    model, rng = RobustClassifier(), random.Random(0)
    for t in range(400):
        label = t % 21 if t > 100 else t % 3
        model.learn_one({"a": 4.0 * label + rng.gauss(0.0, 1.0)}, label)
    assert len(model._games) == 21
    assert model.predict_one({"a": 80.0}) == 20


def test_rows_that_cannot_be_read_change_nothing():
    X, y = table()
    model = learned(RobustRegressor(), X, y)
    before, x = dict(model.weights), dicts(X)[0]
    rows = [
        ({}, 1.0),
        ({"a": None, "b": math.nan, "c": 5.0}, 1.0),
        (x | {"a": math.inf}, 1.0),
        (x | {"b": 10**400}, 1.0),
        (x, None),
        (x, math.nan),
        (x, -math.inf),
        ({"word": "rain"}, 1.0),
    ]
    for row, target in rows:
        skipped = model.skipped
        model.learn_one(row, target)
        assert model.skipped == skipped + 1
        assert math.isfinite(model.predict_one(row))
    assert model.weights == before
    labels = learned(RobustClassifier(), *table(classes=2))
    for row, _ in rows[:4]:
        labels.learn_one(row, 1)
    labels.learn_one(x, None)
    assert labels.audit["column"][-1] == "target"


@pytest.mark.parametrize("delay", [1, 7])
def test_a_row_that_is_refused_for_a_cell_changes_no_prediction(delay):
    X, y = table()
    model = learned(RobustRegressor(delay=delay), X, y)
    before, rows = [model.predict_one(x) for x in dicts(X)], dicts(X)
    for t in range(20):
        model.learn_one(rows[t] | {"c": 1e9}, y[t])
    assert [model.predict_one(x) for x in dicts(X)] == before
    assert model.audit["reason"][-20:].tolist() == ["features"] * 20
    assert model.audit["column"][-1] == "c" and model.audit["value"][-1] == 1e9
    assert set(model.audit["learned"][model.audit["reason"] == "target"]) == {"little"}


def test_text_and_none_are_missing_cells():
    X, y = table()
    model, other = RobustRegressor(), RobustRegressor()
    for t, (x, target) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        holes = {name: None for name in ("a", "b") if t % 10 == 3 and name == "a"}
        model.learn_one(x | holes | {"city": "Rome", "none": None}, target)
        other.learn_one({k: v for k, v in (x | holes).items() if v is not None}, target)
    assert model.weights == other.weights and set(model.weights) == set("abc")
    assert model.predict_one({"a": "word", "b": 100.0, "c": None}) == model.predict_one({"b": 100.0})


def test_copies_and_pickles_learn_the_same():
    X, y = table(classes=3)
    model = learned(RobustClassifier(audit_size=5), X[:200], y[:200])
    copies = pickle.loads(pickle.dumps(model)), model.clone(include_attributes=True)
    fresh = model.clone()
    assert fresh.kept == 0 and fresh.predict_proba_one({"a": 1.0}) == {}
    for copy in (model, *copies):
        learned(copy, X[200:], y[200:])
    expected = model.predict_proba_one({"a": 0.3})
    assert all(copy.predict_proba_one({"a": 0.3}) == expected for copy in copies)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RobustRegressor(outliers="some"), "outliers must be"),
        (lambda: RobustRegressor(outliers=0.9), "fewer than half"),
        (lambda: RobustRegressor(loss="log_loss"), "is for labels"),
        (lambda: RobustRegressor(loss=hf.Logistic()), "is for labels"),
        (lambda: RobustRegressor(loss=3), "loss must be a name"),
        (lambda: RobustRegressor(learner=hf.OGD(hf.Ball(1.0))), "learner must be Ridges"),
        (lambda: RobustRegressor(learner=Logits()), "learner must be Ridges"),
        (lambda: RobustClassifier(learner=Ridges()), "learner must be Logits"),
        (lambda: RobustRegressor(delay=0), "delay must be a number of rows"),
        (lambda: RobustRegressor(delay="batch"), "delay must be a number of rows"),
        (lambda: RobustRegressor(memory=-1), "memory must be"),
        (lambda: RobustClassifier(patience="long"), "patience must be"),
        (lambda: RobustClassifier(missing_share=1.0), "missing_share is"),
        (lambda: RobustClassifier(audit_size=-1), "audit_size counts"),
    ],
)
def test_wrong_parameters_are_refused_in_a_sentence(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_the_loss_and_the_learner_are_used():
    X, y = table()
    weights = [
        learned(RobustRegressor(**settings), X, y).weights
        for settings in (
            {},
            {"loss": hf.losses.Pinball(0.9)},
            {"loss": "huber"},
            {"learner": Ridges(memories=[50.0] * 4)},
        )
    ]
    assert len({tuple(each.values()) for each in weights}) == 4
