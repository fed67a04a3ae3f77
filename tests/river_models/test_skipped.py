"""A skipped row does not change the model, and it is in the audit."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from river import base, compose, linear_model
from river_models.streams import MODELS, labels, numbers, scaled, spoiled_rows

from holdfast.river import Robust
from holdfast.river.judging import teach_transformers
from holdfast.river.size_filters import SizeFilters

WILD_ROWS = [
    {"a": math.nan, "b": 0.0},
    {"a": math.inf, "b": 0.0},
    {"a": 1e300, "b": 0.0},
    {"a": 10**400, "b": 0.0},
    {"a": 1e308, "b": -1e308},
    {"a": 1000.0, "b": None},
    {"a": 1000.0, "b": "broken"},
    {"a": 1000.0, "b": 1.0},
]
WILD_TARGETS = [math.nan, -math.inf, 1e300, -1e6, 10**400, None, "broken"]
UNKNOWN_LABELS = [None, math.nan]


@pytest.mark.parametrize("name", MODELS)
def test_a_robust_model_is_the_bare_model_trained_on_the_kept_rows(name, monkeypatch):
    model, bare = Robust(MODELS[name].clone(), missing="skip"), MODELS[name].clone()
    only_gradient, decide = [], SizeFilters.decide

    def spied(filters, *sizes):
        verdict = decide(filters, *sizes)
        only_gradient.append(filters.refused == ("gradient",))
        return verdict

    monkeypatch.setattr(SizeFilters, "decide", spied)
    for x, y in spoiled_rows(isinstance(model, base.Regressor)):
        kept = model.kept
        model.learn_one(x, y)
        if model.kept > kept:
            bare.learn_one(x, y)
        elif only_gradient[-1]:  # and nothing else was wrong
            teach_transformers(bare, x)
    assert sum(model.audit_counts.values()) > 10
    assert all(model.model.predict_one(x) == bare.predict_one(x) for x, _ in numbers(30, seed=1))


@pytest.mark.parametrize("name", MODELS)
def test_wild_rows_change_no_bit_of_the_model(name):
    model = Robust(MODELS[name].clone(), missing="skip")
    regression = isinstance(model, base.Regressor)
    for x, y in numbers(300):
        model.learn_one(x, y if regression else y > 50.0)
    before, kept = pickle.dumps(model.model), model.kept
    for x in WILD_ROWS:
        model.learn_one(x, 50.0 if regression else True)
    for y in WILD_TARGETS if regression else UNKNOWN_LABELS:
        model.learn_one({"a": 1000.0, "b": 0.0}, y)
    assert pickle.dumps(model.model) == before
    assert model.kept == kept


def test_wild_rows_change_no_scaler_of_a_pipeline():
    model = Robust(scaled(linear_model.LogisticRegression()))
    for x, y in labels(300):
        model.learn_one(x, y)
    scaler = model.model["StandardScaler"]
    before = dict(scaler.means), dict(scaler.vars), dict(scaler.counts)
    model.learn_one({"a": 1e6, "b": 0.0}, True)
    assert before == (dict(scaler.means), dict(scaler.vars), dict(scaler.counts))
    assert model.audit["reason"][-1] == "features"
    bare = model.model.clone(include_attributes=True)
    bare.learn_one({"a": 1e6, "b": 0.0}, True)
    assert dict(bare["StandardScaler"].means) != before[0]


def test_measuring_changes_nothing_even_if_predicting_does():
    model = Robust(scaled(linear_model.LinearRegression()))
    for x, y in numbers(300):
        model.learn_one(x, y)
    before = pickle.dumps(model.model)
    with compose.learn_during_predict():
        model.learn_one({"a": 1e6, "b": 0.0}, 50.0)
    assert pickle.dumps(model.model) == before


def test_the_audit_has_the_first_skipped_rows_and_counts_all():
    model = Robust(linear_model.LinearRegression(), audit_size=7, missing="skip")
    for x, y in spoiled_rows(regression=True):
        model.learn_one({"a": x["a"] / 1000.0, "b": x["b"]}, y)
    warm = model.audit_counts["warm-up"]
    assert model.kept + model.skipped + warm == 300
    assert sum(model.audit_counts.values()) - warm == model.skipped > 7
    audit = model.audit
    assert {len(column) for column in audit.values()} == {7}
    assert (np.diff(audit["round"]) > 0).all()
    assert model.audit_counts["not readable"] == 6 and model.audit_counts["features"] >= 6
    assert len(pd.DataFrame(audit)) == 7
    compared = audit["reason"] != "not readable"
    assert (audit["size"][compared] > audit["threshold"][compared]).all()
