"""The fitted models: units, classes, sparse rows, and the same bits on every path."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn_estimators.tables import table, three_classes

from holdfast._compiled.compiling import expecting
from holdfast.continuing import Game
from holdfast.sklearn import RobustClassifier, RobustRegressor
from holdfast.sklearn.passes import are_native


def test_coefficients_are_in_the_units_of_the_data():
    X, _, y, fresh, *_ = table(2000)
    model = RobustRegressor("auto", random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(fresh), fresh @ model.coef_ + model.intercept_, rtol=1e-9)
    assert model.coef_.shape == (4,) and model.intercept_.shape == (1,)


def test_with_three_classes_each_pair_has_a_model():
    X, y = three_classes()
    model = RobustClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.coef_.shape == (3, 2) and model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (600, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()
    pair = np.isin(y, ["a", "c"])
    alone = RobustClassifier(shuffle=False).fit(X[pair], y[pair])
    together = RobustClassifier(shuffle=False, n_epochs=alone.n_iter_).fit(X, y)
    np.testing.assert_array_equal(alone.coef_[0], together.coef_[1])
    assert set(model.audit_["label"]) <= set("abc")
    assert model.skipped_ + model.kept_ == 600


def test_sparse_rows_give_the_same_model():
    X, y, *_ = table()
    X[np.abs(X) < np.median(np.abs(X))] = 0.0
    dense, sparse = (RobustClassifier(scale=False, random_state=0).fit(rows, y) for rows in (X, csr_array(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9)
    np.testing.assert_allclose(sparse.decision_function(X), sparse.decision_function(csr_array(X)))
    np.testing.assert_allclose(dense.decision_function(X), dense.decision_function(csr_array(X)))
    dense, sparse = (RobustClassifier(random_state=0).fit(rows, y) for rows in (X, csr_array(X)))
    assert (dense.coef_ == sparse.coef_).all()
    np.testing.assert_allclose(sparse.decision_function(csr_array(X)), dense.decision_function(X), atol=1e-9)


@pytest.mark.slow
def test_interpreted_and_compiled_fits_have_the_same_bits(monkeypatch):
    X, y, *_ = table(100)
    with monkeypatch.context() as patched:  # or it is played compiled, if this process has compiled it
        patched.setattr("holdfast.continuing.choose", lambda *_: False)
        interpreted = RobustClassifier(random_state=0).fit(X, y, sample_weight=np.arange(100) % 3)
    with expecting(math.inf):
        compiled = RobustClassifier(random_state=0).fit(X, y, sample_weight=np.arange(100) % 3)
    assert are_native(compiled._games) and not are_native(interpreted._games)
    assert interpreted.coef_.tobytes() == compiled.coef_.tobytes()


@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_float32_rows_are_learned_from_as_float64(convert, monkeypatch):
    X, y, *_ = table(200)
    X, seen = X.astype(np.float32), []
    monkeypatch.setattr("holdfast.sklearn.passes._CHUNK", 64)
    play = Game.play

    def recorded(game, replay, *others, **options):
        seen.append(replay[0].dtype)
        return play(game, replay, *others, **options)

    monkeypatch.setattr(Game, "play", recorded)
    half, full = (
        RobustClassifier(random_state=0).fit(convert(rows), y) for rows in (X, X.astype(np.float64))
    )
    assert {*seen} == {np.dtype(np.float64)} and len(seen) == 2 * 5 * 2
    assert half.coef_.tobytes() == full.coef_.tobytes()
    assert half.audit_counts_ == full.audit_counts_


def test_a_few_rows_and_many_have_the_same_predictions():
    X, y, *_ = table(300)
    X[6, 1] = 1e300
    for labels in (y, np.where(np.arange(300) % 5 == 0, "third", y)):
        model = RobustClassifier(random_state=0, n_epochs=1).fit(X, labels)
        many = model._models.predict(np.tile(X, (30, 1)))[: len(X)]
        assert model._models._predict_few(X).tobytes() == many.tobytes()


@pytest.mark.parametrize("model", [RobustClassifier(), RobustRegressor()])
def test_coefficients_are_there_after_fit_and_not_before(model):
    for name in ("coef_", "intercept_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="has not been fitted yet"):
            getattr(model, name)


def test_coefficients_that_were_read_do_not_change():
    X, y, *_ = table(200)
    model = RobustClassifier(learner="adagrad", n_epochs=1).fit(X[:100], y[:100])
    before = model.coef_
    kept = before.copy()
    model.partial_fit(X[100:], y[100:])
    assert np.array_equal(before, kept) and not np.array_equal(model.coef_, kept)
