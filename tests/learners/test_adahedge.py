"""AdaHedge against its definition, its regret against its bound, and many more experts than rounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from learners.trials import streams

import holdfast as hf
from holdfast import bounds
from holdfast.rule import rule
from holdfast.trials.ratios import learned, linear_ratio
from holdfast.vectors import dot

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
        state = HEDGE.update(state, 1.0, g)
        assert state.gap == pytest.approx(gap, rel=1e-9)


@given(streams(dim=3))
def test_the_regret_is_at_most_its_bound(G):
    assert linear_ratio(HEDGE, G) <= 1.0 + 1e-9
    ranges = np.ptp(G, axis=1)
    most = math.sqrt(math.log(3)) * hf.L2().of(ranges) + 2.0 * ranges.max()
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


@rule
class Crowd:
    """The losses of many experts, each round another part of the same numbers, times a factor of its own."""

    numbers: np.ndarray
    factors: np.ndarray
    experts: int

    def extent(self):
        return len(self.factors), self.experts

    def start(self):
        return 0

    def reveal(self, state, t, w):
        x = self.numbers[997 * t : 997 * t + self.experts]
        return state, self.factors[t] * dot(w, x), self.factors[t], x


def test_with_many_more_experts_than_rounds_robustness_is_almost_free():
    """The paper's remark: sqrt(T ln K) then hides what the filter adds. 100,000 experts, 1,000 rounds."""
    K, T, k = 100_000, 1_000, 5
    numbers, factors = np.random.default_rng(0).random(K + 997 * T), np.ones(T)
    inliers = np.arange(T) % 200 != 100
    totals = sum(numbers[997 * t : 997 * t + K] for t in np.flatnonzero(inliers))

    def regret(k, factors):
        player = hf.Filtered(HEDGE, hf.TopK(k), on=hf.Range())
        record = hf.play(player, Crowd(numbers, factors, K), compiled=True)
        return record, float(record.losses[inliers].sum()) - totals.min()

    _, clean = regret(0, factors)
    factors[~inliers] = -1e9
    robust, filtered = regret(k, factors)
    assert not robust.kept[~inliers].any()
    B = HEDGE.bound(robust.state[0].learner, np.eye(1, K)[0])
    assert filtered <= bounds.theorem_1(B, D=1.0, G=1.0, k=k)
    assert filtered - clean <= 0.05 * B


def test_other_domains_are_refused():
    with pytest.raises(TypeError, match=r"on a Simplex\(\): got Ball"):
        hf.AdaHedge(hf.Ball(1.0))
