"""Parameters by name, rates and penalties, and errors for what cannot work."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_estimators.tables import linear_table

import holdfast as hf
from holdfast.sklearn import RobustClassifier, RobustRegressor

X, Y = linear_table(200)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (RobustRegressor(loss=hf.Logistic()), "is for labels"),
        (RobustRegressor(loss=hf.Linear()), "no smallest value"),
        (RobustClassifier(loss=hf.Linear()), "no smallest value"),
        (RobustRegressor(learner=hf.AdaHedge()), "never negative"),
        (RobustClassifier(learner=hf.EG(0.5)), "never negative"),
        (RobustRegressor(learner=hf.OGD), "OGD is a class"),
        (RobustRegressor(outliers=0.9), "fewer than half"),
        (RobustRegressor(outliers=True), "outliers must be"),
        (RobustRegressor(outliers=hf.TopK), "outliers must be"),
        (RobustRegressor(learning_rate=0.0), "learning_rate must be positive"),
        (RobustRegressor(learning_rate="fast"), "learning_rate must be a number"),
        (RobustRegressor(learner="soloftrl", learning_rate=0.1), "has no learning rate"),
        (RobustRegressor(alpha=-1.0), "alpha must be positive"),
        (RobustRegressor(learner="onlineridge", loss="squared_error", alpha=1.0), "penalty of its own"),
        (RobustRegressor(missing_share=1.0), "missing_share is a share"),
    ],
)
def test_what_cannot_work_is_refused_at_once(estimator, words):
    y = Y if isinstance(estimator, RobustRegressor) else Y > 0.0
    with pytest.raises((TypeError, ValueError), match=words):
        estimator.fit(X, y)


def test_a_subclass_may_have_fewer_parameters():
    class Strict(RobustRegressor):
        def __init__(self, outliers=0.3):
            super().__init__(outliers, n_epochs=1, random_state=0)

    same = RobustRegressor(0.3, n_epochs=1, random_state=0).fit(X, Y)
    assert Strict().fit(X, Y).coef_.tobytes() == same.coef_.tobytes()
    assert clone(Strict(0.2)).get_params() == {"outliers": 0.2}


def test_text_means_what_it_means_on_the_command_line():
    text = RobustRegressor("5%", learner="auto", memory="50", patience="70", random_state=0).fit(X, Y)
    same = RobustRegressor(0.05, learner=None, memory=50, patience=70, random_state=0).fit(X, Y)
    assert text.coef_.tobytes() == same.coef_.tobytes()
    assert RobustRegressor("20", loss="huber:2", n_epochs=1).fit(X, Y)._loss == hf.Huber(2.0)


def test_after_an_error_in_the_first_call_nothing_is_predicted():
    model = RobustRegressor(learner="onlineridge", loss="squared_error")
    with pytest.raises(ValueError, match="rows cannot have weights"):
        model.fit(X, Y, sample_weight=np.linspace(0.5, 1.5, len(Y)))
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_parameters_of_rules_have_names():
    model = RobustRegressor(20, learner=hf.OGD(hf.Ball(3.0)), loss=hf.Huber(2.0))
    params = model.get_params()
    assert (params["learner__domain__radius"], params["loss__knee"]) == (3.0, 2.0)
    assert "learner__domain" not in model.get_params(deep=False)
    model.set_params(learner__domain__radius=5.0, learner__step__scale=0.1, n_epochs=2)
    assert model.learner == hf.OGD(hf.Ball(5.0), hf.learners.Adaptive(0.1))
    assert model.n_epochs == 2
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(ValueError, match="has no parameter 'size'"):
        model.set_params(learner__size=1.0)
    with pytest.raises(ValueError, match="has no parameter 'teacher'"):
        model.set_params(teacher__rate=1.0)


def test_names_become_rules_if_their_parameters_are_set():
    model = RobustRegressor(loss="huber").set_params(learner__rate=0.1, loss__knee=3.0)
    assert model.learner.rate == 0.1
    assert model.loss == hf.Huber(3.0)
    assert (
        RobustRegressor().set_params(learner="ogd", learner__domain__radius=2.0).learner.domain.radius == 2.0
    )
    assert RobustRegressor(learner="adagrad:0.5").set_params(learner__ballast=2.0).learner.rate == 0.5
    assert RobustRegressor("quantile:0.9").set_params(outliers__p=0.8).outliers.p == 0.8
    with pytest.raises(ValueError, match="no parameters of its own"):
        RobustRegressor().set_params(outliers__k=3)


def test_a_grid_search_finds_the_learning_rate():
    steps = make_pipeline(StandardScaler(), RobustRegressor(random_state=0))
    grid = {"robustregressor__learner__rate": [1e-6, 0.05]}
    assert GridSearchCV(steps, grid, cv=2).fit(X, Y).best_params_ == {"robustregressor__learner__rate": 0.05}


@pytest.mark.parametrize("learner", [None, "adagrad", "ogd", hf.AdaGrad(hf.Box(-1.0, 1.0))])
def test_the_learning_rate_changes_the_steps(learner):
    slow, fast = (
        RobustRegressor(learner=learner, learning_rate=rate, n_epochs=1, random_state=0).fit(X, Y).coef_
        for rate in (1e-5, 1e-2)
    )
    assert np.abs(slow).sum() < 0.1 * np.abs(fast).sum()


@pytest.mark.parametrize("scale", [True, False])
def test_a_penalty_makes_weights_smaller_and_leaves_the_constant(scale):
    sizes, constants = [], []
    for alpha in (0.0, 1.0, 100.0):
        model = RobustRegressor(alpha=alpha, scale=scale, random_state=0, n_epochs=20).fit(X, Y + 1.0)
        sizes.append(np.linalg.norm(model.coef_))
        constants.append(model.predict(np.zeros((1, 5)))[0])
    assert sizes[0] > sizes[1] > 5.0 * sizes[2]
    assert np.allclose(constants, 1.0, atol=0.5)


def test_reset_forgets_the_data_and_keeps_the_parameters():
    model = RobustClassifier(0.1, random_state=0).partial_fit(X, Y > 0.0, classes=[False, True])
    weights = model.coef_
    assert vars(model.reset()) == vars(RobustClassifier(0.1, random_state=0))
    assert (model.partial_fit(X, Y > 0.0, classes=[False, True]).coef_ == weights).all()
