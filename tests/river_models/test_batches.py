"""Batches of rows, and weights of rows."""

import math
import pickle

import pandas as pd
import pytest
from river import linear_model, tree
from river_models.streams import MODELS, labels, numbers, scaled, spoiled_rows

from holdfast.river import Robust


@pytest.mark.parametrize("name", ["BayesianLinearRegression", "HoeffdingTreeClassifier", "LinearRegressor"])
def test_a_batch_is_the_same_as_its_rows_one_by_one(name):
    rows, answers = zip(*spoiled_rows(regression="Class" not in name), strict=True)
    one, many = Robust(MODELS[name].clone()), Robust(MODELS[name].clone())
    for x, y in zip(rows, answers, strict=True):
        one.learn_one(x, y)
    for part in (slice(0, 7), slice(7, 100), slice(100, 300)):
        many.learn_many(pd.DataFrame(rows[part]), pd.Series(answers[part]))
    assert (one.kept, one.audit_counts) == (many.kept, many.audit_counts)
    for x in rows[:50]:
        assert one.predict_one(x) == pytest.approx(many.predict_one(x), nan_ok=True)
    frame = pd.DataFrame(rows[:30], index=range(100, 130))
    assert many.predict_many(frame).tolist() == pytest.approx([many.predict_one(x) for x in rows[:30]])
    assert list(many.predict_many(frame).index) == list(frame.index)


def test_a_pipeline_learns_from_the_kept_rows_of_a_batch():
    good = [(x, y) for x, y in labels(64)]
    bad = [({"a": 1e9, "b": 0.0}, True), ({"a": math.nan, "b": 0.0}, False)]
    model = Robust(scaled(linear_model.LogisticRegression()), missing="skip")
    for x, y in labels(300, seed=1):
        model.learn_one(x, y)
    bare = pickle.loads(pickle.dumps(model.model))
    kept = model.kept
    X, y = (list(column) for column in zip(*good[:32], *bad, *good[32:], strict=True))
    model.learn_many(pd.DataFrame(X), pd.Series(y))
    assert model.kept == kept + 64
    bare.learn_many(pd.DataFrame([x for x, _ in good]), pd.Series([y for _, y in good]))
    assert bare["LogisticRegression"].weights == model.model["LogisticRegression"].weights
    assert model.predict_many(pd.DataFrame(X[:5])).tolist() == [model.predict_one(x) for x in X[:5]]
    before = pickle.dumps(model.model)
    model.learn_many(pd.DataFrame([x for x, _ in bad]), pd.Series([y for _, y in bad]))
    assert pickle.dumps(model.model) == before


def test_probabilities_of_a_batch_are_those_of_its_rows():
    model = Robust(tree.HoeffdingTreeClassifier())
    X, y = zip(*labels(300), strict=True)
    model.learn_many(pd.DataFrame(X), pd.Series(y))
    frame = pd.DataFrame(X[:20], index=range(100, 120))
    many = model.predict_proba_many(frame)
    assert list(many.index) == list(frame.index)
    assert many.to_dict("records") == [model.predict_proba_one(x) for x in X[:20]]


@pytest.mark.parametrize("missing", ["impute", "skip"])
def test_a_wild_cell_in_a_batch_counts_as_missing_as_in_a_row(missing):
    x, _ = next(numbers(1, seed=9))
    bad = pd.DataFrame([x, x | {"a": 1e9}, x | {"b": -math.inf}])
    model = Robust(scaled(linear_model.LinearRegression()), missing=missing)
    labeled = Robust(scaled(linear_model.LogisticRegression()), missing=missing)
    for t, (x, y) in enumerate(numbers(300)):
        model.learn_one(x, y)
        labeled.learn_one(x, t % 2 == 0)
    each = bad.to_dict("records")
    assert [sorted(model.unusual_cells(x)) for x in each] == [[], ["a"], ["b"]]
    assert model.predict_many(bad).tolist() == pytest.approx([model.predict_one(x) for x in each])
    found = labeled.predict_proba_many(bad)[True].tolist()
    assert found == pytest.approx([labeled.predict_proba_one(x)[True] for x in each])
    assert labeled.predict_many(bad).tolist() == [labeled.predict_one(x) for x in each]


def test_a_row_with_a_huge_weight_is_skipped():
    model = Robust(scaled(linear_model.LinearRegression()))
    for x, y in numbers(300):
        model.learn_one(x, y, w=1.0)
    kept = model.kept
    x, y = next(numbers(1, seed=9))
    model.learn_one(x, y, w=1e9)
    assert model.kept == kept and model.audit["reason"][-1] == "gradient"
    X, y = zip(*numbers(5, seed=9), strict=True)
    model.learn_many(pd.DataFrame(X), pd.Series(y), w=pd.Series([1.0, 1.0, 1e9, 1.0, 1.0]))
    assert model.kept == kept + 4
