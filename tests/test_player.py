"""Player: the same game, one round at a time."""

import math

import numpy as np
import pytest
from laws import same

import holdfast as hf

RULE = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(2))


def test_a_player_and_play_are_the_same_game():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), np.sign(rng.standard_normal(200))
    X[50] = 1e9
    X[60, 0] = math.nan
    player, record = hf.Player(RULE, dim=3), hf.play(RULE, hf.Replay(X, y, hf.Logistic()))
    for t in range(200):
        decision = player.learn(X[t], y[t], hf.Logistic())
        expected = record.kept[t], record.sizes[t], record.thresholds[t]
        assert np.array_equal(decision, expected, equal_nan=True)
    assert same(player.predict(), record.final)
    assert (player.rounds, player.kept_count, player.unmeasured_count) == (200, record.kept_count, 1)
    assert player.skipped_count == record.skipped_count


def test_what_predict_returns_is_the_callers():
    player = hf.Player(RULE, dim=2)
    w = player.predict()
    w[:] = 99.0
    assert player.predict().tolist() == [0.0, 0.0]


def test_a_decision_reads_as_one():
    player = hf.Player(RULE, dim=1)
    kept, size, threshold = player.observe([3.0])
    assert (kept, size, threshold) == (False, 3.0, 0.0)


@pytest.mark.parametrize("gradient", [[1.0], [1.0, 2.0, 3.0], 1.0, [[1.0, 2.0]]])
def test_a_gradient_of_another_dimension_is_refused(gradient):
    with pytest.raises(ValueError, match="2 entries"):
        hf.Player(RULE, dim=2).observe(gradient)


def test_text_is_refused():
    with pytest.raises(TypeError, match="x must hold numbers"):
        hf.Player(RULE, dim=2).learn(["a", "b"], 1.0, hf.Hinge())


@pytest.mark.parametrize("dim", [0, -1])
def test_a_player_needs_weights(dim):
    with pytest.raises(ValueError, match="at least 1"):
        hf.Player(RULE, dim=dim)


@pytest.mark.parametrize("gradient", [[math.nan, 1.0], [math.inf, 0.0], [1e300, -1e300], [0.0, 0.0]])
def test_bad_data_never_raises(gradient):
    player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), dim=2)
    for _ in range(3):
        player.observe(gradient)
        player.learn(gradient, math.nan, hf.Squared())
        player.learn(gradient, 1e300, hf.Squared())
    assert np.isfinite(player.predict()).all()
