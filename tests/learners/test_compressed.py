"""Compressed: what a learner sees of a row, and that a guard measures the row before."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.learners import Compressed, OnlineLogistic
from holdfast.learners.compressed import compressed, view_of

VIEW = Compressed(OnlineLogistic(), knee=1.5, most=8.0)


def test_near_cells_are_seen_as_they_are_and_far_ones_by_their_logarithm():
    row = VIEW.compress(VIEW.init(5), np.array([0.0, -1.5, 2.5, -1e2, 1e9]))
    assert row == pytest.approx([0.0, -1.5, 1.5 + np.log(2.0), -(1.5 + np.log(99.5)), 8.0])


def test_many_rows_at_once_give_the_same():
    Z = np.random.default_rng(0).standard_t(1.0, (200, 4)) * 5.0
    one_by_one = np.array([VIEW.compress(VIEW.init(4), z).copy() for z in Z])
    assert np.clip(compressed(Z, 1.5), -8.0, 8.0) == pytest.approx(one_by_one, rel=1e-12)


def test_within_the_knee_nothing_changes():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 3))
    replay = hf.Replay(X, np.sign(X[:, 0]), hf.Logistic())
    with_view, without = (
        hf.play(hf.Filtered(learner, hf.Everything()), replay, keep=("predictions",), compiled=False)
        for learner in (VIEW, VIEW.learner)
    )
    assert with_view.predictions.tolist() == without.predictions.tolist()


def test_a_guard_measures_the_farthest_cell_before_it_is_compressed():
    scaled = hf.Scaled(VIEW, clip=1e6, patience=5)
    guard = hf.Guarded(scaled, hf.TopK(1), hf.Everything(), hf.Everything(), norm=hf.norms.L1())
    player = hf.Player(guard, dim=2, compiled=False)
    for t in range(50):
        player.learn([float(t % 5), float(t % 3)], 1.0 if t % 5 > 2 else -1.0, hf.Logistic())
    decision = player.learn([2.0, 1e5], 1.0, hf.Logistic())
    assert not decision.kept and 5e4 < decision.features.size < 2e5
    assert view_of(scaled.predict(scaled.init(2))) == (1.5, 8.0)


def test_a_knee_above_the_largest_value_is_refused():
    with pytest.raises(ValueError, match="got knee=9 and most=8"):
        Compressed(OnlineLogistic(), knee=9.0)
