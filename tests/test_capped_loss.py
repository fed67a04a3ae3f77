"""Capped: rows that no learner predicts do not decide which learner is best."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.capped_loss import Capped
from holdfast.learners import Fixed, Mixture


@pytest.mark.parametrize(("loss", "best"), [(hf.Absolute(), 1), (Capped(hf.Absolute()), 0)])
def test_bad_rows_decide_which_learner_is_best_unless_losses_are_capped(loss, best):
    mixture = Mixture((Fixed([1.0]), Fixed([0.5])), loss)
    state = mixture.init(1)
    for t in range(300):
        x = np.array([100.0 if t % 10 == 9 else 1.0])  # the target is 1 in all rows
        state = mixture.update(mixture.set_target(state, 1.0), 0.0, x)
    assert state.experts.w[best] > 0.9


def test_a_limit_must_be_positive():
    with pytest.raises(ValueError, match="must be positive: got 0"):
        Capped(hf.Absolute(), most=0.0)
