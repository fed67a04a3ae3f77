"""Learners by name: each works scaled and guarded, and is refused where it does not apply."""

import math

import numpy as np
import pytest
from samples import slow

import holdfast as hf
from holdfast.defaults import default_learner, recommended
from holdfast.options import FOR_LABELS, FOR_NUMBERS, LEARNERS, read_learner
from holdfast.river import LinearRegressor, linear
from holdfast.sklearn import RobustClassifier, RobustRegressor
from holdfast.steady import Diagonal

ROUNDS = 400
SQUARED = ("ons", "onlineridge", "vaw")


def stream(regression, seed=0):
    """Data of a linear model with features of different scales, and a mask of the good rounds."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((ROUNDS, 3))
    z = Z @ [2.0, -1.0, 0.5] + 0.1 * rng.standard_normal(ROUNDS)
    X, y = 100.0 + Z * [1.0, 1e3, 1e-3], 50.0 + 10.0 * z if regression else np.where(z > 0.0, 1.0, -1.0)
    good = np.ones(ROUNDS, bool)
    good[60::40] = False
    X[~good] *= 1e6
    y[~good] *= -1.0
    return X, y, good


def loss_for(name, regression):
    if name in SQUARED:
        return hf.Squared()
    return hf.Absolute() if regression else hf.Hinge()


def player_for(name, regression):
    return recommended(regression, learner=read_learner(name, loss_for(name, regression)))


@pytest.mark.parametrize("name", LEARNERS)
def test_each_learns_scaled_and_guarded_with_outliers(name):
    X, y, good = stream(True)
    record = hf.play(
        player_for(name, True), hf.Replay(X, y, loss_for(name, True)), keep=("predictions", "kept")
    )
    assert not record.kept[~good].any() and record.kept[good].mean() > 0.9
    late = good & (np.arange(ROUNDS) >= 200)
    assert np.abs(record.predictions - y)[late].mean() < 0.35 * np.abs(y - np.median(y))[late].mean()


@pytest.mark.parametrize("name", LEARNERS)
def test_estimators_accept_names(name):
    if name in SQUARED:
        X, y, good = stream(True)
        model = RobustRegressor(learner=name, loss="squared_error", n_epochs=1, random_state=0).fit(X, y)
        assert model.score(X[good], y[good]) > 0.9
    else:
        X, y, good = stream(False)
        model = RobustClassifier(learner=name, n_epochs=1, random_state=0).fit(X, y)
        assert model.score(X[good], y[good]) > 0.9


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in SQUARED])
def test_names_work_with_a_count_of_outliers_and_without_scaling(name):
    X, y, good = stream(False)
    Z = (X - X[good].mean(axis=0)) / X[good].std(axis=0)
    model = RobustClassifier(15, learner=name, scale=False, n_epochs=1, random_state=0).fit(Z, y)
    if name == "scaleinvariant":
        with pytest.raises(AttributeError, match="a learner whose domain is unbounded"):
            print(model.certificate_)
    else:
        assert model.certificate_.bound > 0.0


def test_the_error_for_an_unknown_name_lists_all_names():
    X, y, _ = stream(False)
    with pytest.raises(
        ValueError,
        match=r"must be adagrad, .*, vaw, logits, first_order, second_order, .*, or a learner itself: got",
    ):
        RobustClassifier(learner="adam").fit(X, y)


@pytest.mark.parametrize("name", ["adahedge", "squint", "eg"])
def test_learners_of_experts_are_refused_as_linear_models(name):
    with pytest.raises(ValueError, match="divides weight among experts"):
        read_learner(name, hf.Hinge())


def test_learners_refuse_losses_that_they_do_not_support():
    for name in ("onlineridge", "vaw"):
        with pytest.raises(ValueError, match="made for squared losses"):
            read_learner(name, hf.Hinge())
    with pytest.raises(ValueError, match="made for exp-concave losses"):
        read_learner("ons", hf.Hinge())
    with pytest.raises(ValueError, match="how steep a loss can be"):
        read_learner("scaleinvariant", hf.Squared())
    assert read_learner("scaleinvariant", hf.Huber(3.0)).steepest == 3.0


@pytest.mark.parametrize("name", ["onlineridge", "vaw", "scaleinvariant"])
def test_learners_that_use_more_than_the_gradient_refuse_weights(name):
    X, y, _ = stream(True)
    loss = "squared_error" if name in SQUARED else "absolute_error"
    model = RobustRegressor(learner=name, loss=loss, n_epochs=1, random_state=0)
    with pytest.raises(ValueError, match="rows cannot have weights"):
        model.fit(X, y, sample_weight=np.linspace(0.5, 1.5, ROUNDS))
    model.fit(X, y, sample_weight=np.ones(ROUNDS))


def dicts(rounds=300):
    """Rows as dicts, with seven features that appear late, and their targets."""
    rng = np.random.default_rng(1)
    for t in range(rounds):
        x = dict(zip("abcdefghij", rng.standard_normal(10), strict=True))
        y = x["a"] - 2.0 * x["b"] + (x["j"] if t >= 100 else 0.0)
        yield x if t >= 100 else {name: x[name] for name in "abc"}, y


@pytest.mark.parametrize(
    "name", [slow(name) if "metagrad" in name else name for name in LEARNERS if name != "ons"]
)
def test_river_models_accept_names(name, monkeypatch):
    loss = loss_for(name, True)
    models = LinearRegressor(name, loss), LinearRegressor(name, loss)
    errors, scale = [], []
    monkeypatch.setattr(linear, "_CAPACITY", 16)  # enough for all features
    models[1]._weights = linear.NamedWeights(models[1]._weights.learner)
    for x, y in dicts():
        z, large = (model.predict_one(x) for model in models)
        assert z == pytest.approx(large, rel=1e-9, abs=1e-9)
        errors.append(abs(z - y))
        scale.append(abs(y))
        for model in models:
            model.learn_one(x, y)
    assert np.mean(errors[200:]) < 0.7 * np.mean(scale[200:])


def test_river_models_refuse_names_that_they_do_not_support():
    with pytest.raises(ValueError, match="divides weight among experts"):
        LinearRegressor("adahedge")
    with pytest.raises(ValueError, match="made for squared losses"):
        LinearRegressor("vaw")
    with pytest.raises(TypeError, match="none may come later"):
        LinearRegressor("ons", hf.Squared())
    with pytest.raises(ValueError, match="rows cannot have weights"):
        LinearRegressor("vaw", hf.Squared()).learn_one({"a": 1.0}, 1.0, w=2.0)
    with pytest.raises(TypeError, match="a name or a learner of holdfast"):
        LinearRegressor(3)


@pytest.mark.parametrize("name", FOR_NUMBERS)
def test_mixtures_have_names_for_numbers_only(name):
    X, y, good = stream(True)
    model = RobustRegressor(learner=name, n_epochs=1, random_state=0).fit(X, y)
    assert model.score(X[good], y[good]) > 0.9
    np.testing.assert_allclose(model.predict(X[good]), X[good] @ model.coef_ + model.intercept_, atol=1e-9)
    with pytest.raises(ValueError, match="for numbers as targets"):
        RobustClassifier(learner=name).fit(X, np.sign(y - 50.0))


def test_the_default_follows_loss_and_columns():
    assert default_learner(True, columns=300) == FOR_NUMBERS["second_order"]
    assert default_learner(True, columns=301) == FOR_NUMBERS["first_order"]
    assert default_learner(True, loss=hf.Huber(), columns=301).loss == hf.Huber()
    assert default_learner(True, loss=hf.losses.Pinball(0.9)).loss == hf.losses.Pinball(0.9)
    assert default_learner(False) == FOR_LABELS["logits"]
    assert default_learner(False, columns=301).covariance == Diagonal()
    sparse = default_learner(True, columns=math.inf)
    for other in (sparse, default_learner(True, plain=True), default_learner(False, loss=hf.Hinge())):
        assert other == LEARNERS["adagrad"]


def test_rows_with_weights_are_learned_by_the_default_too():
    X, y, good = stream(True)
    model = RobustRegressor(n_epochs=2, random_state=0).fit(X, y, sample_weight=np.linspace(0.5, 1.5, ROUNDS))
    assert model.score(X[good], y[good]) > 0.8


def test_memory_and_patience_reach_the_player_or_are_refused():
    player = recommended(True, memory=50, patience=70)
    assert (player.learner.memories.max(), player.gate.patience) == (50.0, 70)
    with pytest.raises(ValueError, match="memory=50 is for the default learner"):
        recommended(True, learner=LEARNERS["adagrad"], memory=50)
    with pytest.raises(ValueError, match=r"patience must be .* from 10 to 10,000,000: got 3"):
        recommended(True, patience=3)
