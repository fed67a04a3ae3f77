"""Adaptive adversaries: every prediction loses to the contrarian, and the chaser's outliers are kept."""

import math

import numpy as np
import pytest

import holdfast as hf
from holdfast.adversaries import Chaser, Contrarian
from holdfast.rounds import Round


def rounds_of(player, adversary):
    """Predictions and gradients of a whole game."""
    state, hidden, W, G = player.init(adversary.extent()[1]), adversary.start(), [], []
    for t in range(adversary.extent()[0]):
        w = player.predict(state).copy()
        hidden, loss, slope, x = adversary.reveal(hidden, t, w)
        assert loss == pytest.approx(slope * (w @ x))
        W.append(w)
        G.append(slope * x)
        state, _ = player.observe(state, Round(slope, x))
    return np.array(W), np.array(G)


@pytest.mark.parametrize("dim", [1, 3])
def test_against_the_contrarian_every_prediction_but_zero_loses(dim):
    W, G = rounds_of(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), Contrarian(300, dim, G=2.0))
    losses, lengths = np.sum(W * G, axis=1), np.linalg.norm(W, axis=1)
    assert losses == pytest.approx(2.0 * lengths)
    assert np.linalg.norm(G, axis=1) == pytest.approx(np.full(300, 2.0))
    assert losses.sum() + np.linalg.norm(G.sum(axis=0)) <= math.sqrt(2.0) * 2.0 * math.sqrt(300 * 4.0)


def chased(k, dim, seed=4):
    rng = np.random.default_rng(seed)
    inner = hf.Gradients(rng.uniform(0.5, 1.0, (600, 1)) * (rng.standard_normal((600, dim)) + 2.0))
    chaser = Chaser(inner, k)
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k)), chaser, compiled=False)
    return chaser, record, record.state[1].inliers


@pytest.mark.parametrize("dim", [1, 4])
@pytest.mark.parametrize("k", [1, 2, 30])
def test_the_chaser_plays_k_outliers_and_all_are_just_below_the_threshold(k, dim):
    _, record, inliers = chased(k, dim)
    assert (~inliers).sum() == k
    assert record.kept[~inliers].all()
    assert record.size[~inliers] == pytest.approx(record.threshold[~inliers], rel=1e-9)


def test_the_chaser_does_not_change_infinite_rounds():
    G = np.full((30, 1), 1.0)
    G[::5] = math.inf
    record = hf.play(
        hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), Chaser(hf.Gradients(G), 3), compiled=False
    )
    assert record.unmeasured_count == 6
    assert record.state[1].inliers[::5].all()
