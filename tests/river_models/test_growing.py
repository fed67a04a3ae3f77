"""Features that appear late, come and go: columns of `RobustRegressor` and `RobustClassifier`."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river_models.streams import numbers
from river_models.test_any_values import ROWS, VALUES

import holdfast as hf
from holdfast.river import RobustClassifier, RobustRegressor, growing
from holdfast.river.growing import FIRST, FeatureColumns


def test_a_feature_that_appears_late_is_learned():
    rng, model, missed = random.Random(0), RobustRegressor(), []
    for t, (x, y) in enumerate(numbers(2000)):
        if t > 700 and rng.random() < 0.3:
            snow = rng.uniform(901.0, 905.0)
            x, y = x | {"snow": snow}, y + 10.0 * (snow - 903.0)
        if t > 1500:
            missed.append(abs(model.predict_one(x) - y))
        model.learn_one(x, y)
    assert model.weights["snow"] == pytest.approx(10.0, abs=0.5)
    assert sum(missed) / len(missed) < 0.5


def test_three_wild_values_of_the_first_eight_do_not_ruin_a_late_feature():
    model, rng = RobustRegressor(), random.Random(0)
    for t, (x, y) in enumerate(numbers(1500)):
        late = rng.gauss(20.0, 1.0)
        y += 5.0 * (late - 20.0)
        if t >= 300:
            x = x | {"late": 1e7 if t in (300, 302, 305) else late}
        model.learn_one(x, y)
    assert model.weights["late"] == pytest.approx(5.0, abs=0.5)


def test_a_feature_has_a_column_from_its_eighth_number_on_or_from_the_first_rows():
    columns = FeatureColumns()
    assert list(columns.begin({"b": 1.0, "a": 2, "text": "word", "hole": None})) == ["a", "b"]
    for _ in range(FIRST):
        columns.begin({"a": 1.0})
    begun = [list(columns.begin({"late": float(t), "text": "word"})) for t in range(FIRST)]
    assert begun == [[]] * (FIRST - 1) + [["late"]] and columns.name_of(2) == "late"
    assert str(columns.row({"late": True, "b": "word"}).tolist()) == "[nan, nan, 1.0]"


def test_the_order_in_which_features_come_does_not_matter():
    rng, one, other = random.Random(0), RobustRegressor(), RobustRegressor()
    for x, y in numbers(200):
        one.learn_one(x, y)
        other.learn_one(dict(rng.sample(list(x.items()), len(x))), y)
    assert one.weights == other.weights


def test_too_many_features_are_left_out_with_a_warning(monkeypatch):
    monkeypatch.setattr(growing, "_MOST", 3)
    model = RobustRegressor()
    with pytest.warns(hf.HoldfastWarning, match="more than 3 features") as caught:
        model.learn_one(dict.fromkeys("abcde", 1.0), 1.0)
    assert set(model.weights) == set("abc") and caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("regression", [True, False])
@given(stream=st.lists(st.tuples(ROWS, VALUES), max_size=12), late=st.booleans())
@settings(max_examples=25, deadline=None)
def test_data_never_raises_and_predictions_are_finite(regression, stream, late):
    model = RobustRegressor() if regression else RobustClassifier()
    for x, y in numbers(15 if late else 0):
        model.learn_one(x, y if regression else y > 50.0)
    for x, y in stream:
        y = y if regression else (None if y is None or y != y else y > 0.0)
        model.learn_one(x, y)
        if regression:
            assert math.isfinite(model.predict_one(x))
        else:
            assert all(0.0 <= p <= 1.0 for p in model.predict_proba_one(x).values())
    assert model.kept + sum(model.audit_counts.values()) == len(stream) + (15 if late else 0)
