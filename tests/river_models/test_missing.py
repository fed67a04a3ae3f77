"""Missing cells take usual values; the audit names the wild cell; warnings, and errors of parameters."""

import math

import pandas as pd
import pytest
from river import compose, linear_model, preprocessing, stats, tree
from river_models.streams import labels, numbers, scaled

import holdfast as hf
from holdfast.river import LinearClassifier, LinearRegressor, Robust


def learned(model, rows=300):
    for x, y in numbers(rows):
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("hole", [None, math.nan])
@pytest.mark.parametrize("make", [linear_model.LinearRegression, tree.HoeffdingTreeRegressor])
def test_a_missing_cell_takes_the_usual_value(make, hole):
    model = learned(Robust(scaled(make())))
    usual = model._features.features["a"].mean
    assert model.predict_one({"a": hole, "b": 0.0}) == model.predict_one({"a": usual, "b": 0.0})
    other = learned(Robust(scaled(make())))
    kept = model.kept
    model.learn_one({"a": hole, "b": 0.0}, 50.0)
    other.learn_one({"a": usual, "b": 0.0}, 50.0)
    assert model.kept == kept + 1
    assert model.predict_one({"a": 1.0, "b": 0.0}) == other.predict_one({"a": 1.0, "b": 0.0})


def test_rows_with_too_many_missing_cells_are_skipped():
    model = learned(Robust(scaled(linear_model.LinearRegression())))
    for x in ({"a": None, "b": None}, {"a": math.nan, "b": math.nan}, {"a": math.inf, "b": None}):
        kept = model.kept
        model.learn_one(x, 50.0)
        assert model.kept == kept
    strict = learned(Robust(scaled(linear_model.LinearRegression()), missing_share=0.4))
    kept = strict.kept
    strict.learn_one({"a": None, "b": 0.0}, 50.0)
    assert strict.kept == kept


def test_an_imputer_of_the_pipeline_is_left_to_do_it():
    model = Robust(
        preprocessing.StatImputer(("a", stats.Mean()), ("b", stats.Mean()))
        | scaled(linear_model.LinearRegression())
    )
    assert not model._fills
    kept = learned(model).kept
    model.learn_one({"a": None, "b": 0.0}, 50.0)
    assert model.kept == kept + 1


def test_missing_cells_of_batches_are_filled():
    rows = [x for x, _ in labels(300)]
    frame, y = pd.DataFrame(rows), pd.Series([y for _, y in labels(300)])
    model = Robust(scaled(linear_model.LogisticRegression()))
    model.learn_many(frame[:200], y[:200])
    holes = frame[200:].copy()
    holes.iloc[3, 0] = math.nan
    holes.iloc[4] = math.nan
    kept = model.kept
    model.learn_many(holes, y[200:])
    assert kept + 90 <= model.kept < kept + 100
    assert all(math.isfinite(weight) for weight in model.model["LogisticRegression"].weights.values())


def test_the_audit_names_the_feature_and_the_value():
    model = learned(Robust(scaled(linear_model.LinearRegression())))
    for x, y in (
        ({"a": 1000.0, "b": 1e6}, 50.0),
        ({"a": math.inf, "b": 0.0}, 50.0),
        ({"a": 1000.0, "b": 0.0}, 1e9),
    ):
        model.learn_one(x, y)
    assert model.audit["column"][-3:].tolist() == ["b", "a", "target"]
    assert model.audit["value"][-3:].tolist() == [1e6, math.inf, 1e9]


def test_a_warning_if_a_long_run_of_rows_is_skipped():
    model = learned(Robust(scaled(linear_model.LinearRegression())), 2000)
    with pytest.warns(hf.HoldfastWarning, match="100 rows one after the other") as caught:
        for x, _ in numbers(150):
            model.learn_one(x, 1e9)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Robust(LinearRegressor(), outliers=0.9), "fewer than half"),
        (lambda: Robust(LinearRegressor(), outliers=True), "outliers must be"),
        (lambda: Robust(LinearRegressor(), outliers=hf.TopK), "outliers must be"),
        (lambda: Robust(LinearRegressor(), missing="drop"), "missing must be"),
        (lambda: Robust(LinearRegressor(), missing_share=1.0), "missing_share is"),
        (lambda: LinearRegressor(loss=hf.Logistic()), "is for labels"),
        (lambda: LinearClassifier(loss=hf.Linear()), "no smallest value"),
        (lambda: LinearClassifier(hf.AdaHedge()), "experts|begin there"),
        (lambda: LinearClassifier(hf.OGD), "OGD is a class"),
    ],
)
def test_what_cannot_work_is_refused_at_once(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


@pytest.mark.parametrize(
    "x",
    [
        {"a": None, "b": None, "city": "Rome"},
        {"a": None, "b": math.nan, "city": "Oslo"},
        {"a": math.inf, "b": 0.0},
        {"city": "Rome"},
        {"a": None, "b": None, "city": None},
    ],
)
def test_a_step_that_selects_a_text_does_not_raise_for_missing_numbers(x):
    model = Robust(
        (compose.Select("a", "b") | preprocessing.StandardScaler())
        + (compose.Select("city") | preprocessing.OneHotEncoder())
        | linear_model.LinearRegression()
    )
    for t, (row, y) in enumerate(numbers(100)):
        model.learn_one(row | {"city": "Rome" if t % 2 else "Oslo"}, y)
    assert math.isfinite(model.predict_one(x))
    kept = model.kept
    model.learn_one(x, 50.0)
    assert model.kept <= kept + 1 and math.isfinite(model.predict_one(x))


def test_text_and_nothing_instead_of_numbers_are_predicted_with_usual_values():
    words = compose.Select("c") | preprocessing.OneHotEncoder()
    values = compose.Select("a", "b") | preprocessing.StandardScaler()
    for pipeline in (values, values + words):
        model = Robust(pipeline | linear_model.LinearRegression())
        for t, (x, y) in enumerate(numbers(300)):
            model.learn_one(x | {"c": "xy"[t % 2]}, y)
        for cell in (None, "n/a", math.nan):
            assert math.isfinite(model.predict_one({"a": cell, "b": 1.0, "c": "x"}))
            assert math.isfinite(model.predict_one({"a": cell, "b": cell, "c": None}))
            assert math.isfinite(model.predict_one({"a": cell, "b": cell, "c": "y"}))
            model.learn_one({"a": cell, "b": 1.0, "c": "x"}, 1.0)
