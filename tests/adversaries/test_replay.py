"""Data as an adversary: what is given to the game."""

import numpy as np
import pytest

import holdfast as hf
from holdfast._compiled.argument_types import signature
from holdfast.adversaries.replay import replay_of_arrays

X, Y = np.arange(24.0).reshape(6, 4), np.array([1.0, -1.0] * 3)


@pytest.mark.parametrize(
    ("rows", "targets"),
    [(X, Y), (X[2:3], Y[2:3]), (X[:, ::2], np.stack([Y, Y], axis=1)[:, 0]), (X[:0], Y[:0])],
)
def test_without_checks_it_is_the_same_adversary(rows, targets):
    checked, unchecked = hf.Replay(rows, targets, hf.Hinge()), replay_of_arrays(rows, targets, hf.Hinge())
    assert checked == unchecked and signature(checked) == signature(unchecked)
    assert rows.flags.writeable and not unchecked.X.flags.writeable
