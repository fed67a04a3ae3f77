"""Reserved: its formula, skipped gradients, and Theorem U against outliers that fake gains."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import same
from learners.trials import streams

import holdfast as hf
from holdfast import bounds
from holdfast.norms import gradient_size
from holdfast.rounds import Round

LENGTHS = (0.0, 1e-3, 0.1, 1.0, 3.0, 30.0, 1e3, 1e6)
LEARNERS = [
    hf.learners.Reserved(0),
    hf.learners.Reserved(1),
    hf.learners.Reserved(2, size=2.0, radius=0.01, tax=0.5),
    hf.learners.Reserved(3, radius=100.0, tax=2.0),
]


def played(learner, G):
    """<w, g> of each round, whether it was learned from, and the last state."""
    state, products, learned = learner.init(G.shape[1]), [], []
    for g in G:
        products.append(float(learner.predict(state) @ g))
        state = learner.update(state, Round(1.0, g))
        learned.append(gradient_size(1.0, g) <= learner.size)
    return np.array(products), np.array(learned), state


def worst_ratio(learner, G):
    """The largest regret over its bound, over u along the sum of the gradients, and all sets that leave out
    at most k rounds: those with the smallest terms.
    """
    products, learned, state = played(learner, G)
    products, G, worst = products[learned], G[learned], 0.0
    total = G.sum(axis=0)
    size = float(np.linalg.norm(total))
    towards = total / size if size > 0.0 else np.eye(G.shape[1])[0]
    for far, sign in itertools.product(LENGTHS, (1.0, -1.0)):
        u = sign * far * towards
        terms = np.sort(products - G @ u)
        regret = float(terms[min(learner.k, int((terms < 0.0).sum())) :].sum())
        bound = learner.bound(state, u)
        rounding = 1e-9 * float(np.abs(products).sum() + far * np.abs(G).sum())
        assert regret <= bound + rounding, (learner, far, regret, bound)
        assert bound <= bounds.theorem_u(
            far, learner.k, learner.size, state.squares, learner.radius, learner.tax
        ) * (1.0 + 1e-9)
        worst = max(worst, regret / bound)
    return worst


@given(streams(), st.sampled_from(LEARNERS))
def test_u_holds_for_all_sets_of_inliers_on_odd_streams(G, learner):
    worst_ratio(learner, G)


def attack(learner, rounds, seed):
    """An adversary that pushes the weights away, fakes gains at the peak, and takes them back."""
    rng = np.random.default_rng(seed)
    state, G, phase = learner.init(1), [], rng.integers(5, rounds, 3)
    fakes = set(rng.integers(0, rounds, learner.k).tolist())
    for t in range(rounds):
        w = float(learner.predict(state)[0])
        push = -1.0 if t < phase.min() else (1.0 if t < phase.max() else math.copysign(1.0, w))
        g = learner.size * (-math.copysign(1.0, w) if t in fakes else push) * rng.choice([1.0, 1.0, 0.3])
        G.append([g])
        state = learner.update(state, Round(g, np.ones(1)))
    return np.array(G)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_u_holds_against_outliers_that_fake_gains(learner):
    worst = max(
        worst_ratio(learner, attack(learner, rounds, seed)) for rounds in (9, 60) for seed in range(60)
    )
    assert worst > 0.1


@pytest.mark.slow
def test_u_holds_against_more_of_them():
    worst = max(
        worst_ratio(learner, attack(learner, 200, seed)) for learner in LEARNERS for seed in range(500)
    )
    assert worst > 0.3


def test_a_filter_does_not_stop_outliers_that_fake_gains_and_this_does():
    """1,000 gradients, 40 outliers like them, and all of it back: FreeGrad loses 10¹⁰⁰ on the inliers."""
    G = np.where(np.arange(2_080) < 1_040, -1.0, 1.0)[:, None]
    inliers = np.ones(2_080, bool)
    inliers[1_000:1_040] = False
    lost = {}
    for name, learner in (
        ("free", hf.learners.Clipped(hf.learners.FreeGrad())),
        ("reserved", hf.learners.Reserved(40)),
    ):
        record = hf.play(hf.Filtered(learner, hf.TopK(40)), hf.Gradients(G), compiled=False)
        lost[name] = float(record.losses[inliers].sum())
    assert lost["free"] > 1e100
    assert lost["reserved"] <= 80.0


def test_the_weights_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    learner = hf.learners.Reserved(3, size=5.0, radius=2.0, tax=0.5)
    H = 30.0
    state, G, V, E, top = learner.init(2), np.zeros(2), 0.0, 60.0, 60.0
    for g in rng.standard_normal((200, 2)) + 0.5:
        w = learner.predict(state).copy()
        a = math.sqrt(H * H + V)
        theta = -G / a
        assert w == pytest.approx(E / (2.0 * a) * theta / max(1.0, float(np.linalg.norm(theta))), abs=1e-12)
        state = learner.update(state, Round(1.0, g))
        E -= float(g @ w)
        if top < E:
            top += (E - top) / 1.5
            E = top
        G, V = G + g, V + float(g @ g)


@pytest.mark.parametrize("g", [1.001, 1e300, math.inf, math.nan])
def test_gradients_that_are_too_long_change_nothing(g):
    learner = hf.learners.Reserved(1)
    state = learner.update(learner.init(1), Round(0.5, np.ones(1)))
    w = state.w.copy()
    after = learner.update(state, Round(g, np.ones(1)))
    assert same(after, state) and same(w, after.w)


def test_it_reaches_a_far_comparator_that_was_not_guessed():
    """The loss |w - 30|, radius 1: a ball of radius 10 would never get there."""
    learner, state = hf.learners.Reserved(5), None
    state = learner.init(1)
    for _ in range(20_000):
        g = math.copysign(1.0, float(learner.predict(state)[0]) - 30.0)
        state = learner.update(state, Round(g, np.ones(1)))
    assert float(learner.predict(state)[0]) == pytest.approx(30.0, abs=3.0)


def test_with_no_end_of_gains_the_weights_stay_finite():
    learner = hf.learners.Reserved(0)
    state = learner.init(1)._replace(wealth=9e249, top=9e249)
    for _ in range(50):
        state = learner.update(state, Round(-1.0, np.ones(1)))
    assert math.isfinite(float(learner.predict(state)[0])) and learner.valid(state)


@pytest.mark.parametrize(
    "wrong", [{"k": -1}, {"k": 1, "size": 0.0}, {"k": 1, "tax": -1.0}, {"k": 1, "radius": math.nan}]
)
def test_wrong_parameters_raise_an_error_with_the_value(wrong):
    with pytest.raises(ValueError, match="got"):
        hf.learners.Reserved(**wrong)
    with pytest.raises(TypeError, match="no domain"):
        hf.learners.Reserved(1, domain=hf.Ball(1.0))
