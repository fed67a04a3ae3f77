"""Several classes from models of two: pairs, or one against the rest."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from holdfast.linear_model import MOST_PAIRED, class_margins, models_for
from holdfast.sklearn import RobustClassifier


def test_margins_of_pairs_give_the_probabilities_they_come_from():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=50)
    models = models_for(4)
    assert len(models) == 6
    margins = np.column_stack([np.log(p[:, j] / p[:, i]) for j, i in models])
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-class_margins(margins, models))), p)


def test_a_pair_learns_only_from_its_own_rows():
    codes = np.array([0, 1, 2, 1])
    signs, taught = models_for(3)[2].split(codes)  # 2 against 1
    assert signs[taught].tolist() == [-1.0, 1.0, -1.0] and taught.tolist() == [False, True, True, True]


def test_many_classes_have_one_model_each():
    models = models_for(MOST_PAIRED + 1)
    assert len(models) == MOST_PAIRED + 1
    signs, taught = models[3].split(np.array([3, 0, 5]))
    assert signs.tolist() == [1.0, -1.0, -1.0] and taught.all()
    margins = np.zeros((2, MOST_PAIRED + 1))
    assert class_margins(margins, models) is margins


def test_more_classes_than_have_pairs_are_learned():
    rng = np.random.default_rng(0)
    y = rng.integers(0, MOST_PAIRED + 1, 400)
    X = np.eye(MOST_PAIRED + 1)[y] + 0.1 * rng.normal(size=(400, MOST_PAIRED + 1))
    model = RobustClassifier(learner="adagrad", random_state=0, n_epochs=1).fit(X, y)
    assert model.coef_.shape == (MOST_PAIRED + 1, MOST_PAIRED + 1) and model.score(X, y) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_it_is_as_good_as_logistic_regression(load):
    X, y = load(return_X_y=True)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)  # one row of wine is 0.6 %
    ours = cross_val_score(RobustClassifier(random_state=0), X, y, cv=folds).mean()
    other = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=folds).mean()
    assert ours > other - 0.02
