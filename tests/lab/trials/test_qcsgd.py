"""Our restatement of quantile-clipped SGD."""

import numpy as np
import pytest

from holdfast.rounds import Round
from holdfast_lab.trials import one_pass
from holdfast_lab.trials.data import Table
from holdfast_lab.trials.qcsgd import QCSGD
from holdfast_lab.trials.scalers import Running
from holdfast_lab.trials.sgd import SquaredSlope


def test_a_gradient_is_clipped_at_the_quantile_of_the_last_lengths():
    rng = np.random.default_rng(0)
    model, lengths = QCSGD(step=0.01, quantile=0.5), []
    state = model.init(2)
    for _ in range(400):
        x, slope = rng.standard_normal(2), float(rng.standard_t(1.5))
        g = slope * x
        lengths = [*lengths, np.linalg.norm(g)][-100:]
        limit = np.sort(lengths)[len(lengths) // 2]
        expected = state.w - 0.01 * g * min(1.0, limit / np.linalg.norm(g))
        state = model.update(state, Round(slope, x))
        assert state.w == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow  # compiles for long
def test_both_worlds_give_the_same_predictions(monkeypatch):
    X = np.random.default_rng(1).standard_normal((300, 2))
    table = Table(X, X.sum(axis=1), np.zeros(300, bool), True)
    model = one_pass.WithConstant(QCSGD(0.03, 0.75), SquaredSlope())
    interpreted = one_pass.predictions_of(model, Running(), table)
    monkeypatch.setattr(one_pass, "_WORTH_COMPILING", 0)
    assert one_pass.predictions_of(model, Running(), table) == pytest.approx(interpreted, rel=1e-9)
