"""AdaFTRL against the minimum it is defined by, and its regret against its bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from learners.minima import over_ball
from learners.trials import streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import learned, linear_ratio

BALL = hf.AdaFTRL(hf.Ball(2.0))


def minimum(total, eta):
    """Where <total, w> + ‖w‖² / (2 eta) is least in the ball, and how small that is."""
    if not eta < math.inf:
        return np.zeros(len(total)), -2.0 * np.linalg.norm(total)
    w = over_ball(np.eye(len(total)) / eta, -total, 2.0)
    return w, total @ w + w @ w / (2.0 * eta)


def test_it_is_cvxpys_minimum_to_1e_9():
    """With gaps that follow from cvxpy's minima, too, rather than from the learner."""
    rng, inside = np.random.default_rng(0), []
    state, total, gap = BALL.init(3), np.zeros(3), 0.0
    drift = np.repeat([[2.0], [-3.0]], 20, axis=0)
    for g in rng.standard_normal((40, 3)) * np.array([1.0, 3.0, 1.0]) + drift:
        eta = 4.0 / (2.0 * gap) if gap > 0.0 else math.inf
        _, before = minimum(total, eta)
        product, total = BALL.predict(state) @ g, total + g
        gap += product + before - minimum(total, eta)[1]
        state = BALL.update(state, Round(1.0, g))
        assert state.gap * 2.0 == pytest.approx(gap, rel=1e-9)
        w, _ = minimum(total, 4.0 / (2.0 * gap))
        assert BALL.predict(state) == pytest.approx(w, abs=1e-9)
        inside.append(bool(np.linalg.norm(w) < 1.999))
    assert any(inside) and not all(inside)


def test_it_is_the_projection_of_the_sum_to_1e_9():
    """The same minimum in closed form, from sums computed separately."""
    G = np.random.default_rng(1).standard_normal((2000, 4)) * np.geomspace(1.0, 100.0, 2000)[:, None]
    state = BALL.init(4)
    for t, g in enumerate(G):
        state = BALL.update(state, Round(1.0, g))
        if t % 50 == 0:
            w = -4.0 / (2.0 * 2.0 * state.gap) * G[: t + 1].sum(axis=0)
            assert BALL.predict(state) == pytest.approx(w * min(1.0, 2.0 / np.linalg.norm(w)), abs=1e-9)


@given(streams())
def test_the_regret_is_at_most_its_bound(G):
    assert linear_ratio(BALL, G) <= 1.0 + 1e-9
    _, state = learned(BALL, G)
    sizes = np.array([hf.norms.L2().of(g) for g in G])
    most = math.sqrt(2.0) * 2.0 * hf.norms.L2().of(G.ravel()) + 8.0 * sizes.max()
    assert BALL.bound(state, np.array([2.0, 0.0])) <= most * (1.0 + 1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_it_learns_at_every_scale(size):
    rng = np.random.default_rng(2)
    G = rng.standard_normal((50, 2)) + 0.3
    one, other = learned(BALL, G)[1].w, learned(BALL, size * G)[1].w
    assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("domain", [hf.Box(-1.0, 1.0), hf.domains.Everywhere()], ids=repr)
def test_other_domains_are_refused(domain):
    with pytest.raises(TypeError, match=r"balls, Ball\(radius\): got .* SoloFTRL takes any"):
        hf.AdaFTRL(domain)
