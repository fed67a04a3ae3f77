"""Online gradient descent against its formula, and its regret against its bounds."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import same
from learners.trials import streams as gradient_streams

import holdfast as hf
from holdfast import bounds
from holdfast.domains import ball
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import Sparse, values_of
from holdfast_lab.trials.ratios import learned, linear_ratio

streams = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=40)


def test_the_adaptive_step_is_the_papers():
    ogd, rng = hf.OGD(hf.Ball(1.0)), np.random.default_rng(0)
    state, w, total = ogd.init(3), np.zeros(3), 0.0
    for g in rng.standard_normal((100, 3)):
        state, total = ogd.update(state, Round(1.0, g)), total + g @ g
        w = w - 2.0 / math.sqrt(2 * total) * g
        w /= max(1.0, np.linalg.norm(w))
        assert ogd.predict(state) == pytest.approx(w)


def test_the_strongly_convex_step_counts_the_rounds_learned_from():
    ogd, w = hf.OGD(hf.Box(-9.0, 9.0), hf.StronglyConvex(0.5)), 0.0
    player = hf.Filtered(ogd, hf.TopK(1))
    state, n = player.init(1), 0
    for g in (1.0, 1.5, 1e9, 1.0, -1e9, 0.5):
        state, decision = player.observe(state, Round(g, np.ones(1)))
        if decision.kept:
            n += 1
            w = min(9.0, max(-9.0, w - g / (0.5 * n)))
        assert player.predict(state)[0] == pytest.approx(w)


@given(streams)
def test_the_regret_is_at_most_root_2_times_the_diameter_times_the_root_of_the_squares(stream):
    ogd, state, regret, G = hf.OGD(hf.Ball(1.0)), hf.OGD(hf.Ball(1.0)).init(2), 0.0, np.array(stream)
    for g in G:
        regret += ogd.predict(state) @ g
        state = ogd.update(state, Round(1.0, g))
    regret += hf.Ball(1.0).support(-G.sum(axis=0))
    assert regret <= math.sqrt(2) * 2.0 * math.sqrt((G**2).sum()) + 1e-12


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.sampled_from([0.1, 1.0, 3.0]))
def test_strongly_convex_regret_is_at_most_the_sum_of_squares_over_2_sigma_n(targets, sigma):
    """On f_t(w) = sigma / 2 (w - y_t)^2, against the best point of the domain in hindsight."""
    ogd, y = hf.OGD(hf.domains.Interval(-1.0, 1.0), hf.StronglyConvex(sigma)), np.array(targets)
    state, losses, bound = ogd.init(1), 0.0, 0.0
    for n, target in enumerate(y, start=1):
        w = ogd.predict(state)[0]
        g = sigma * (w - target)
        losses, bound = losses + sigma / 2 * (w - target) ** 2, bound + g * g / (2 * sigma * n)
        state = ogd.update(state, Round(g, np.ones(1)))
    assert losses - sigma / 2 * ((y - y.mean()) ** 2).sum() <= bound + 1e-12


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1.0, 1e155, 1e200, 1e300])
def test_the_bound_holds_at_every_scale(size):
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.Everything())
    record = hf.play(player, hf.Gradients(np.full((50, 1), size)), compiled=False)
    assert hf.regret.linearised_regret(record) <= 2.0 * math.sqrt(2.0 * 50) * size


def test_a_zero_gradient_changes_nothing():
    ogd = hf.OGD(hf.Ball(1.0))
    state = ogd.update(ogd.init(2), Round(0.0, np.ones(2)))
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


# -- a ball whose weights are known to be inside is not measured


@rule
class Always:
    """A domain that always projects, also if the weights cannot have left it."""

    domain: Any

    def project(self, w):
        return self.domain.project(w)

    def center(self, dim):
        return self.domain.center(dim)

    def diameter(self, norm, dim=0):
        return self.domain.diameter(norm, dim)

    def support(self, g):
        return self.domain.support(g)

    def check_dim(self, dim):
        self.domain.check_dim(dim)


def straight(rng, dim):
    """Out along one line, in steps that reach the boundary exactly, and back."""
    x = rng.standard_normal(dim)
    x /= np.linalg.norm(x)
    return [0.1] * 14 + [-0.05] * 20 + [1.0 / 3.0] * 6, [x] * 40


def grazing(rng, dim):
    """To the boundary, then along it, and out of it by a tiny and by a far smaller step."""
    steps = [1.0, *(10.0 ** rng.uniform(-18.0, -6.0, 200))]
    return steps, rng.standard_normal((201, dim)) / math.sqrt(dim)


def wandering(rng, dim):
    return rng.normal(size=400) * rng.choice([0.01, 0.1, 0.7], 400), rng.standard_normal(
        (400, dim)
    ) / math.sqrt(dim)


def in_and_out(rng, dim):
    """One step that ends on the boundary or beside it, and one that brings it back, near the center."""
    X, nearly = (
        rng.standard_normal((100, dim)),
        1.0 + rng.choice([0.0, 1e-16, -1e-16, 1e-12, -1e-12, 1e-9], 100),
    )
    X = np.repeat(X / np.linalg.norm(X, axis=1, keepdims=True), 2, axis=0)
    return np.stack([nearly, -nearly], axis=1).ravel(), X


def of_all_sizes(rng, dim):
    return 10.0 ** rng.uniform(-330.0, 290.0, 200) * rng.choice([-1.0, 1.0], 200), rng.standard_normal(
        (200, dim)
    )


@pytest.mark.parametrize("radius", [1.0, 0.1, 1e-12, 3e9])
@pytest.mark.parametrize("dim", [1, 3, 500])
@pytest.mark.parametrize("moves", [straight, grazing, wandering, in_and_out, of_all_sizes])
def test_skipping_a_projection_that_moves_nothing_changes_no_bit(moves, dim, radius):
    steps, X = moves(np.random.default_rng([dim, len(moves.__name__)]), dim)
    skipping, always = (
        hf.OGD(each, hf.StronglyConvex(1.0)) for each in (hf.Ball(radius), Always(hf.Ball(radius)))
    )
    one, other = skipping.init(dim), always.init(dim)
    for n, (step, x) in enumerate(zip(steps, X, strict=True), start=1):
        slope = -step * radius * n  # of which the n-th kept round makes a step of this length
        one, other = skipping.update(one, Round(slope, x)), always.update(other, Round(slope, x))
        assert same(one.w, other.w)
        assert hf.Ball(radius).contains(one.w)
        assert np.linalg.norm(one.w) <= one.reach * (1.0 + 1e-12)


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_whole_game_is_the_same_if_every_step_is_projected(scale, compiled):
    rng = np.random.default_rng(2)
    G = rng.standard_normal((3000, 20)) + 0.1
    G[::100] *= 1e6
    records = [
        hf.play(
            hf.Filtered(hf.OGD(domain, hf.learners.Adaptive(scale)), hf.Everything()),
            hf.Gradients(G),
            keep=["average"],
            compiled=compiled,
        )
        for domain in (hf.Ball(2.0), Always(hf.Ball(2.0)))
    ]
    assert same(records[0].final, records[1].final)
    assert same(records[0].average, records[1].average)


@dataclass
class CountedLengths:
    """Counts how often a ball computes the length of its weights."""

    measured: int = 0


def test_most_steps_well_inside_a_ball_are_not_measured(monkeypatch):
    lengths = CountedLengths()

    def counted(x, euclidean=ball.euclidean):
        lengths.measured += 1
        return euclidean(x)

    monkeypatch.setattr(ball, "euclidean", counted)
    ogd = hf.OGD(hf.Ball(100.0), hf.learners.Adaptive(0.01))
    state = ogd.init(5)
    for g in np.random.default_rng(3).standard_normal((2000, 5)):
        state = ogd.update(state, Round(1.0, g))
    assert lengths.measured < 20


def test_lazy_weights_that_come_back_to_the_center_cannot_leave_the_ball():
    """There the length is a difference of larger numbers, has lost its digits and may be too small."""
    rng, dim = np.random.default_rng(0), 10_000
    ogd = hf.OGD(hf.Ball(1.0), hf.StronglyConvex(1.0))
    state = ogd.to_lazy(ogd.init(dim), False)

    def moved(state, step, x):
        return ogd.update(state, Round(-step * (state.tally + 1.0), x))

    def unit_row(places, values):
        return Sparse(places, values / np.linalg.norm(values), dim)

    for _ in range(100):
        rows = [unit_row(rng.permutation(dim)[:10], rng.standard_normal(10)) for _ in range(3)]
        left = 10.0 ** rng.uniform(-9.0, -7.0)
        for step in (0.51, left - 0.51):
            for x in rows:
                state = moved(state, step, x)
        w = values_of(state.w)
        assert np.linalg.norm(w) <= state.reach
    out = unit_row(np.flatnonzero(w), w[w != 0.0])
    state = moved(state, 1.0 - state.reach, out)
    assert hf.Ball(1.0).contains(values_of(state.w))


# -- the bound of a state


SOME_DOMAINS = st.sampled_from([hf.Ball(1.0), hf.Simplex(), hf.Box(-1.0, 2.0)])


@given(gradient_streams(), SOME_DOMAINS, st.sampled_from([0.3, 1.0]))
def test_the_regret_is_at_most_the_bound_of_the_state(G, domain, scale):
    ogd = hf.OGD(domain, hf.learners.Adaptive(scale))
    assert linear_ratio(ogd, G) <= 1.0 + 1e-9
    D, root = domain.diameter(hf.norms.L2(), 2), hf.norms.L2().of(G.ravel())
    bound = ogd.bound(learned(ogd, G)[1], domain.center(2))
    assert bound <= (scale + 1.0 / scale) / math.sqrt(2.0) * D * root * (1.0 + 1e-9)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.sampled_from([0.1, 1.0, 3.0]))
def test_with_strongly_convex_steps_it_is_the_sum_of_squares_over_2_sigma_n(gradients, sigma):
    ogd = hf.OGD(hf.domains.Interval(-1.0, 1.0), hf.StronglyConvex(sigma))
    _, state = learned(ogd, np.array(gradients)[:, None])
    expected = bounds.ogd_strongly_convex_hindsight(sigma, np.abs(gradients))
    assert ogd.bound(state, np.zeros(1)) == pytest.approx(expected)
