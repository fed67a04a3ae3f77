"""The online Newton step against its formula, and its regret against its bound."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners.minima import over_ball
from learners.trials import streams

import holdfast as hf
from holdfast.learners import cholesky as factors
from holdfast.learners.cholesky import nearest, rotate_in
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import curved_ratio, learned


def test_it_is_newtons_step_and_cvxpys_projection_to_1e_9():
    rng, ons = np.random.default_rng(0), hf.ONS(hf.Ball(1.0), alpha=0.5)
    state, w, most, A, far = ons.init(3), np.zeros(3), 0.0, np.zeros((3, 3)), 0
    for t, g in enumerate(rng.standard_normal((40, 3)) + 0.2):
        size = np.linalg.norm(g)
        most = max(most, size)
        A = A + (size / 2.0 * np.eye(3) if t == 0 else 0.0) + 0.5 * min(0.5, 0.5 / most) * np.outer(g, g)
        state, v = ons.update(state, Round(1.0, g)), w - np.linalg.solve(A, g)
        w, far = over_ball(A, A @ v, 1.0), far + int(np.linalg.norm(v) > 1.0)
        assert ons.predict(state) == pytest.approx(w, abs=1e-9)
        assert state.root.T @ state.root == pytest.approx(A, rel=1e-9, abs=1e-9)
    assert 5 < far < 35


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_the_nearest_point_satisfies_its_own_equation(seed):
    """(A + mu I) w = A v, mu >= 0, ‖w‖ = radius: necessary and sufficient."""
    rng = np.random.default_rng(seed)
    R, v = np.diag(10.0 ** rng.uniform(-3.0, 3.0, 4)), 10.0 ** rng.uniform(0.0, 2.0) * rng.standard_normal(4)
    for x in 10.0 ** rng.uniform(-2.0, 2.0, (5, 1)) * rng.standard_normal((5, 4)):
        rotate_in(R, x)
    w, A = nearest(R, v.copy(), 0.5), R.T @ R
    pull = A @ (v - w)
    mu = pull @ w / (w @ w)
    assert np.linalg.norm(w) == pytest.approx(min(0.5, np.linalg.norm(v)))
    assert mu >= 0.0
    assert pull == pytest.approx(mu * w, rel=1e-6, abs=1e-7 * np.abs(A @ v).max())


def test_a_unit_vector_turns_only_the_rows_below_it(monkeypatch):
    """Without this, a shift takes three times as many rotations, too many in a thousand dimensions."""
    rng, turns = np.random.default_rng(4), []
    R = np.linalg.cholesky(np.cov(rng.standard_normal((9, 40)))).T
    rotate = factors.rotate
    monkeypatch.setattr(factors, "rotate", lambda row, x, k: turns.append(len(x) - k) or rotate(row, x, k))
    moved = R.copy()
    factors.shift(moved, 0.7)
    assert moved.T @ moved == pytest.approx(R.T @ R + 0.7 * np.eye(9), rel=1e-12, abs=1e-12)
    assert sum(turns) <= sum(k * (k + 1) // 2 for k in range(1, 10))


@settings(max_examples=50)
@given(streams(rounds=20), st.sampled_from([0.01, 1.0, 100.0]))
def test_the_regret_is_at_most_its_bound(G, alpha):
    assert curved_ratio(hf.ONS(hf.Ball(2.0), alpha), G) <= 1.0 + 1e-9


def test_on_curved_losses_the_regret_is_logarithmic():
    """Squared losses with residuals up to 2: the bound, and the larger one that needs no run."""
    rng, ons = np.random.default_rng(1), hf.ONS(hf.Ball(1.0), alpha=0.25)
    X = rng.uniform(-1.0, 1.0, (400, 3)) / math.sqrt(3.0)
    y = np.clip(X @ [0.5, -0.5, 0.3] + 0.5 * rng.standard_normal(400), -1.0, 1.0)
    player = hf.Filtered(ons, hf.Everything())
    record = hf.play(player, hf.Replay(X, y, hf.Squared()), compiled=False)
    regret, state = hf.robust_regret(record), record.state[0].learner
    bound, G = ons.bound(state, np.array([1.0, 0.0, 0.0])), record.size.max()
    squares = 0.5 * 0.25 * (record.size**2).sum()
    assert regret <= bound <= 3 * max(4.0, 2.0 * G) * math.log1p(squares / (3 * state.epsilon)) + G / 4.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_it_learns_at_every_scale(size):
    G = np.random.default_rng(2).standard_normal((20, 2)) + 0.3
    states = (learned(hf.ONS(hf.Ball(2.0), 1.0 / scale), scale * G)[1] for scale in (1.0, size))
    one, other = (state.w for state in states)
    assert one == pytest.approx(other, rel=1e-6)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: hf.ONS(hf.Box(-1.0, 1.0), alpha=1.0), r"balls, Ball\(radius\): got Box"),
        (lambda: hf.ONS(hf.Ball(1.0), alpha=0.0), r"must be positive: got 0\.0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        make()
