"""Learners of holdfast as River models."""

import math
import pickle
import random

import pytest
from river_models.streams import labels

import holdfast as hf
from holdfast.options import LEARNER
from holdfast.river import LinearClassifier, LinearRegressor, linear
from holdfast.river.linear import NamedWeights


@pytest.mark.parametrize("learner", [LEARNER, hf.OGD(hf.Ball(3.0)), hf.OGD(hf.Box(-2.0, 2.0))])
def test_larger_arrays_for_more_features_change_nothing(learner, monkeypatch):
    rng = random.Random(0)
    rows = [{rng.randrange(1 + t // 4): rng.gauss(0.0, 1.0) for _ in range(3)} for t in range(200)]
    small = LinearRegressor(learner, hf.Squared())
    monkeypatch.setattr(linear, "_CAPACITY", 64)
    large = LinearRegressor(learner, hf.Squared())
    for x in rows:
        y = sum(value * math.sin(name) for name, value in x.items())
        exact = not isinstance(learner.domain, type(hf.Box(-1.0, 1.0))) or learner is LEARNER
        small.learn_one(x, y)
        large.learn_one(x, y)
        if exact:  # the steps of OGD in a box depend on its diameter
            assert small.weights == pytest.approx(large.weights, abs=1e-12)
    assert all(math.isfinite(weight) for weight in small.weights.values())
    assert small._weights.capacity == 64


def test_weights_have_names():
    model = LinearRegressor(hf.OGD(hf.Ball(100.0)), hf.Squared())
    for _ in range(500):
        model.learn_one({"a": 1.0}, 5.0)
        model.learn_one({"b": 1.0}, -1.0)
    assert model.predict_one({"a": 1.0}) == pytest.approx(5.0, abs=0.1)
    assert model.predict_one({"a": 1.0, "z": 9.0}) == model.predict_one({"a": 1.0})
    assert model.predict_one({}) == model.intercept
    assert model.weights["a"] - model.weights["b"] == pytest.approx(6.0, abs=0.2)


def test_bare_models_do_not_change_at_rows_that_are_not_finite():
    model = LinearClassifier()
    for x, y in labels(50):
        model.learn_one(x, y)
    before = pickle.dumps(model)
    for x in (
        {"a": math.nan},
        {"a": math.inf},
        {"a": None},
        {"a": "word"},
        {"new": math.nan},
        {"a": 10**400},
    ):
        model.learn_one(x, True)
        assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0)
    assert before == pickle.dumps(model)
    assert NamedWeights(LEARNER).by_name() == {}
