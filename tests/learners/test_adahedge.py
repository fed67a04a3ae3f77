"""AdaHedge against its definition, its regret against its bound, and many more experts than rounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from learners.trials import streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import learned, linear_ratio

HEDGE = hf.AdaHedge()


def test_the_weights_and_the_gaps_are_those_of_the_definition():
    G = np.random.default_rng(0).uniform(-1.0, 2.0, (300, 4)) + np.array([0.0, 0.0, 0.1, 0.3])
    state, losses, gap = HEDGE.init(4), np.zeros(4), 0.0
    for g in G:
        w = HEDGE.predict(state).copy()
        if gap > 0.0:
            eta = math.log(4) / gap
            assert w == pytest.approx(np.exp(-eta * losses) / np.exp(-eta * losses).sum(), abs=1e-9)
            gap += w @ g + math.log(w @ np.exp(-eta * g)) / eta
        else:
            gap += w @ g - ((losses + g).min() - losses.min())
        losses += g
        state = HEDGE.update(state, Round(1.0, g))
        assert state.gap == pytest.approx(gap, rel=1e-9)


@given(streams(dim=3))
def test_the_regret_is_at_most_its_bound(G):
    assert linear_ratio(HEDGE, G) <= 1.0 + 1e-9
    ranges = np.ptp(G, axis=1)
    most = math.sqrt(math.log(3)) * hf.norms.L2().of(ranges) + 2.0 * ranges.max()
    assert 2.0 * learned(HEDGE, G)[1].gap <= most * (1.0 + 1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_it_learns_at_every_scale(size):
    G = np.random.default_rng(2).standard_normal((50, 3)) + np.array([0.0, 0.1, 0.2])
    one, other = learned(HEDGE, G)[1], learned(HEDGE, size * G)[1]
    assert one.w == pytest.approx(other.w, rel=1e-6)


def test_what_all_experts_lose_does_not_matter():
    G = np.random.default_rng(2).standard_normal((50, 3))
    one, other = learned(HEDGE, G)[1], learned(HEDGE, G + 1e3)[1]
    assert one.w == pytest.approx(other.w, abs=1e-9)


def test_other_domains_are_refused():
    with pytest.raises(TypeError, match=r"on a Simplex\(\): got Ball"):
        hf.AdaHedge(hf.Ball(1.0))
