"""`Robust` with the rest of River: evaluation, copies, other wrappers, wrong parameters."""

import pickle

import pytest
from river import (
    anomaly,
    datasets,
    ensemble,
    evaluate,
    linear_model,
    metrics,
    multiclass,
    preprocessing,
    reco,
)
from river_models.streams import error, labels, numbers, scaled, spoiled, wild_features

import holdfast as hf
from holdfast.options import LEARNER
from holdfast.river import LinearClassifier, LinearRegressor, Robust


def test_progressive_validation_works():
    model = Robust(scaled(linear_model.LogisticRegression()))
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.ROCAUC())
    assert score.get() > 0.94
    delayed = evaluate.progressive_val_score(
        datasets.Phishing(), model.clone(), metrics.Accuracy(), moment=None, delay=20
    )
    assert delayed.get() > 0.85


def test_copies_and_pickles_learn_the_same():
    model = Robust(scaled(linear_model.LogisticRegression()), outliers=hf.TopShare(0.02), audit_size=5)
    for x, y in labels(200):
        model.learn_one(x, y)
    copies = (pickle.loads(pickle.dumps(model)), model.clone(include_attributes=True))
    fresh = model.clone()
    assert type(fresh) is type(model) and (fresh.kept, fresh.skipped) == (0, 0)
    assert fresh.outliers == hf.TopShare(0.02) and fresh.audit_size == 5
    for x, y in labels(100, seed=1):
        copies[0].learn_one(x, y)
        model.learn_one(x, y)
    assert copies[0].audit_counts == model.audit_counts
    assert copies[0].model["LogisticRegression"].weights == model.model["LogisticRegression"].weights
    assert copies[1].kept == model.kept - (copies[0].kept - copies[1].kept)
    model.mutate({"model": {"LogisticRegression": {"l2": 0.5}}})
    assert model.model["LogisticRegression"].l2 == 0.5


def test_it_works_in_other_wrappers():
    bag = ensemble.BaggingClassifier(Robust(scaled(linear_model.LogisticRegression())), n_models=3, seed=1)
    assert error(bag, ((x, y, True) for x, y in labels())) < 0.15
    many = multiclass.OneVsRestClassifier(Robust(scaled(LinearClassifier())))
    assert error(many, spoiled(datasets.ImageSegments().take(800), wild_features)) < 0.35
    inner = preprocessing.StandardScaler() | Robust(linear_model.LinearRegression(intercept_lr=0.1))
    assert error(inner, ((x, y, True) for x, y in numbers())) < 5.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Robust(preprocessing.StandardScaler()), "classifiers and regressors"),
        (lambda: Robust(anomaly.HalfSpaceTrees()), "classifiers and regressors"),
        (lambda: Robust(reco.Baseline()), "classifiers and regressors"),
        (lambda: Robust(linear_model.LinearRegression), "classifiers and regressors"),
        (lambda: Robust(linear_model.LinearRegression(), outliers="some"), "outliers must be"),
        (lambda: Robust(linear_model.LinearRegression(), outliers=-1), "outliers must be"),
        (lambda: Robust(linear_model.LinearRegression(), outliers=None), "outliers must be"),
        (lambda: Robust(linear_model.LinearRegression(), score=3), "score must be a function"),
        (lambda: Robust(linear_model.LinearRegression(), audit_size=-1), "audit_size counts"),
        (lambda: LinearRegressor(loss="squared"), "loss must be"),
        (lambda: LinearRegressor(learner="sgd"), "learner must be"),
        (lambda: LinearRegressor(hf.OGD(hf.Simplex())), "must begin there"),
        (lambda: LinearRegressor(hf.AdaGrad(hf.Box(0.0, 1.0))), "must begin there"),
        (lambda: LinearRegressor(hf.Scaled(LEARNER)), "StandardScaler"),
        (lambda: LinearRegressor(hf.AdaGrad(hf.Box([-1.0, -1.0], [1.0, 1.0]))), "2"),
    ],
)
def test_wrong_parameters_are_refused_in_a_sentence(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()
