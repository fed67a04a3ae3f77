"""The covariances of the default learners: of all weights, or of each by itself."""

import numpy as np
import pytest
from laws import like, same

import holdfast as hf
from holdfast.defaults import default_learner, recommended
from holdfast.steady import Diagonal, Full


def learned(kind, rows, noise=0.5):
    """The covariance after these rows, and a slow one: that of the diagonal after each row."""
    state, slow = kind.independent(rows.shape[1], 2.0), 2.0 * np.eye(rows.shape[1])
    for x in rows:
        variance = kind.variance_of(state, x)
        assert variance == pytest.approx(x @ slow @ x)
        kind.shrink(state, variance, noise)
        assert state.growth * state.along == pytest.approx(slow @ x)
        slow = slow - np.outer(slow @ x, slow @ x) / (variance + noise)
        if kind == Diagonal():
            slow = np.diag(np.diag(slow))
        kind.forget(state, 50.0)
        slow = slow / (1.0 - 1.0 / 50.0)
    return state, slow


@pytest.mark.parametrize("kind", [Full(), Diagonal()])
def test_a_covariance_is_that_of_least_squares_or_its_diagonal(kind):
    state, slow = learned(kind, np.random.default_rng(0).standard_normal((300, 4)))
    assert [kind.variance_of_weight(state, k) for k in range(4)] == pytest.approx(np.diag(slow))


def test_without_rows_a_diagonal_grows_and_stays_finite():
    state = Diagonal().independent(3, 1.0)
    for _ in range(300):
        Diagonal().forget(state, 2.0)
    assert state.growth < 1e11 and (state.variances > 1e70).all()


@pytest.mark.parametrize("kind", [Full(), Diagonal()])
def test_another_unit_of_a_column_leaves_the_variance_of_predictions(kind):
    """A new unit of two old ones: the same cell is half as many units."""
    state, _ = learned(kind, np.random.default_rng(1).standard_normal((50, 3)))
    before = kind.variance_of(state, np.array([0.0, 3.0, 0.0]))
    kind.express_column(state, 1, 1.0, 2.0, 1.0)
    assert kind.variance_of(state, np.array([0.0, 1.5, 0.0])) == pytest.approx(before)


@pytest.mark.slow  # compiles both defaults
@pytest.mark.parametrize("regression", [True, False])
def test_with_many_columns_both_worlds_give_the_same_bits(regression):
    rng = np.random.default_rng(0)
    X = rng.standard_t(2.0, (400, 12))
    X[:, 3] = np.arange(400.0) * 10.0  # its center moves
    X[::17] *= 1e5
    y = X[:, 0] + rng.standard_normal(400)
    player = recommended(regression, learner=default_learner(regression, columns=500))
    replay = hf.Replay(X, y if regression else np.sign(y), player.loss)
    keep = ("losses", "predictions", "kept")
    worlds = [hf.play(player, replay, keep=keep, compiled=compiled) for compiled in (False, True)]
    for column in keep:
        assert same(*(getattr(record, column) for record in worlds)), column
    assert like(worlds[0].state, worlds[1].state)
