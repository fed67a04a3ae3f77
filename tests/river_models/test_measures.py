"""What a round is judged by."""

import math

import pytest
from river import compose, feature_extraction, linear_model, naive_bayes, optim, preprocessing, stats, tree
from river_models.streams import labels, numbers, scaled

import holdfast as hf
from holdfast.river import LinearClassifier, Robust, gradient_size


def test_the_size_of_a_gradient_is_what_the_model_learns_from():
    glm = linear_model.LinearRegression(optim.SGD(0.1), intercept_lr=0.1)
    for x, y in numbers(3):
        x = {"a": x["a"] / 1000.0, "b": x["b"]}
        before = glm.weights | {"": glm.intercept}
        size = gradient_size(glm, x, y)
        glm.learn_one(x, y)
        after = glm.weights | {"": glm.intercept}
        moved = math.hypot(*(after[name] - before.get(name, 0.0) for name in after))
        assert moved == pytest.approx(0.1 * size)


def test_our_gradient_is_that_of_the_game():
    model = LinearClassifier(hf.OGD(hf.Ball(2.0)), hf.Hinge())
    player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.Everything()), dim=3)
    for x, y in labels(50):
        x = {"a": x["a"] - 1000.0, "b": 1000.0 * x["b"]}
        size = gradient_size(model, x, y)
        decision = player.learn([1.0, x["a"], x["b"]], 1.0 if y else -1.0, hf.Hinge())
        model.learn_one(x, y)
        assert size == pytest.approx(decision.size)
        assert list(model.weights.values()) == pytest.approx(player.predict()[1:])


def test_a_score_of_your_own():
    def doubt(model, x, y):
        return abs(x["a"] - 1000.0)

    model = Robust(tree.HoeffdingTreeRegressor(), outliers=0.01, score=doubt)
    for x, y in numbers(300):
        model.learn_one(x, y)
    kept = model.kept
    model.learn_one({"a": 900.0, "b": 0.0}, 50.0)
    model.learn_one({"a": math.nan, "b": 0.0}, 50.0)
    model.learn_one({"a": 1000.0, "b": math.inf}, 50.0)
    assert model.kept == kept
    assert model.audit_counts["score"] >= 1 and model.audit_counts["not finite"] == 2
    assert model.clone().score is doubt
    with pytest.raises(TypeError):
        Robust(tree.HoeffdingTreeRegressor(), score=lambda x: 1.0).learn_one(x, y)


def test_an_imputer_gets_what_is_missing():
    model = Robust(preprocessing.StatImputer(("b", stats.Mean())) | scaled(linear_model.LinearRegression()))
    for t, (x, y) in enumerate(numbers(300)):
        model.learn_one(x | {"b": None} if t % 10 == 0 else x, y)
    assert model.audit_counts["not finite"] == 0


def test_a_pipeline_that_asks_for_a_feature_that_is_not_known():
    parts = (compose.Select("a") | preprocessing.StandardScaler()) + compose.Select("b")
    model = Robust(parts | linear_model.LinearRegression(intercept_lr=0.1))
    for x, y in numbers(300):
        model.learn_one(x, y)
    kept, usual = model.kept, model.predict_one({"a": 1000.0, "b": 0.0})
    for x in ({"a": math.nan, "b": 0.0}, {"a": math.inf}, {"b": 0.0}, {}):
        assert model.predict_one(x) == pytest.approx(usual, abs=1.0)
        model.learn_one(x, 50.0)
    assert model.kept == kept and model.audit_counts["not finite"] == 4


def test_text():
    words = feature_extraction.BagOfWords(lowercase=False) | naive_bayes.MultinomialNB()
    model = Robust(words)
    for _ in range(20):
        model.learn_one("wave salt tide", "sea")
        model.learn_one("rock moss cairn", "hill")
    assert model.predict_one("tide") == "sea" and model.predict_one("moss") == "hill"
    model = Robust(feature_extraction.BagOfWords() | linear_model.SoftmaxRegression())
    for _ in range(20):
        model.learn_one("wave salt tide", "sea")
        model.learn_one("rock moss cairn", "hill")
    assert model.predict_one("tide") == "sea"


def test_quantile_filters_start_the_model_anew():
    model = Robust(linear_model.LinearRegression(), outliers=hf.Quantile(0.9, growth=2.0))
    for t, (x, y) in enumerate(numbers(1100)):
        first = model.model
        model.learn_one({"b": x["b"]}, y)
        assert (model.model is not first) == (t == 1024)


@pytest.mark.parametrize("unmeasured", [[], [1024, 1025, 1026]], ids=["finite", "then NaN"])
def test_a_label_that_is_absent_does_not_start_the_model_anew(unmeasured):
    model = Robust(linear_model.LogisticRegression(), outliers=hf.Quantile(0.9, growth=2.0))
    starts = []
    for t in range(1100):
        first = model.model
        model.learn_one({"a": math.nan if t in unmeasured else 1.0 + t % 7}, t >= 1024)
        starts += [t] if model.model is not first else []
    assert starts == [1024]
