"""River's own checks of models."""

import random

import pytest
from river import checks, datasets, linear_model, tree
from river_models.streams import MODELS, scaled
from samples import slow, thinned

import holdfast as hf
from holdfast.river import (
    LinearClassifier,
    LinearRegressor,
    Robust,
    RobustClassifier,
    RobustRegressor,
    residual,
)

WRAPPED = {name: Robust(model) for name, model in MODELS.items()} | {
    "count": Robust(tree.HoeffdingTreeClassifier(), outliers=5),
    "share": Robust(scaled(linear_model.LogisticRegression()), outliers=0.1),
    "none": Robust(linear_model.PARegressor(), outliers=0),
    "quantile": Robust(linear_model.LinearRegression(), outliers=hf.Quantile(0.9)),
    "score": Robust(tree.HoeffdingTreeClassifier(), score=residual),
    "RobustRegressor": RobustRegressor(),
    "RobustRegressor, delay": RobustRegressor(0.05, "huber", delay=7),
    "RobustClassifier": RobustClassifier(),
    "bare LinearRegressor": LinearRegressor(),
    "bare LinearClassifier": LinearClassifier(hf.OGD(hf.Ball(5.0)), hf.Hinge()),
}
DEAREST = "RobustClassifier"  # half a minute


@pytest.mark.filterwarnings("ignore")  # River's models warn, because the checks use unscaled numbers
@pytest.mark.parametrize("name", [*thinned((n for n in WRAPPED if n != DEAREST), 9), slow(DEAREST)])
def test_all_checks_of_river_pass(name):
    # River shuffles features. On unscaled numbers, the rounding errors of a bare BayesianLinearRegression are
    # larger than the allowed 1e-6 in one shuffle of 40.
    random.seed(0)
    checks.check_estimator(WRAPPED[name])


@pytest.mark.parametrize("name", ["BayesianLinearRegression", "scaler, LinearRegression"])
def test_the_order_of_features_does_not_matter(name):
    rng, one, other = random.Random(0), Robust(MODELS[name].clone()), Robust(MODELS[name].clone())
    wild = 0
    for x, y in datasets.TrumpApproval().take(300):
        if rng.random() < 0.02:
            y, wild = 1e3 * y, wild + 1
        one.learn_one(x, y)
        other.learn_one(dict(rng.sample(list(x.items()), len(x))), y)
        assert one.audit_counts == other.audit_counts
    assert one.skipped >= wild > 2


@pytest.mark.parametrize("name", MODELS)
def test_no_check_is_skipped_that_river_does_not_skip_itself(name):
    assert WRAPPED[name]._unit_test_skips() == MODELS[name]._unit_test_skips()
