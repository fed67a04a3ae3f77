"""Adversaries that corrupt k rounds of a data stream and leave all others unchanged."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.adversaries import Accumulating, FeatureBlowUp, LabelFlip, Ramp

rng = np.random.default_rng(8)
X = rng.standard_normal((1000, 3))
CLEAN = hf.Replay(X, np.where(X[:, 0] > 0.0, 1.0, -1.0), hf.Logistic())
POISONERS = [FeatureBlowUp, LabelFlip, Ramp, Accumulating]


@pytest.mark.parametrize("cls", POISONERS)
def test_exactly_k_rounds_are_corrupted(cls):
    corrupted = cls(CLEAN, k=40, seed=2)
    assert (~corrupted.inliers).sum() == 40
    assert np.array_equal(corrupted.poisoned.X[corrupted.inliers], CLEAN.X[corrupted.inliers])
    assert np.array_equal(corrupted.poisoned.y[corrupted.inliers], CLEAN.y[corrupted.inliers])
    changed = (corrupted.poisoned.X != CLEAN.X).any(axis=1) | (corrupted.poisoned.y != CLEAN.y)
    assert np.array_equal(changed, ~corrupted.inliers)


@pytest.mark.parametrize("cls", POISONERS)
def test_a_game_equals_that_on_the_corrupted_data(cls):
    corrupted = cls(CLEAN, k=40)
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(40))
    one, other = (hf.play(player, adversary, compiled=False) for adversary in (corrupted, corrupted.poisoned))
    assert np.array_equal(one.losses, other.losses)


@pytest.mark.parametrize("cls", POISONERS)
def test_float32_stays_float32(cls):
    narrow = hf.Replay(CLEAN.X.astype(np.float32), CLEAN.y, hf.Hinge())
    assert cls(narrow, k=5).poisoned.X.dtype == np.float32


def test_features_are_multiplied_and_labels_flipped():
    blown, flipped = FeatureBlowUp(CLEAN, 10, factor=-50.0), LabelFlip(CLEAN, 10)
    assert np.array_equal(blown.poisoned.X[~blown.inliers], -50.0 * CLEAN.X[~blown.inliers])
    assert np.array_equal(flipped.poisoned.y[~flipped.inliers], -CLEAN.y[~flipped.inliers])


def test_a_ramp_grows_from_the_median_row():
    ramp = Ramp(CLEAN, k=20, growth=1.2)
    lengths = np.linalg.norm(ramp.poisoned.X[~ramp.inliers], axis=1)
    assert lengths / np.median(np.linalg.norm(X, axis=1)) == pytest.approx(1.2 ** np.arange(1, 21))
    assert (np.sum(ramp.poisoned.X * CLEAN.X, axis=1)[~ramp.inliers] < 0.0).all()


def test_pushes_add_up_and_the_trigger_comes_last():
    pushes = Accumulating(CLEAN, k=20, factor=100.0)
    rows, labels = pushes.poisoned.X[~pushes.inliers], pushes.poisoned.y[~pushes.inliers]
    assert (rows[:-1] == rows[0]).all()
    assert rows[-1] == pytest.approx(100.0 * rows[0])
    assert np.linalg.norm(rows[0]) == pytest.approx(np.median(np.linalg.norm(X, axis=1)))
    assert labels.tolist() == [1.0] * 19 + [-1.0]


@pytest.mark.parametrize("cls", POISONERS)
def test_other_adversaries_and_too_many_outliers_are_refused(cls):
    with pytest.raises(TypeError, match="the data to corrupt must be a Replay"):
        cls(hf.Gradients(X), 3)
    with pytest.raises(ValueError, match="0 <= k <= 1000, got 1001"):
        cls(CLEAN, 1001)
