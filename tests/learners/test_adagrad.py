"""AdaGrad against its formula, and its regret against its bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import same

import holdfast as hf

gradients = st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1e-9, -1e6, 1e6])
streams = st.lists(st.tuples(gradients, gradients), min_size=1, max_size=40)


def test_every_weight_has_a_step_of_its_own():
    adagrad, rng = (
        hf.AdaGrad(hf.Box([-1.0, -5.0], [1.0, 3.0]), rate=0.3, ballast=0.5),
        np.random.default_rng(0),
    )
    state, w, squares = adagrad.init(2), np.array([0.0, -1.0]), np.full(2, 0.5)
    for g in rng.standard_normal((100, 2)) * [1.0, 100.0]:
        state, squares = adagrad.update(state, 2.0, g), squares + 4.0 * g * g
        w = np.clip(
            w - 0.3 * np.array([2.0, 8.0]) / np.sqrt(2.0 * squares) * 2.0 * g, [-1.0, -5.0], [1.0, 3.0]
        )
        assert adagrad.predict(state) == pytest.approx(w)


@given(streams, st.sampled_from([0.0, 1.0]), st.sampled_from([1.0, 0.1, 3.0]))
def test_the_regret_is_at_most_its_bound(stream, ballast, rate):
    box, G, D = hf.Box([-1.0, 0.0], [1.0, 4.0]), np.array(stream), np.array([2.0, 4.0])
    adagrad = hf.AdaGrad(box, rate, ballast)
    state, regret = adagrad.init(2), 0.0
    for g in G:
        regret += adagrad.predict(state) @ g
        state = adagrad.update(state, 1.0, g)
    regret += box.support(-G.sum(axis=0))
    bound = math.sqrt(2.0) * (D * np.sqrt(ballast + (G**2).sum(axis=0))).sum() * (rate + 1.0 / rate) / 2.0
    assert regret <= bound * (1.0 + 1e-9) + 1e-9


def test_a_weight_without_gradients_does_not_move():
    adagrad = hf.AdaGrad(hf.Box(-1.0, 1.0))
    state = adagrad.update(adagrad.init(2), 1.0, np.array([3.0, 0.0]))
    assert adagrad.predict(state).tolist() == [-1.0, 0.0]
    assert same(adagrad.update(state, 0.0, np.ones(2)), state)


def test_sparse_rows_move_what_dense_ones_do():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    X = np.where(rng.random((300, 20)) < 0.1, rng.standard_normal((300, 20)), 0.0)
    y = np.sign(X.sum(axis=1) + 0.1)
    player = hf.Filtered(hf.AdaGrad(hf.Box(-1.0, 1.0), rate=0.1), hf.TopK(3))
    finals = [
        hf.play(player, hf.Replay(rows, y, hf.Logistic()), compiled=compiled).final
        for rows in (X, sparse.csr_array(X))
        for compiled in (False, True)
    ]
    assert same(finals[0], finals[1]) and same(finals[2], finals[3])
    assert finals[0] == pytest.approx(finals[2], abs=1e-12)


@pytest.mark.parametrize(
    "make, error, complaint",
    [
        (lambda: hf.AdaGrad(hf.Ball(1.0)), TypeError, r"Box\(low, high\): got Ball"),
        (lambda: hf.AdaGrad(hf.Box(-1.0, 1.0), rate=0.0), ValueError, "must be positive: got 0.0"),
        (lambda: hf.AdaGrad(hf.Box(-1.0, 1.0), ballast=-1.0), ValueError, "cannot be negative: got -1.0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, error, complaint):
    with pytest.raises(error, match=complaint):
        make()
