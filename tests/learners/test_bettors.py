"""Bettors against their formulas, in the box, after a new start; and their regret against the bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import like, same
from scipy.sparse import csr_array

import holdfast as hf
from holdfast._compiled import call
from holdfast.learners import Bettors
from holdfast.rounds import Round
from holdfast.vectors import dot
from holdfast_lab.trials.ratios import limited_ratio

NARROW = Bettors(2.0, largest=3.0, box=0.7, wealth=1.5, constant=True)
WIDE = Bettors()
gradients = st.floats(-1.0, 1.0).map(lambda g: g if abs(g) > 1e-9 else 0.0) | st.sampled_from([-1.0, 1.0])
games = st.lists(st.tuples(gradients, gradients), min_size=1, max_size=40).map(np.array)


def slow(learner, rounds, around):
    """Weights of all rounds, and the sums, for one weight at a time: the definition, and 9.5 around it."""
    dim = len(around)
    limits = np.full(dim, learner.steepest * learner.largest)
    limits[-1] = learner.steepest if learner.constant else limits[-1]
    played = np.zeros((len(rounds), dim))
    for i in range(dim):
        learned, wealth, start = [], learner.wealth, float(np.clip(around[i], -learner.box, learner.box))
        for t, (slope, x) in enumerate(rounds):
            a = math.sqrt(limits[i] ** 2 + sum(g * g for g in learned))
            bet = wealth * max(-1.0, min(1.0, -sum(learned) / a)) / (2.0 * a)
            v = start + bet
            played[t, i] = max(-learner.box, min(learner.box, v))
            g = max(-limits[i], min(limits[i], slope * x[i]))
            out = v - played[t, i]
            if g * out >= 0.0:  # else its part along `out` is all of it
                wealth -= g * bet
                learned.append(g)
    return played


def learned(learner, rounds, state):
    """The weights of all rounds, and the last state. It can be compiled."""
    played = np.zeros((len(rounds), len(state.w)))
    for t in range(len(rounds)):
        played[t] = state.w
        state = learner.update(state, Round(rounds[t, 0], rounds[t, 1:]))
    return played, state


def stream(rounds, dim, seed=0):
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.uniform(-1.0, 0.6, rounds), rng.uniform(-3.0, 3.0, (rounds, dim))])
    table[:, -1] = 1.0
    table[::5, 1], table[::7, 0] = 0.0, 0.0
    return table


@pytest.mark.parametrize("learner", [NARROW, WIDE, Bettors(largest=0.1)], ids=["narrow", "wide", "clipped"])
@pytest.mark.parametrize("around", [[0.0, 0.0, 0.0], [0.5, -9.0, 0.7]])
def test_the_weights_are_those_of_the_formula(learner, around):
    table = stream(200, 3)
    played, _ = learned(learner, table, learner.restarted(learner.init(3), np.array(around)))
    slowly = slow(learner, [(row[0], row[1:]) for row in table], around)
    assert played == pytest.approx(slowly, rel=1e-9, abs=1e-12)
    assert (np.abs(played) <= learner.box).all()


def test_the_box_is_reached_and_left_again():
    table = np.column_stack([np.repeat([-1.0, 1.0], 60), np.ones(120)])
    played, _ = learned(NARROW, table, NARROW.init(1))
    assert played[60, 0] == 0.7 and played[:9, 0].max() < 0.7 and played[-1, 0] == -0.7


@given(games)
def test_the_regret_is_at_most_its_bound(G):
    for learner in (WIDE, Bettors(box=0.3, wealth=0.1)):
        assert limited_ratio(learner, G) <= 1.0 + 1e-9


@given(games, st.tuples(gradients, gradients).map(np.array), st.sampled_from([0.3, 2.0]))
def test_hindsight_is_between_the_regret_and_the_bound(G, around, box):
    learner = Bettors(box=box)
    state, products = learner.restarted(learner.init(2), around), 0.0
    for g in G:
        products += float(state.w @ g)
        state = learner.update(state, Round(1.0, g))
    total = G.sum(axis=0)
    for u in (np.zeros(2), around, -box * np.sign(total), 0.1 * box * np.sign(total), np.array([0.2, -0.3])):
        u = np.clip(u, -box, box)
        regret, rounding = products - float(u @ total), 1e-12 * len(G)
        assert regret <= learner.hindsight(state, u) + rounding
        assert learner.hindsight(state, u) <= learner.bound(state, u) + rounding


def test_a_weight_loses_at_most_its_wealth_against_its_start():
    rng = np.random.default_rng(1)
    state = WIDE.restarted(WIDE.init(1), np.array([2.0]))
    for _ in range(2000):
        bet = state.bets[0]
        state = WIDE.update(state, Round(1.0 if bet > 0.0 else float(rng.choice([-1.0, 0.3])), np.ones(1)))
    assert WIDE.wealth - state.wealth[0] < WIDE.bound(state, [2.0]) == WIDE.wealth
    assert state.wealth[0] > 0.0


def test_a_new_start_forgets_all_but_the_weights():
    state = learned(NARROW, stream(100, 3), NARROW.init(3))[1]
    again = NARROW.restarted(state, state.w)  # in the same arrays
    fresh = NARROW.restarted(NARROW.init(3), state.w.copy())
    assert same(again, fresh) and again.w is state.w
    assert same(NARROW.reset(again, 3), NARROW.init(3))
    odd = NARROW.restarted(state, np.array([math.nan, math.inf, -7.0]))
    assert odd.w.tolist() == odd.around.tolist() == [0.0, 0.0, -0.7]


def test_both_worlds_give_the_same_bits():
    table = stream(300, 3)
    table[50], table[60, 1], table[70, 2], table[80, 0] = 1e300, np.nan, np.inf, -np.inf
    start = np.array([0.1, -0.2, 0.6])
    one, other = (NARROW.restarted(NARROW.init(3), start) for _ in range(2))
    assert like(learned(NARROW, table, one), call(learned, NARROW, table, other))


def test_sparse_rows_give_the_weights_of_dense_ones():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1500, 4)) * (rng.random((1500, 4)) < 0.5)
    player = hf.Filtered(Bettors(largest=5.0), hf.Everything())
    finals = [
        hf.play(player, hf.Replay(rows, X @ [1.0, 2.0, 0.0, -1.0], hf.Absolute()), compiled=False).final
        for rows in (X, csr_array(X))
    ]
    assert same(*finals)
    assert finals[0] == pytest.approx([1.0, 2.0, 0.0, -1.0], abs=0.2)


def test_huge_and_unreadable_entries_do_no_harm():
    state = WIDE.init(2)
    for x in ([1e300, 1.0], [math.nan, 1.0], [-math.inf, 1.0], [5e-324, 0.0]):
        state = WIDE.update(state, Round(-1.0, np.array(x)))
    alone = WIDE.init(2)
    for x in ([1.0, 1.0], [0.0, 1.0], [0.0, 1.0]):
        alone = WIDE.update(alone, Round(-1.0, np.array(x)))
    assert same(state, alone)
    assert dot(WIDE.predict(state), np.ones(2)) > 0.0 and WIDE.valid(state)


def test_a_damaged_state_is_not_valid():
    state = WIDE.init(2)
    assert WIDE.valid(state)
    for name, value in (("wealth", 0.0), ("squares", math.nan), ("around", 11.0), ("w", math.inf)):
        damaged = WIDE.init(2)
        getattr(damaged, name)[1] = value
        assert not WIDE.valid(damaged)


@pytest.mark.parametrize("name", ["steepest", "largest", "box", "wealth"])
def test_parameters_that_make_no_sense_are_refused(name):
    for value in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"{name} must be positive.*got {value}"):
            Bettors(**{name: value})
    with pytest.raises(ValueError, match=r"steepest times largest must be positive"):
        Bettors(steepest=1e-60, largest=1e-60)
