"""Online gradient descent against its formula, and its regret against its bounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf

streams = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=40)


def test_the_adaptive_step_is_the_papers():
    ogd, rng = hf.OGD(hf.Ball(1.0)), np.random.default_rng(0)
    state, w, total = ogd.init(3), np.zeros(3), 0.0
    for g in rng.standard_normal((100, 3)):
        state, total = ogd.update(state, 1.0, g), total + g @ g
        w = w - 2.0 / math.sqrt(2 * total) * g
        w /= max(1.0, np.linalg.norm(w))
        assert ogd.predict(state) == pytest.approx(w)


def test_the_strongly_convex_step_counts_the_rounds_learned_from():
    ogd, w = hf.OGD(hf.Box(-9.0, 9.0), hf.StronglyConvex(0.5)), 0.0
    player = hf.Filtered(ogd, hf.TopK(1))
    state, n = player.init(1), 0
    for g in (1.0, 1.5, 1e9, 1.0, -1e9, 0.5):
        state, decision = player.observe(state, g, np.ones(1))
        if decision.kept:
            n += 1
            w = min(9.0, max(-9.0, w - g / (0.5 * n)))
        assert player.predict(state)[0] == pytest.approx(w)


@given(streams)
def test_the_regret_is_at_most_root_2_times_the_diameter_times_the_root_of_the_squares(stream):
    ogd, state, regret, G = hf.OGD(hf.Ball(1.0)), hf.OGD(hf.Ball(1.0)).init(2), 0.0, np.array(stream)
    for g in G:
        regret += ogd.predict(state) @ g
        state = ogd.update(state, 1.0, g)
    regret += hf.Ball(1.0).support(-G.sum(axis=0))
    assert regret <= math.sqrt(2) * 2.0 * math.sqrt((G**2).sum()) + 1e-12


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.sampled_from([0.1, 1.0, 3.0]))
def test_strongly_convex_regret_is_at_most_the_sum_of_squares_over_2_sigma_n(targets, sigma):
    """On f_t(w) = sigma / 2 (w - y_t)^2, against the best point of the domain in hindsight."""
    ogd, y = hf.OGD(hf.Interval(-1.0, 1.0), hf.StronglyConvex(sigma)), np.array(targets)
    state, losses, bound = ogd.init(1), 0.0, 0.0
    for n, target in enumerate(y, start=1):
        w = ogd.predict(state)[0]
        g = sigma * (w - target)
        losses, bound = losses + sigma / 2 * (w - target) ** 2, bound + g * g / (2 * sigma * n)
        state = ogd.update(state, g, np.ones(1))
    assert losses - sigma / 2 * ((y - y.mean()) ** 2).sum() <= bound + 1e-12


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1.0, 1e155, 1e200, 1e300])
def test_the_bound_holds_at_every_scale(size):
    player = hf.Filtered(hf.OGD(hf.Interval(-1.0, 1.0)), hf.Everything())
    record = hf.play(player, hf.Gradients(np.full((50, 1), size)), compiled=False)
    assert hf.linearised_regret(record) <= 2.0 * math.sqrt(2.0 * 50) * size


def test_a_zero_gradient_changes_nothing():
    ogd = hf.OGD(hf.Ball(1.0))
    state = ogd.update(ogd.init(2), 0.0, np.ones(2))
    assert ogd.predict(state).tolist() == [0.0, 0.0]
    assert state.tally == 0.0


def test_a_dimension_that_does_not_fit_is_refused_before_the_game():
    player = hf.Filtered(hf.OGD(hf.Box([0.0, 0.0], [1.0, 1.0])), hf.TopK(1))
    with pytest.raises(ValueError, match="dimension 2"):
        hf.Player(player, dim=3)
    with pytest.raises(ValueError, match="dimension 2"):
        hf.play(player, hf.Gradients(np.ones((5, 3))))


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.inf, math.nan])
def test_a_sigma_that_is_not_positive_is_refused(sigma):
    with pytest.raises(ValueError, match="must be positive"):
        hf.StronglyConvex(sigma)
