"""Linear models: one formula for dense and sparse rows, for a few and for many, for one model and several."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.linear_model import LinearModels, empty_models, shapes_of, write_plain, write_scaled, write_view
from holdfast.options import LEARNER
from holdfast.vectors import dot, prediction_of, values_of


def models(count=3, features=4, seed=0, center=1.0):
    rng = np.random.default_rng(seed)
    found = LinearModels(*(rng.uniform(0.5, 2.0, shape) for shape in shapes_of(count, features).values()))
    far = {"knee": np.full(count, 1.5), "clip": np.full(count, 2.5), "wild": np.full(count, 20.0)}
    return found._replace(center=center * found.center, low=-3.0 * found.high, **far)


def by_hand(p, i, row):
    """The formula of docs/run-folder.md, cell by cell."""
    z = p.constant[i]
    for j, x in enumerate(row):
        u = (x - p.center[i, j]) * p.factors[i, j]
        if abs(u) > p.knee[i]:
            u = np.sign(u) * (p.knee[i] + np.log1p(abs(u) - p.knee[i]))
        is_known = np.isfinite(x) and abs((x - p.center[i, j]) * p.factors[i, j]) <= p.wild[i]
        z += p.weights[i, j] * (min(max(u, -p.clip[i]), p.clip[i]) if is_known else 0.0)
    return min(max(p.y_center[i] + p.y_spread[i] * z, p.low[i]), p.high[i])


def rows(count=40, seed=1):
    X = np.random.default_rng(seed).normal(size=(count, 4)) * [1.0, 3.0, 0.1, 30.0]
    X[3, 1], X[4, 2], X[5] = np.nan, np.inf, np.nan
    return X


@pytest.mark.parametrize("center", [0.0, 1.0])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_predictions_are_those_of_the_formula(make, center):
    p, X = models(center=center), rows()
    X[6, 0] = 0.0
    expected = [[by_hand(p, i, row) for i in range(3)] for row in X]
    assert p.predict(make(X)) == pytest.approx(np.array(expected), rel=1e-12)


def test_a_few_rows_have_the_bits_of_many():
    p, X = models(), np.nan_to_num(rows(), posinf=7.0)
    many = p.predict(np.tile(X, (100, 1)))[: len(X)]
    assert p.predict(X).tobytes() == many.tobytes()
    assert p.predict(X[:1]).tobytes() == many[:1].tobytes()


def test_rows_without_a_far_cell_have_the_same_bits_beside_one():
    p, far = models(), np.array([[1e9, np.nan, np.inf, -50.0]])
    near = np.clip(np.random.default_rng(2).normal(size=(3_000, 4)), p.center.max(axis=0) - 0.7, 1.0)
    assert (np.abs((near - p.center[0]) * p.factors[0]) <= p.knee[0]).all()
    assert p.predict(np.vstack([near, far]))[:-1].tobytes() == p.predict(near).tobytes()


def test_each_row_may_have_its_own_model():
    p, X = models(), rows()
    which = np.arange(len(X)) % 3
    found = p.predictions(p.dense_scores(X, which), which)
    assert found.tobytes() == p.predict(X)[np.arange(len(X)), which].tobytes()


def test_coefficients_and_intercepts_are_in_the_units_of_the_data():
    p = models()._replace(knee=np.full(3, np.inf), clip=np.full(3, np.inf), wild=np.full(3, np.inf))
    p = p._replace(low=np.full(3, -np.inf), high=np.full(3, np.inf))
    X = np.nan_to_num(rows(), posinf=7.0)
    assert p.predict(X) == pytest.approx(X @ p.coefficients().T + p.intercepts(), rel=1e-12)
    assert p.coefficients() == pytest.approx(p.effects() * p.factors)


def test_a_wild_cell_counts_as_missing_and_the_others_still_count():
    p, X = models(), np.ones((3, 4))
    X[1, 3], X[2, 3] = 1e6, np.nan
    found = p.predict(X)
    assert found[1].tobytes() == found[2].tobytes() and (found[1] != found[0]).any()
    assert p.wild_cells(X, np.zeros(1, int)).sum(axis=1).tolist() == [0, 1, 0]


@pytest.mark.parametrize("scaled", [True, False])
def test_what_was_learned_predicts_as_the_player_does(scaled):
    learner = hf.Scaled(LEARNER, target=True) if scaled else hf.OGD(hf.Ball(5.0))
    X = np.nan_to_num(rows(300), posinf=0.0)
    X = X if scaled else np.column_stack([X, np.ones(len(X))])
    rule = hf.Filtered(learner, hf.Everything())
    player = hf.Player(rule, X.shape[1])
    for row in X[:200]:
        player.learn(row, row[0] - 2.0 * row[2], hf.Absolute())
    w, p = rule.current_weights(player.state), empty_models(1, 4)
    if scaled:
        write_scaled(p, 0, values_of(w.v), w)
    else:
        write_plain(p, 0, values_of(w))
    write_view(p, w)
    for row in X[200:210]:
        assert p.predict(row[None, :4])[0, 0] == pytest.approx(prediction_of(w, dot(w, row)), rel=1e-9)
