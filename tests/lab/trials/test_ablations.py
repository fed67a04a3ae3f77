"""`holdfast trials --ablations`: each change gives a player that lacks one part."""

import math

import pytest

from holdfast.defaults import recommended
from holdfast_lab.trials.ablations import ablations_of


@pytest.mark.parametrize("regression", [True, False])
def test_each_regression_is_left_out_once_and_alone_once(regression):
    player = recommended(regression)
    count = len(player.learner.memories)
    left = [len(changed.learner.memories) for _, changed in ablations_of(player)]
    assert left.count(count - 1) == left.count(1) == count


@pytest.mark.parametrize("regression", [True, False])
def test_all_changes_differ_and_have_names_of_their_own(regression):
    player = recommended(regression)
    names = [name for name, _ in ablations_of(player)]
    assert len(set(names)) == len(names)
    assert all(repr(changed) != repr(player) for _, changed in ablations_of(player))


def test_what_is_left_of_a_learner_fits_together():
    changes = dict(ablations_of(recommended(False)))
    alone = changes["only memory inf, flips 0"].learner
    assert (alone.memories.tolist(), alone.flips.tolist()) == ([math.inf], [0.0])
