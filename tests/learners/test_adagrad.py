"""AdaGrad against its formula, and its regret against its bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import same
from learners.minima import over_ball, over_simplex
from learners.trials import streams as gradient_streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import linear_ratio

gradients = st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1e-9, -1e6, 1e6])
streams = st.lists(st.tuples(gradients, gradients), min_size=1, max_size=40)


def test_every_weight_has_a_step_of_its_own():
    adagrad, rng = (
        hf.AdaGrad(hf.Box([-1.0, -5.0], [1.0, 3.0]), rate=0.3, ballast=0.5),
        np.random.default_rng(0),
    )
    state, w, squares = adagrad.init(2), np.array([0.0, -1.0]), np.full(2, 0.5)
    for g in rng.standard_normal((100, 2)) * [1.0, 100.0]:
        state, squares = adagrad.update(state, Round(2.0, g)), squares + 4.0 * g * g
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
        state = adagrad.update(state, Round(1.0, g))
    regret += box.support(-G.sum(axis=0))
    bound = math.sqrt(2.0) * (D * np.sqrt(ballast + (G**2).sum(axis=0))).sum() * (rate + 1.0 / rate) / 2.0
    assert regret <= bound * (1.0 + 1e-9) + 1e-9


def test_a_weight_without_gradients_does_not_move():
    adagrad = hf.AdaGrad(hf.Box(-1.0, 1.0))
    state = adagrad.update(adagrad.init(2), Round(1.0, np.array([3.0, 0.0])))
    assert adagrad.predict(state).tolist() == [-1.0, 0.0]
    assert same(adagrad.update(state, Round(0.0, np.ones(2))), state)


def river_adagrad(G, rate):
    """River's, started from 0: w <- w - rate g / sqrt(sum of squares + its eps)."""
    optimizer = pytest.importorskip("river.optim").AdaGrad(lr=rate, eps=1e-300)
    w, path = dict.fromkeys(range(G.shape[1]), 0.0), []
    for g in G:
        w = optimizer.step(w, dict(enumerate(g.tolist())))
        path.append(list(w.values()))
    return np.array(path)


@pytest.mark.parametrize("domain", [hf.Box(-1e3, 1e3), hf.Ball(1e3)], ids=repr)
def test_inside_the_domain_it_is_rivers_to_1e_9(domain):
    G = np.random.default_rng(4).standard_normal((300, 3)) * np.array([1.0, 100.0, 1e-3])
    adagrad = hf.AdaGrad(domain, rate=1e-3)
    state, path = adagrad.init(3), river_adagrad(G, 1e-3 * 2e3 / math.sqrt(2.0))
    for g, w in zip(G, path, strict=True):
        state = adagrad.update(state, Round(1.0, g))
        assert adagrad.predict(state) == pytest.approx(w, abs=1e-9)


PROJECTED = [hf.AdaGrad(hf.Ball(2.0)), hf.AdaGrad(hf.Simplex()), hf.AdaGrad(hf.Ball(1.0), 0.3, 1.0)]


@pytest.mark.parametrize("adagrad", PROJECTED, ids=repr)
def test_on_balls_and_simplices_it_is_cvxpys_projection_to_1e_9(adagrad):
    rng, D = np.random.default_rng(5), adagrad.domain.diameter(hf.norms.LInf(), 3)
    state, w = adagrad.init(3), adagrad.domain.center(3)
    squares = np.full(3, adagrad.ballast)
    for g in rng.standard_normal((15, 3)) * np.array([1.0, 5.0, 0.2]) + 0.3:
        state, squares = adagrad.update(state, Round(2.0, g)), squares + 4.0 * g * g
        h = np.sqrt(squares)
        v = w - adagrad.rate * D / math.sqrt(2.0) * 2.0 * g / h
        is_ball = isinstance(adagrad.domain, hf.Ball)
        w = over_ball(np.diag(h), h * v, adagrad.domain.radius) if is_ball else over_simplex(h, v)
        assert adagrad.predict(state) == pytest.approx(w, abs=1e-9)


@pytest.mark.parametrize("adagrad", PROJECTED, ids=repr)
def test_there_too_the_regret_is_at_most_its_bound(adagrad):
    @given(gradient_streams())
    def holds(G):
        assert linear_ratio(adagrad, G) <= 1.0 + 1e-9

    holds()


@pytest.mark.parametrize(
    "make, error, complaint",
    [
        (lambda: hf.AdaGrad(hf.domains.L1Ball(1.0)), TypeError, r"Box\(low, high\), .* got L1Ball"),
        (lambda: hf.AdaGrad(hf.Ball(1.0), rate=0.0), ValueError, "must be positive: got 0.0"),
        (lambda: hf.AdaGrad(hf.Ball(1.0), ballast=-1.0), ValueError, "cannot be negative: got -1.0"),
        (lambda: hf.AdaGrad(hf.Box(-1.0, 1.0), rate=0.0), ValueError, "must be positive: got 0.0"),
        (lambda: hf.AdaGrad(hf.Box(-1.0, 1.0), ballast=-1.0), ValueError, "cannot be negative: got -1.0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, error, complaint):
    with pytest.raises(error, match=complaint):
        make()
