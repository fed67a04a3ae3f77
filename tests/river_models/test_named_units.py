"""Features that are added or absent, and their running scale."""

import math
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import linear_model, preprocessing, tree
from river_models.streams import labels, numbers, scaled

from holdfast.river import LinearRegressor, Robust
from holdfast.river.named_units import NamedUnits
from holdfast.steady.units import count_row, measure_units, new_units, replaced


def test_a_feature_that_appears_late_is_learned():
    rng = random.Random(0)
    model, missed = Robust(scaled(linear_model.LinearRegression(intercept_lr=0.1))), []
    for t, (x, y) in enumerate(numbers(3000)):
        if t > 1500 and rng.random() < 0.3:
            snow = rng.uniform(1.0, 5.0)
            x, y = x | {"snow": snow}, y + 10.0 * (snow - 3.0)
        if t > 2500:
            missed.append(abs(model.predict_one(x) - y))
        model.learn_one(x, y)
    assert model.model["LinearRegression"].weights["snow"] > 8.0
    assert sum(missed) / len(missed) < 1.5


def test_a_row_with_a_rare_flag_is_not_skipped():
    model = Robust(tree.HoeffdingTreeClassifier())
    for t, (x, y) in enumerate(labels(4000)):
        flagged = t % 200 == 0
        skipped = model.skipped
        model.learn_one(x | {"flag": int(flagged)}, y)
        assert not (flagged and t > 200 and model.skipped > skipped), t


def test_a_row_is_no_outlier_because_features_are_absent_or_new():
    model = Robust(tree.HoeffdingTreeClassifier())
    for x, y in labels(300):
        model.learn_one(x, y)
    kept = model.kept
    for row in ({}, {"a": 1000.0}, {"new": 1e9}, {"word": "yes"}):
        model.learn_one(row, True)
    assert model.kept == kept + 4


def test_sizes_are_deviations_from_the_usual_values():
    units = NamedUnits(0.12)
    assert units.size({}) == units.size({"a": 5.0}) == units.size({"a": "word"}) == 1.0
    assert math.isnan(units.size({"a": math.nan})) and math.isnan(units.size({"a": 10**400}))
    for t in range(1000):
        units.update({"a": float(t % 5), "always": 7, "flag": t % 100 == 99})
    assert units.size({"a": 2.0}) <= 1.0 < units.size({"a": 4.0}) <= 3.0
    assert units.size({"a": 2e6}) > 1e5
    assert units.size({"always": 1e9}) == 1.0
    assert units.size({"flag": True}) <= 1.5
    assert math.isnan(units.size({"a": "word"}))


@given(
    st.lists(st.floats(-10.0, 10.0), min_size=30, max_size=60),
    st.lists(st.floats(1e3, 1e9), min_size=3, max_size=3),
)
def test_three_wrong_values_of_the_first_eight_do_not_move_a_center(values, wild):
    units = NamedUnits(0.12)
    for value in (*values[:3], wild[0], values[3], *wild[1:], *values[4:]):
        units.update({"a": value})
    assert abs(units.features["a"].center) <= 10.0


def test_units_are_those_of_the_default():
    """For columns without repeated values; of those, `Steady` counts only the first."""
    rng, named, columns = random.Random(0), NamedUnits(0.12), new_units(1)
    values = [rng.gauss(50.0, 3.0) * (1000.0 if rng.random() < 0.05 else 1.0) for _ in range(3000)]
    measure_units(columns, np.array(values[:8])[:, None], 0.12)
    for value in values[:8]:
        named.update({"a": value})
    unit = named.features["a"]
    assert (unit.center, unit.factor) == (columns.center[0], columns.factors[0])
    for value in values[8:]:
        named.update({"a": value})
        due = count_row(columns, np.array([value]), 1, 0.12, unit.seen)
        if due:
            replaced(columns, 0, 0.12)
        assert (unit.center, unit.factor, unit.mean) == pytest.approx(
            (columns.center[0], columns.factors[0], columns.means[0])
        )


def test_a_stuck_sensor_keeps_its_unit():
    rng, units = random.Random(0), NamedUnits(0.12)
    for _ in range(500):
        units.update({"a": rng.gauss(0.0, 1.0)})
    before = units.features["a"].factor
    for _ in range(5000):
        units.update({"a": 0.01})
    assert units.features["a"].factor == before


def test_a_tenth_of_wild_values_among_repeated_ones_does_not_become_the_unit():
    units = NamedUnits(0.12)
    for t in range(3000):
        units.update({"code": 1e5 if t % 10 == 7 else float(t // 25 % 3)})
    assert units.size({"code": 1e5}) > 1e4


@pytest.mark.parametrize(
    "last", [LinearRegressor(), linear_model.LinearRegression()], ids=["ours", "River's"]
)
def test_a_feature_that_changes_after_thousands_of_rows_is_learned_and_errors_stay_bounded(last):
    """The scaler must learn it although the model skips the row; otherwise its variance would stay near 0."""
    rng, model = random.Random(0), Robust(scaled(preprocessing.TargetStandardScaler(last.clone())))
    errors, rainy, refused = [], 0, 0
    for t, (x, y) in enumerate(numbers(4000)):
        rain = rng.uniform(0.1, 2.0) if t > 3000 and rng.random() < 0.1 else 0.0
        x, y = x | {"rain": rain}, y - 3.0 * rain
        errors.append(abs(model.predict_one(x) - y))
        skipped = model.skipped
        model.learn_one(x, y)
        if rain > 0.0:
            rainy, refused = rainy + 1, refused + model.skipped - skipped
    before, after = sum(errors[2800:3000]) / 200, sum(errors[3000:3200]) / 200
    assert rainy > 80 and refused < 0.7 * rainy
    assert after < 20.0 * before
    assert sum(errors[3800:]) / 200 < 3.0 * before + 0.3
    assert max(errors[10:]) < 40.0


def test_predictions_stay_near_the_range_of_the_targets_learned_from():
    model = Robust(scaled(linear_model.LinearRegression(intercept_lr=0.1)))
    rows = list(numbers(500))
    for x, y in rows:
        model.learn_one(x, y)
    low, high = min(y for _, y in rows), max(y for _, y in rows)
    for a in (1e6, -1e6, 1e90):
        assert low - (high - low) < model.predict_one({"a": a, "b": 0.0}) < high + (high - low)
    frame = pd.DataFrame([{"a": 1e6, "b": 0.0}, {"a": 1000.0, "b": 0.0}], index=[7, 8])
    assert list(model.predict_many(frame).index) == [7, 8]
    assert model.predict_many(frame).tolist() == [model.predict_one(x) for x in frame.to_dict("records")]


def test_a_row_with_too_large_a_gradient_teaches_the_scaler_only():
    model = Robust(scaled(linear_model.LinearRegression()))
    for x, y in numbers(300):
        model.learn_one(x, y)
    kept, scaler = model.kept, dict(model.model["StandardScaler"].means)
    weights = dict(model.model["LinearRegression"].weights)
    x, y = next(numbers(1, seed=9))
    model.learn_one(x, y, w=1e9)
    assert model.kept == kept and model.audit["reason"][-1] == "gradient"
    assert dict(model.model["StandardScaler"].means) != scaler
    assert dict(model.model["LinearRegression"].weights) == weights
