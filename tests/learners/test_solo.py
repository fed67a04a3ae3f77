"""SOLO-FTRL against the minimum it is defined by, and its regret against its bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners.minima import over_ball, over_box, over_simplex
from learners.trials import streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import learned, linear_ratio

DOMAINS = [
    hf.domains.Everywhere(),
    hf.Ball(2.0),
    hf.Box(-1.0, 2.0),
    hf.Simplex(),
    hf.Ball(0.5, around=[3.0, -2.0]),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_it_is_the_projection_of_the_sum_to_1e_9(domain):
    G = np.random.default_rng(1).standard_normal((500, 2)) * np.geomspace(1.0, 100.0, 500)[:, None]
    solo, center = hf.learners.SoloFTRL(domain, strength=0.7), domain.center(2)
    state = solo.init(2)
    for t, g in enumerate(G):
        state = solo.update(state, Round(1.0, g))
        w = center - G[: t + 1].sum(axis=0) / (0.7 * np.sqrt((G[: t + 1] ** 2).sum()))
        assert solo.predict(state) == pytest.approx(domain.project(w), abs=1e-9)


def minimum(domain, v, weight):
    """Where weight / 2 ‖w - v‖² is least."""
    if isinstance(domain, hf.Ball):
        return over_ball(weight * np.eye(len(v)), weight * v, domain.radius)
    if isinstance(domain, hf.Box):
        return over_box(np.full(len(v), weight), v, domain.low, domain.high)
    return over_simplex(np.full(len(v), weight), v)


@pytest.mark.parametrize("domain", DOMAINS[1:4], ids=repr)
def test_it_is_cvxpys_minimum_to_1e_9(domain):
    """Of <sum of gradients, w> + strength / 2 ‖w - center‖² root, a square once it is completed."""
    solo, G, far = (
        hf.learners.SoloFTRL(domain, strength=0.3),
        np.random.default_rng(2).standard_normal((25, 3)),
        0,
    )
    state, center = solo.init(3), domain.center(3)
    for t, g in enumerate(G):
        state, weight = solo.update(state, Round(1.0, g)), 0.3 * np.sqrt((G[: t + 1] ** 2).sum())
        v = center - G[: t + 1].sum(axis=0) / weight
        assert solo.predict(state) == pytest.approx(minimum(domain, v, weight), abs=1e-9)
        far += not domain.contains(v)
    assert far > 5


@given(streams(), st.sampled_from(DOMAINS), st.sampled_from([0.3, 1.0, 4.0]))
def test_the_regret_is_at_most_its_bound(G, domain, strength):
    solo = hf.learners.SoloFTRL(domain, strength)
    assert linear_ratio(solo, G) <= 1.0 + 1e-9
    far, root = math.sqrt(len(G) - 1.0) / strength, hf.norms.L2().of(G.ravel())
    if domain.bounded():
        far = min(far, domain.diameter(hf.norms.L2(), 2))
    most = 2.0 / strength * root + math.sqrt(3.0) / (math.sqrt(3.0) - 1.0) * far * max(
        map(hf.norms.L2().of, G)
    )
    assert solo.bound(learned(solo, G)[1], domain.center(2)) <= most * (1.0 + 1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_it_learns_at_every_scale(size):
    G, solo = np.random.default_rng(2).standard_normal((50, 2)) + 0.3, hf.learners.SoloFTRL(hf.Ball(2.0))
    assert learned(solo, G)[1].w == pytest.approx(learned(solo, size * G)[1].w, rel=1e-9)


def test_a_strength_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match=r"must be positive: got 0\.0"):
        hf.learners.SoloFTRL(hf.Ball(1.0), strength=0.0)
