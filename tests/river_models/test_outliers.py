"""What outliers do to River models in `Robust`, and to bare ones."""

import itertools
import random

import pytest
from river import datasets, linear_model, naive_bayes, neighbors, preprocessing, tree
from river_models.streams import (
    all_nan,
    error,
    numbers,
    one_wild_feature,
    scaled,
    spoiled,
    wild_features,
    wild_targets,
)
from samples import thinned

from holdfast.river import LinearClassifier, LinearRegressor, Robust


@pytest.mark.parametrize(
    ("name", "spoil"),
    thinned(
        list(
            itertools.product(
                ["linear", "target scaler", "neighbours", "ours"],
                [wild_targets, wild_features, one_wild_feature, all_nan],
            )
        ),
        3,
    ),
)
def test_one_percent_of_outliers_costs_a_regression_little_and_ruins_the_bare_model(name, spoil):
    model = {
        "linear": scaled(linear_model.LinearRegression(intercept_lr=0.1)),
        "target scaler": scaled(preprocessing.TargetStandardScaler(linear_model.LinearRegression())),
        "neighbours": scaled(neighbors.KNNRegressor(engine=neighbors.LazySearch(window_size=50))),
        "ours": scaled(preprocessing.TargetStandardScaler(LinearRegressor())),
    }[name]
    clean = error(Robust(model.clone()), spoiled(datasets.TrumpApproval(), spoil, share=0.0))
    robust = Robust(model.clone())
    assert error(robust, spoiled(datasets.TrumpApproval(), spoil)) < 1.1 * clean
    if spoil in (wild_targets, wild_features) and name in ("linear", "target scaler"):
        assert error(model.clone(), spoiled(datasets.TrumpApproval(), spoil)) > 1000.0 * clean


@pytest.mark.parametrize("name", ["logistic", "tree", "bayes", "ours", "aggressive"])
def test_one_percent_of_wild_rows_costs_a_classifier_little(name):
    model = {
        "logistic": scaled(linear_model.LogisticRegression()),
        "tree": tree.HoeffdingTreeClassifier(),
        "bayes": naive_bayes.GaussianNB(),
        "ours": scaled(LinearClassifier()),
        "aggressive": scaled(linear_model.PAClassifier()),
    }[name]
    clean = error(model.clone(), spoiled(datasets.Phishing(), wild_features, share=0.0))
    assert error(Robust(model.clone()), spoiled(datasets.Phishing(), wild_features)) < clean + 0.02
    assert error(model.clone(), spoiled(datasets.Phishing(), wild_features)) > clean + 0.2


def test_one_percent_of_wild_rows_costs_a_classifier_of_many_labels_little():
    model = scaled(linear_model.SoftmaxRegression())
    clean = error(model.clone(), spoiled(datasets.ImageSegments(), wild_features, share=0.0))
    assert error(Robust(model.clone()), spoiled(datasets.ImageSegments(), wild_features)) < clean + 0.03


def test_an_outlier_among_the_first_rows_costs_little():
    model = scaled(preprocessing.TargetStandardScaler(linear_model.LinearRegression()))
    clean = error(Robust(model.clone()), [(x, y, t > 50) for t, (x, y) in enumerate(numbers(200))])
    for bad in range(12):
        wild = [(x, 1e6 * y if t == bad else y, t > 50) for t, (x, y) in enumerate(numbers(200))]
        assert error(Robust(model.clone()), wild) < 1.3 * clean, bad


def test_while_all_rows_are_skipped_the_median_is_predicted():
    model = Robust(tree.HoeffdingTreeRegressor(), outliers=5)
    assert model.predict_one({"a": 1.0}) == 0.0
    for x, y in zip(range(5), (10.0, 1e9, 30.0, 20.0, 25.0), strict=True):
        model.learn_one({"a": float(x)}, y)
    assert model.kept == 0 and model.predict_one({"a": 1.0}) == 25.0
    taught = linear_model.LinearRegression(intercept_init=3.0)
    assert Robust(taught).predict_one({"a": 1.0}) == 3.0


def test_few_rows_of_clean_streams_are_skipped():
    for data in (datasets.TrumpApproval(), datasets.Phishing()):
        bare = linear_model.LinearRegression() if data.task == "Regression" else naive_bayes.GaussianNB()
        model = Robust(scaled(bare))
        for x, y in data:
            model.learn_one(x, y)
        assert model.skipped < 0.03 * (model.kept + model.skipped)


def test_a_rare_label_is_learned():
    rng = random.Random(0)
    model = Robust(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    found = []
    for t in range(20_000):
        y = rng.random() < 0.005
        x = {name: rng.gauss(4.0 if y else 0.0, 1.0) for name in "ab"}
        if y and t > 10_000:
            found.append(model.predict_one(x))
        model.learn_one(x, y)
    assert sum(found) > 0.5 * len(found)
