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
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import dot, values_of
from holdfast_lab.trials.ratios import squared_ratio

RULES = [hf.OnlineRidge(0.5), hf.VAW(0.5)]
both = pytest.mark.parametrize("learner", RULES, ids=repr)
numbers = st.floats(-100.0, 100.0) | st.sampled_from([0.0, 1.0, -1.0, 1e4])
data = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=30).map(np.array)


def regressed(learner, X, y):
    """The sum of ½ (prediction - y)², and the last state."""
    state, losses = learner.init(X.shape[1]), 0.0
    for x, target in zip(X, y, strict=True):
        slope = dot(learner.predict(state), x) - target
        losses, state = losses + 0.5 * slope * slope, learner.update(state, Round(slope, x))
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
        state = vaw.update(state, Round(z - y, x))


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


FORGETFUL = [hf.OnlineRidge(0.5, memory=50), hf.VAW(0.5, memory=50), hf.OnlineRidge(memory=2)]


@pytest.mark.parametrize("learner", FORGETFUL, ids=repr)
def test_what_forgets_solves_the_fading_equations(learner):
    """Each of the 5 weights has its regularisation restored within the memory, some in every round."""
    rng, kept, turns = np.random.default_rng(2), 1.0 - 1.0 / learner.memory, math.ceil(5 / learner.memory)
    part = learner.strength * (1.0 - kept ** (5 / turns))
    A, b, w, state = learner.strength * np.eye(5), np.zeros(5), np.zeros(5), learner.init(5)
    for t, x in enumerate(rng.standard_normal((300, 5))):
        y = x[0] - 3.0 * x[1] + rng.standard_normal()
        z = dot(learner.predict(state), x)
        state = learner.update(state, Round(z - y, x))
        A, b = kept * A + np.outer(x, x), kept * b + y * x
        for i in range(turns):
            j = (t * turns + i) % 5
            A[j, j] += part
            b[j] += part * w[j]
        w = np.linalg.solve(A, b)
        assert values_of(learner.predict(state)) == pytest.approx(w, abs=1e-9)
    assert state.root.T @ state.root == pytest.approx(A, rel=1e-9, abs=1e-9)


@rule
class Dying:
    """Squared losses of <u, x>. After `alive` rounds, only the sum of the first two weights can be seen."""

    u: np.ndarray
    alive: int
    rounds: int

    def extent(self):
        return self.rounds, len(self.u)

    def start(self):
        return np.zeros(len(self.u))

    def reveal(self, state, t, w):
        for i in range(len(state)):
            state[i] = math.sin(1.0 + t * (i + 1.0)) if t < self.alive else 1.0 if i < 2 else 0.0
        slope = dot(w, state) - dot(self.u, state)
        return state, 0.5 * slope * slope, slope, state

    def target_at(self, t):
        return math.nan


def stays_positive_definite(learner, rounds):
    u = np.array([3.0, -2.0, 1.0, 5.0])
    player = hf.Filtered(learner, hf.Everything())
    state = hf.play(player, Dying(u, 500, rounds), keep=(), compiled=True).state[0].learner
    assert (np.diag(state.root) >= math.sqrt(learner.strength / math.e) * (1.0 - 1e-9)).all()
    assert state.w == pytest.approx(u, abs=0.05)  # also where nothing has been seen for long
    x = np.array([0.0, 0.0, 1.0, 0.0])
    state = learner.update(state, Round(dot(learner.predict(state), x) - 9.0, x))
    assert state.w[2] == pytest.approx(0.5 * (u[2] + 9.0), abs=2.0)  # and new rows are learned at once


@pytest.mark.parametrize("learner", thinned([hf.OnlineRidge(memory=50), hf.VAW(memory=50)], 2), ids=repr)
def test_what_forgets_stays_positive_definite_where_directions_die_out(learner):
    stays_positive_definite(learner, 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("learner", [hf.OnlineRidge(memory=50), hf.VAW(memory=1e4)], ids=repr)
def test_what_forgets_stays_positive_definite_over_ten_million_rounds(learner):
    stays_positive_definite(learner, 10_000_000)


@both
def test_what_forgets_has_no_bound(learner):
    forgetful = type(learner)(memory=100)
    assert not forgetful.needs().proved
    with pytest.raises(ValueError, match="no bound on its regret: use memory=None, got memory=100"):
        forgetful.bound(forgetful.init(1), np.ones(1))


@both
def test_no_memory_is_an_infinite_one(learner):
    assert type(learner)() == type(learner)(memory=None) == type(learner)(memory=math.inf)


@pytest.mark.slow
def test_both_worlds_give_the_same_bits_with_sizes_in_loss_form():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((300, 3)), rng.standard_normal(300)
    player = hf.Filtered(RULES[1], hf.TopK(0), on=hf.measures.LossForm(1.0))
    one, other = (hf.play(player, hf.Replay(X, y, hf.Squared()), compiled=c) for c in (False, True))
    assert same(one.sizes, other.sizes) and same(one.losses, other.losses) and same(one.final, other.final)


@pytest.mark.parametrize("rule", [hf.OnlineRidge, hf.VAW])
def test_parameters_that_make_no_sense_are_refused(rule):
    with pytest.raises(ValueError, match=r"must be positive: got 0\.0"):
        rule(0.0)
    with pytest.raises(TypeError, match="would cost its bound: got Ball"):
        rule(1.0, hf.Ball(1.0))
    with pytest.raises(ValueError, match="at least 2, or is None to forget nothing: got 0"):
        rule(memory=0)
    with pytest.raises(ValueError, match=r"must be positive: got -1\.0"):
        hf.measures.LossForm(-1.0)
