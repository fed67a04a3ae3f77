"""Online ridge regression and the Vovk-Azoury-Warmuth forecaster, against closed forms and their bounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import same
from samples import thinned
from sklearn.linear_model import Ridge

import holdfast as hf
from holdfast.lab.trials.ratios import squared_ratio
from holdfast.rule import rule
from holdfast.vectors import dot, values_of

RULES = [hf.OnlineRidge(0.5), hf.VAW(0.5)]
both = pytest.mark.parametrize("learner", RULES, ids=repr)
numbers = st.floats(-100.0, 100.0) | st.sampled_from([0.0, 1.0, -1.0, 1e4])
data = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=30).map(np.array)


def regressed(learner, X, y):
    """The sum of ½ (prediction - y)², and the last state."""
    state, losses = learner.init(X.shape[1]), 0.0
    for x, target in zip(X, y, strict=True):
        slope = dot(learner.predict(state), x) - target
        losses, state = losses + 0.5 * slope * slope, learner.update(state, slope, x)
    return losses, state


@both
def test_the_weights_are_scikit_learns_to_1e_9(learner):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 5)) * [1.0, 10.0, 0.1, 1.0, 1.0], rng.standard_normal(300)
    _, state = regressed(learner, X, y)
    ridge = Ridge(alpha=0.5, fit_intercept=False, solver="cholesky").fit(X, y)
    assert values_of(learner.predict(state)) == pytest.approx(ridge.coef_, abs=1e-9)
    A = X.T @ X + 0.5 * np.eye(5)
    assert state.root.T @ state.root == pytest.approx(A, rel=1e-9, abs=1e-9)


def test_the_forecaster_counts_the_row_it_predicts_for():
    rng, vaw = np.random.default_rng(1), RULES[1]
    A, b, state = 0.5 * np.eye(3), np.zeros(3), RULES[1].init(3)
    for x, y in zip(rng.standard_normal((50, 3)), rng.standard_normal(50), strict=True):
        A += np.outer(x, x)
        z = dot(vaw.predict(state), x)
        assert z == pytest.approx(x @ np.linalg.solve(A, b), abs=1e-9)
        b += y * x
        state = vaw.update(state, z - y, x)


@both
@given(data)
def test_the_regret_is_at_most_its_bound(learner, rows):
    assert squared_ratio(learner, rows) <= 1.0 + 1e-9


@rule
class Wild:
    """Squared losses of rows from 1e-9 to 1e9 in size, all but along one line."""

    directions: np.ndarray
    sizes: np.ndarray
    rounds: int

    def extent(self):
        return self.rounds, self.directions.shape[1]

    def start(self):
        return np.zeros(self.directions.shape[1])

    def reveal(self, state, t, w):
        state[:] = self.sizes[t % len(self.sizes)] * self.directions[t % len(self.directions)]
        slope = dot(w, state) - self.sizes[t % len(self.sizes)] * math.sin(t)
        return state, 0.5 * slope * slope, slope, state


@pytest.mark.parametrize("learner", thinned(RULES, 2), ids=repr)
def test_it_stays_positive_definite_over_a_million_rows_of_all_sizes(learner):
    rng, dim = np.random.default_rng(5), 4
    directions = np.ones((1009, dim)) + 1e-7 * rng.standard_normal((1009, dim))
    sizes = 10.0 ** rng.uniform(-9.0, 9.0, 997)
    wild = Wild(directions, sizes, 1_000_000)
    record = hf.play(hf.Filtered(learner, hf.Everything()), wild, keep=(), compiled=True)
    state = record.state[0].learner
    assert record.kept_count == 1_000_000
    assert (np.diag(state.root) >= math.sqrt(learner.strength) * (1.0 - 1e-6)).all()
    assert np.isfinite(state.root).all() and np.isfinite(state.w).all()
    t = np.arange(1_000_000)
    X = sizes[t % 997, None] * directions[t % 1009]
    assert state.root.T @ state.root == pytest.approx(X.T @ X + learner.strength * np.eye(dim), rel=1e-9)


@pytest.mark.slow
def test_both_worlds_give_the_same_bits_with_sizes_in_loss_form():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((300, 3)), rng.standard_normal(300)
    player = hf.Filtered(RULES[1], hf.TopK(0), on=hf.game.LossForm(1.0))
    one, other = (hf.play(player, hf.Replay(X, y, hf.Squared()), compiled=c) for c in (False, True))
    assert same(one.sizes, other.sizes) and same(one.losses, other.losses) and same(one.final, other.final)


@pytest.mark.parametrize("rule", [hf.OnlineRidge, hf.VAW])
def test_parameters_that_make_no_sense_are_refused(rule):
    with pytest.raises(ValueError, match=r"must be positive: got 0\.0"):
        rule(0.0)
    with pytest.raises(TypeError, match="would cost its bound: got Ball"):
        rule(1.0, hf.Ball(1.0))
    with pytest.raises(ValueError, match=r"must be positive: got -1\.0"):
        hf.game.LossForm(-1.0)
