"""`loss=` is the loss that is learned with, whatever the learner is, or it is refused."""

import itertools

import numpy as np
import pytest
from samples import slow

import holdfast as hf
from holdfast.learners import Mixture, OnlineLogistic, RobustRidge
from holdfast.losses import EpsilonInsensitive, Pinball, SquaredHinge
from holdfast.options import ALL_LEARNERS, LEARNER
from holdfast.sklearn import RobustClassifier, RobustRegressor
from holdfast.steady import Logits, Ridges

OBJECTS = [
    RobustRidge(),
    hf.VAW(),
    hf.OnlineRidge(),
    OnlineLogistic(),
    Ridges(),
    Ridges(hf.Huber(), redescends=False),
    Logits(),
    Mixture((LEARNER, hf.OGD(hf.Ball(1.0))), hf.Huber()),
]
FOR_NUMBERS = [hf.Absolute(), hf.Squared(), hf.Huber(), Pinball(0.9), EpsilonInsensitive()]
FOR_LABELS = [hf.Logistic(), hf.Hinge(), SquaredHinge()]


def table(rows=120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.exponential(1.0, rows)
    return X, y, y + rng.standard_normal(rows) > 1.0


@pytest.mark.parametrize("learner", [None, *ALL_LEARNERS, *OBJECTS], ids=str)
@pytest.mark.parametrize("make, losses", [(RobustRegressor, FOR_NUMBERS), (RobustClassifier, FOR_LABELS)])
def test_losses_have_models_of_their_own_or_are_refused(make, losses, learner):
    X, y, labels = table()
    found = []
    for loss in losses:
        model = make(loss=loss, learner=learner, n_epochs=1, random_state=0)
        try:
            model.fit(X, y if make is RobustRegressor else labels)
        except ValueError as error:
            assert repr(loss) in str(error)
            continue
        found.append(np.append(model.coef_, model.intercept_))
    for one, other in itertools.combinations(found, 2):
        assert not np.array_equal(one, other)


@pytest.mark.parametrize("share", [0.1, 0.9])
@pytest.mark.parametrize("columns", [3, slow(320)])
def test_a_quantile_is_that_quantile(share, columns):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4_000, columns))
    y = X[:, 0] + rng.standard_normal(4_000)
    model = RobustRegressor(loss=Pinball(share), random_state=0).fit(X[:3_000], y[:3_000])
    assert (y[3_000:] <= model.predict(X[3_000:])).mean() == pytest.approx(share, abs=0.06)
