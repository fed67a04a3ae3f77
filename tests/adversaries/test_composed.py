"""Huber contamination mixes two adversaries, and has a mask of the inliers."""

import math

import numpy as np
import pytest

import holdfast as hf
from holdfast.adversaries import Contaminated, Contrarian

GOOD, BAD = hf.Gradients(np.full((3000, 1), 1.0)), hf.Gradients(np.full((3000, 1), -9.0))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_the_share_of_outliers_is_what_was_asked_for(share):
    outliers = (~Contaminated(GOOD, BAD, share, seed=3).inliers).sum()
    assert abs(outliers - 3000 * share) <= 4.0 * math.sqrt(3000 * share * (1.0 - share))


def test_the_mask_says_which_adversary_a_round_comes_from():
    mixed = Contaminated(GOOD, BAD, 0.3)
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), mixed, compiled=False)
    assert np.array_equal(record.size, np.where(mixed.inliers, 1.0, 9.0))


def test_the_state_of_each_adversary_changes_only_in_its_own_rounds():
    @hf.rule
    class Counting:
        def extent(self):
            return 50, 1

        def start(self):
            return 0.0

        def reveal(self, state, t, w):
            return state + 1.0, state, 1.0, np.ones(1)

    mixed = Contaminated(Counting(), Counting(), 0.5)
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), mixed, compiled=False)
    for mask in (mixed.inliers, ~mixed.inliers):
        assert np.array_equal(record.losses[mask], np.arange(mask.sum()))


def test_contaminated_adversaries_can_be_nested():
    inner = Contaminated(GOOD, BAD, 0.5)
    state, *_ = Contaminated(inner, Contrarian(3000), 0.5).reveal(
        Contaminated(inner, Contrarian(3000), 0.5).start(), 0, np.ones(1)
    )
    assert state.x.shape == (1,)


def test_adversaries_of_different_extent_are_refused():
    with pytest.raises(ValueError, match=r"\(3000, 1\) and \(10, 1\)"):
        Contaminated(GOOD, Contrarian(10), 0.1)
    with pytest.raises(ValueError, match=r"0 <= share <= 1, got 1\.5"):
        Contaminated(GOOD, BAD, 1.5)
