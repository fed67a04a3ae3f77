"""Mixture: each learner learns as if it were alone, and the mixture is nearly as good as the best of them."""

import math

import numpy as np
import pytest
from guards import guarded
from hypothesis import given
from laws import like, same
from learners.trials import streams
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.learners import Fixed, Mixture, RobustRidge
from holdfast.rounds import Round, after_round
from holdfast.vectors import dot, values_of

ABSOLUTE, BOX = hf.Absolute(), hf.Box(-10.0, 10.0)
TWO = (hf.OGD(hf.Ball(1.0)), hf.AdaGrad(hf.Box(-1.0, 1.0)))
THREE = (RobustRidge(), RobustRidge(memory=50), hf.AdaGrad(BOX, rate=0.1))


def played(mixture, rounds, target_of, x=None):
    """Losses of the mixture and of its learners against targets that may depend on the prediction."""
    state, own, each = mixture.init(1), [], []
    for t in range(rounds):
        row = np.ones(1) if x is None else x[t]
        z = dot(mixture.predict(state), row)
        predictions = predictions_of(mixture, state, row)
        y = target_of(t, z, predictions)
        state = after_round(mixture, state, Round(mixture.loss.slope(z, y), row, y))
        own.append(mixture.loss.value(z, y))
        each.append([mixture.loss.value(one, y) for one in predictions])
    return np.array(own), np.array(each), state


def predictions_of(mixture, state, x):
    return [dot(each.predict(s), x) for each, s in zip(mixture.learners, state.inner, strict=True)]


def best_sequence(losses, changes):
    """The least sum of losses with at most so many changes of the learner, by dynamic programming."""
    least = np.zeros((changes + 1, losses.shape[1]))
    for row in losses:
        before = np.minimum.accumulate(least.min(axis=1))
        least[1:] = np.minimum(least[1:], before[:-1, None])
        least += row
    return least.min()


@given(streams(dim=2))
def test_the_linear_regret_is_at_most_its_bound(G):
    mixture = Mixture(TWO)
    state, products, each = mixture.init(2), 0.0, np.zeros(2)
    for g in G:
        products += dot(mixture.predict(state), g)
        each += predictions_of(mixture, state, g)
        state = after_round(mixture, state, Round(1.0, g))
    rounding = 1e-9 * np.abs(G).sum()
    assert products - each.min() <= mixture.mixing_bound(state) + rounding
    for u in (np.zeros(2), np.array([0.6, -0.8]), np.array([0.0, 1.0])):
        assert products - u @ G.sum(axis=0) <= mixture.bound(state, u) + rounding


ADVERSARIES = {
    "far from the mixture": lambda t, z, each: -3.0 if z > 0.0 else 3.0,
    "at the worst learner": lambda t, z, each: max(each, key=lambda one: abs(one - z)),
    "now one, then the other": lambda t, z, each: each[t // 40 % len(each)],
    "wild": lambda t, z, each: 1000.0 if t % 50 == 49 else math.sin(t),
}


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1])
@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("loss", [ABSOLUTE, hf.Squared(), hf.Huber(), hf.Logistic()], ids=repr)
def test_the_mixture_is_as_good_as_the_best_sequence_of_learners_up_to_its_bound(loss, name, share):
    fixed = (Fixed([-1.0]), Fixed([0.0]), Fixed([2.0]), hf.OGD(hf.Ball(5.0)))
    mixture = Mixture(fixed, loss, share)
    own, each, state = played(mixture, 200, ADVERSARIES[name])
    for changes in range(6):
        most = mixture.mixing_bound(state, changes)
        assert own.sum() - best_sequence(each, changes) <= most * (1.0 + 1e-9)
    assert (mixture.mixing_bound(state, 1) < math.inf) == (share > 0.0)


def test_without_changes_the_bound_is_that_of_adahedge():
    mixture = Mixture((Fixed([-1.0]), Fixed([2.0])), ABSOLUTE, share=0.0)
    _, each, state = played(mixture, 300, lambda t, z, each: math.sin(t))
    hedge = hf.AdaHedge()
    alone = hedge.init(2)
    for losses in each:
        alone = after_round(hedge, alone, Round(1.0, losses))
    assert same(state.experts, alone)
    assert mixture.mixing_bound(state) == 2.0 * alone.gap


def test_squared_losses_add_the_bound_of_the_best_learner():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 1)), rng.standard_normal(300)
    mixture = Mixture((hf.OnlineRidge(), hf.VAW()), hf.Squared())
    own, _, state = played(mixture, 300, lambda t, z, each: y[t], X)
    bounds = [k.bound(s, [0.5]) for k, s in zip(mixture.learners, state.inner, strict=True)]
    assert mixture.bound(state, [0.5]) == mixture.mixing_bound(state) + min(bounds)
    assert own.sum() - sum(0.5 * (0.5 * X[:, 0] - y) ** 2) <= mixture.bound(state, [0.5])


def test_there_is_no_bound_against_u_where_no_learner_has_one():
    mixture = Mixture((RobustRidge(), hf.OnlineRidge(memory=10)), hf.Squared())
    assert mixture.bound(mixture.init(1), [1.0]) == math.inf
    assert mixture.mixing_bound(mixture.init(1)) == 0.0


