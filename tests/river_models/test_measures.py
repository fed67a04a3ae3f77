"""The sizes of a row, and scores that replace them."""

import math

import pytest
from river import compose, feature_extraction, linear_model, naive_bayes, optim, preprocessing, stats, tree
from river_models.streams import labels, numbers, scaled

import holdfast as hf
from holdfast.river import LinearClassifier, Robust, gradient_size


def test_the_step_of_a_model_is_its_learning_rate_times_the_gradient():
    glm = linear_model.LinearRegression(optim.SGD(0.1), intercept_lr=0.1)
    for x, y in numbers(3):
        x = {"a": x["a"] / 1000.0, "b": x["b"]}
        before = glm.weights | {"": glm.intercept}
        size = gradient_size(glm, x, y)
        glm.learn_one(x, y)
        after = glm.weights | {"": glm.intercept}
        moved = math.hypot(*(after[name] - before.get(name, 0.0) for name in after))
        assert moved == pytest.approx(0.1 * size)


def test_the_gradient_of_our_model_is_that_of_player():
    model = LinearClassifier(hf.OGD(hf.Ball(2.0)), hf.Hinge())
    player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.Everything()), dim=3)
    for x, y in labels(50):
        x = {"a": x["a"] - 1000.0, "b": 1000.0 * x["b"]}
        size = gradient_size(model, x, y)
        decision = player.learn([1.0, x["a"], x["b"]], 1.0 if y else -1.0, hf.Hinge())
        model.learn_one(x, y)
        assert size == pytest.approx(decision.size)
        assert list(model.weights.values()) == pytest.approx(player.predict()[1:])


def test_a_score_of_the_user_replaces_the_sizes():
    def deviation(model, x, y):
        return abs(x["a"] - 1000.0)

    model = Robust(tree.HoeffdingTreeRegressor(), outliers=0.01, score=deviation, missing="skip")
    for x, y in numbers(300):
        model.learn_one(x, y)
    kept = model.kept
    model.learn_one({"a": 900.0, "b": 0.0}, 50.0)
    model.learn_one({"a": math.nan, "b": 0.0}, 50.0)
    model.learn_one({"a": 1000.0, "b": math.inf}, 50.0)
    assert model.kept == kept
    assert model.audit_counts["score"] >= 1 and model.audit_counts["not readable"] == 2
    assert model.clone().score is deviation
    with pytest.raises(TypeError):
        Robust(tree.HoeffdingTreeRegressor(), score=lambda x: 1.0).learn_one(x, y)


def test_a_row_for_an_imputer_is_not_skipped():
    model = Robust(preprocessing.StatImputer(("b", stats.Mean())) | scaled(linear_model.LinearRegression()))
    for t, (x, y) in enumerate(numbers(300)):
        model.learn_one(x | {"b": None} if t % 10 == 0 else x, y)
    assert model.audit_counts["not readable"] == 0


def test_a_pipeline_gets_usual_values_for_absent_features():
    parts = (compose.Select("a") | preprocessing.StandardScaler()) + compose.Select("b")
    model = Robust(parts | linear_model.LinearRegression(intercept_lr=0.1), missing="skip")
    for x, y in numbers(300):
        model.learn_one(x, y)
    kept, usual = model.kept, model.predict_one({"a": 1000.0, "b": 0.0})
    for x in ({"a": math.nan, "b": 0.0}, {"a": math.inf}, {"b": 0.0}, {}):
        assert model.predict_one(x) == pytest.approx(usual, abs=1.0)
        model.learn_one(x, 50.0)
    assert model.kept == kept and model.audit_counts["not readable"] == 4


def test_a_text_can_be_a_row():
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


@pytest.mark.filterwarnings("ignore::holdfast.HoldfastWarning")
def test_quantile_filters_restart_the_model():
    model = Robust(linear_model.LinearRegression(), outliers=hf.Quantile(0.9, growth=2.0))
    for t, (x, y) in enumerate(numbers(1100)):
        first = model.model
        model.learn_one({"b": x["b"]}, y)
        assert (model.model is not first) == (t == 1024)


@pytest.mark.filterwarnings("ignore::holdfast.HoldfastWarning")
@pytest.mark.parametrize("unmeasured", [[], [1024, 1025, 1026]], ids=["finite", "then NaN"])
def test_an_absent_label_does_not_restart_the_model(unmeasured):
    model = Robust(linear_model.LogisticRegression(), outliers=hf.Quantile(0.9, growth=2.0))
    starts = []
    for t in range(1100):
        first = model.model
        model.learn_one({"a": math.nan if t in unmeasured else 1.0 + t % 7}, t >= 1024)
        starts += [t] if model.model is not first else []
    assert starts == [1024]
