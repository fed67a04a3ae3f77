"""Squint against its definition, and its regret against its bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners.trials import streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import learned, linear_ratio

SQUINT = hf.learners.Clipped(hf.learners.Squint())


def test_the_weights_are_those_of_the_definition():
    rng, h, h1 = np.random.default_rng(0), 0.0, 0.0
    state, w, R, V = SQUINT.init(3), np.full(3, 1.0 / 3.0), np.zeros(3), np.zeros(3)
    j = np.arange(30.0)
    for g in rng.standard_normal((200, 3)) * np.geomspace(1.0, 9.0, 200)[:, None]:
        state, size = SQUINT.update(state, Round(1.0, g)), np.ptp(g)
        r = (w @ g - g) * min(1.0, h / size)
        R, V, h = R + r, V + r * r, max(h, size)
        h1 = h1 or h
        eta = 0.5**j / (2.0 * h1)
        weight = np.where(eta <= 0.5 / h, 1.0 / ((j + 1.0) * (j + 2.0)), 0.0)
        w = (weight * eta * np.exp(eta * R[:, None] - eta**2 * V[:, None])).sum(axis=1)
        w /= w.sum()
        assert SQUINT.predict(state) == pytest.approx(w, abs=1e-9)


@given(streams(dim=3), st.sampled_from([SQUINT, hf.learners.Clipped(hf.learners.Squint(etas=3))]))
def test_the_regret_is_at_most_its_bound(G, learner):
    assert linear_ratio(learner, G) <= 1.0 + 1e-9


def test_an_expert_who_is_always_best_costs_almost_nothing():
    G = np.random.default_rng(1).uniform(0.0, 1.0, (2000, 5))
    G[:, 2] = 0.0
    products, state = learned(SQUINT, G)
    assert products <= SQUINT.bound(state, np.eye(5)[2]) < 30.0
    assert products < 10.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_it_learns_at_every_scale(size):
    G = np.random.default_rng(2).standard_normal((50, 3))
    one, other = (SQUINT.predict(learned(SQUINT, scale * G)[1]) for scale in (1.0, size))
    assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: hf.learners.Squint(etas=0), "from 1 to 1000: got 0"),
        (lambda: hf.learners.Squint(domain=hf.Ball(1.0)), r"on a Simplex\(\): got Ball"),
        (lambda: hf.Player(hf.Filtered(hf.learners.Squint(), hf.TopK(1)), dim=2), r"write Clipped\(Squint"),
    ],
)
def test_what_makes_no_sense_is_refused(make, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        make()