def test_each_learner_learns_as_if_it_were_alone():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    learners = (*THREE, hf.Scaled(hf.AdaGrad(BOX, rate=0.01), target=True))
    game = hf.Replay(X, y, ABSOLUTE)
    mixed = hf.play(hf.Filtered(Mixture(learners, ABSOLUTE), hf.Everything()), game, compiled=False)
    for learner, state in zip(learners, mixed.state[0].learner.inner, strict=True):
        alone = hf.play(hf.Filtered(learner, hf.Everything()), game, compiled=False)
        assert same(alone.state[0].learner, state)


def test_after_a_change_the_better_learner_has_the_weight_soon():
    slow, quick = hf.OnlineRidge(), hf.OnlineRidge(memory=20)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((4000, 1))
    signs = np.where(np.arange(4000) < 3000, 1.0, -1.0)
    y = signs * X[:, 0] + 0.1 * rng.standard_normal(4000)
    own, each, state = played(Mixture((slow, quick), hf.Squared()), 4000, lambda t, z, each: y[t], X)
    assert state.experts.w[1] > 0.99
    assert own[3100:].sum() < 1.1 * each[3100:, 1].sum() < 0.1 * each[3100:, 0].sum()
    assert own[:3000].sum() < 1.05 * each[:3000, 0].sum()


def stream(sparse):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 3)) * [1.0, 50.0, 0.02]
    X[rng.random(X.shape) < (0.5 if sparse else 0.0)] = 0.0
    y = X @ [1.0, 0.02, -50.0] + 0.1 * rng.standard_normal(300)
    X[200], y[215], X[220, 1], y[221], y[222], X[223] = 1e9, -1e9, np.nan, np.inf, np.nan, 1e250
    return hf.Replay(csr_array(X) if sparse else X, y, ABSOLUTE)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("within", ["filtered", "guarded", "scaled", "scales of their own"])
def test_bad_rounds_are_skipped_and_the_rest_is_learned(within, sparse):
    scaled = tuple(hf.Scaled(learner, target=True) for learner in THREE)
    player = {
        "filtered": hf.Filtered(Mixture(THREE, ABSOLUTE), hf.TopK(5), on=hf.Features()),
        "guarded": guarded(Mixture(THREE, ABSOLUTE), hf.TopK(5), hf.TopK(5), hf.TopK(5)),
        "scaled": guarded(hf.Scaled(Mixture(THREE, ABSOLUTE), target=True)),
        "scales of their own": guarded(Mixture(scaled, ABSOLUTE)),
    }[within]
    record = hf.play(player, stream(sparse), keep=["kept", "average"], compiled=False)
    assert not record.kept[[200, 220, 221, 222, 223]].any() and record.kept[100:].mean() > 0.9
    assert np.isfinite(record.final).all() and np.isfinite(record.average).all()
    mixture = record.state[0].learner
    weights = (mixture.inner if within == "scaled" else mixture).experts.w
    assert weights.sum() == pytest.approx(1.0) and weights.min() > 0.0


def test_the_final_weights_are_the_mean_of_those_of_the_learners():
    record = hf.play(hf.Filtered(Mixture(TWO), hf.TopK(1)), hf.Gradients(np.eye(2)), compiled=False)
    state = record.state[0].learner
    parts = [p * k.predict(s) for p, k, s in zip(state.experts.w, TWO, state.inner, strict=True)]
    assert record.final == pytest.approx(sum(parts))
    assert same(values_of(Mixture(TWO).predict(state)), record.final)


@pytest.mark.parametrize(
    "sparse",
    [
        pytest.param(False, marks=pytest.mark.exhaustive),  # the laws play one of these in both worlds
        pytest.param(True, marks=pytest.mark.exhaustive),  # compiles for two minutes
    ],
    ids=["dense", "sparse"],
)
def test_both_worlds_give_the_same_bits(sparse):
    player = guarded(hf.Scaled(Mixture((RobustRidge(memory=50), THREE[2]), ABSOLUTE), target=True))
    keep = ("losses", "sizes", "kept", "predictions", "average")
    worlds = [hf.play(player, stream(sparse), keep=keep, compiled=compiled) for compiled in (False, True)]
    for column in (*keep, "final"):
        assert same(*(getattr(record, column) for record in worlds)), column
    assert like(worlds[0].state, worlds[1].state)


def test_reset_is_the_first_state_again():
    mixture = Mixture(THREE, ABSOLUTE)
    _, _, state = played(mixture, 50, lambda t, z, each: math.sin(t))
    assert same(mixture.reset(state, 1), mixture.init(1))


def test_a_wrong_mixture_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="needs at least one learner"):
        Mixture(())
    with pytest.raises(ValueError, match="expected 0 <= share < 1"):
        Mixture(TWO, share=1)
    with pytest.raises(TypeError, match="must be a tuple of rules"):
        Mixture(hf.OGD(hf.Ball(1.0)))
    with pytest.raises(TypeError, match="TopK cannot be a learner"):
        Mixture((TWO[0], hf.TopK(1)))
    with pytest.raises(TypeError, match=r"OnlineRidge learns from squared losses.*use loss=Squared\(\)"):
        Mixture((TWO[0], hf.OnlineRidge()))
    with pytest.raises(TypeError, match=r"write Clipped\(FreeGrad"):
        hf.Player(hf.Filtered(Mixture((hf.learners.FreeGrad(),)), hf.TopK(1)), dim=1)
