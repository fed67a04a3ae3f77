"""Theorem P (docs/math.md, 11): the fallback, for every set of inliers of short games."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.trials import LOSSES, in_order, largest_ratio, many, subsets, targets_for, values

import holdfast as hf
from holdfast import bounds
from holdfast.learners import Bettors
from holdfast.rounds import Round


class Bet(NamedTuple):
    """An epoch of `Bettors`: what it predicted in which rows, its losses, and its last state."""

    z: np.ndarray
    rows: np.ndarray
    y: np.ndarray
    learned: np.ndarray
    state: tuple


def bet(learner, loss, rows, target, around, learned=None):
    """`target(t, z)` chooses the target after the prediction."""
    state, z, y = learner.restarted(learner.init(rows.shape[1]), around), [], []
    learned = np.ones(len(rows), bool) if learned is None else learned
    for t, row in enumerate(rows):
        z.append(float(state.w @ row))
        y.append(float(targets_for(loss, target(t, z[-1]))))
        if learned[t]:
            state = learner.update(state, Round(float(loss.slope(z[-1], y[-1])), row))
    return Bet(np.array(z), rows, np.array(y), learned, state)


def theorem_p(learner, loss, played, u, sets):
    """The right side of Theorem P for these sets of inliers, with the losses in the units of the epoch."""
    apart = loss.lipschitz() * np.abs(played.z - played.rows @ u)
    state = played.state
    alone = bounds.theorem_p(u, state.around, np.sqrt(state.squares), state.limits, learner.wealth)
    assert in_order(learner.hindsight(state, u), learner.bound(state, u), alone, scale=len(played.z))
    right = alone + (sets != played.learned) @ apart
    left_out = float(apart[sets[-1] != played.learned].sum())
    given = (u, state.around, np.sqrt(state.squares), state.limits, learner.wealth, left_out)
    assert bounds.theorem_p(*given) == pytest.approx(right[-1])
    return right


def ratio_of_p(learner, loss, played):
    """Regret / bound of Theorem P: the largest over all 𝒮 and some u."""
    sets, box, worst = subsets(len(played.z)), learner.box, 0.0
    pull = np.sign(played.state.sums)
    own = values(loss, played.z, played.y)
    for u in (*(far * pull for far in (0.0, 0.1, 0.5, 1.0, box)), played.state.around, -pull):
        u = np.clip(u, -box, box)
        left = sets @ (own - values(loss, played.rows @ u, played.y))
        worst = max(worst, largest_ratio(left, theorem_p(learner, loss, played, u, sets), len(played.z)))
    return worst


TARGETS = {
    "far": lambda t, z: -1e6 if z > 0.0 else 1e6,
    "always above": lambda t, z: 50.0,
    "up, then down": lambda t, z: 20.0 if t < 6 else -20.0,
    "at the prediction": lambda t, z: z,
    "labels": lambda t, z: 1.0 if z <= 0.0 else -1.0,
    "waves": lambda t, z: 3.0 * math.sin(2.0 * t),
}


def check_p(rounds, seeds):
    """Theorem P against all adversaries. The largest ratio."""
    rng, worst = np.random.default_rng(seeds), 0.0
    for name, seed in itertools.product(TARGETS, range(seeds)):
        loss = LOSSES[(seed + len(name)) % len(LOSSES)]
        dim, C = 1 + seed % 2, (1.0, 5.0)[seed % 3 == 0]
        learner = Bettors(loss.lipschitz(), C, box=(10.0, 0.4)[seed % 4 == 1], constant=dim > 1)
        rows = np.clip(C * rng.standard_normal((rounds, dim)), -C, C)
        if seed % 5 < 2:
            rows[:] = np.sign(rows) * C if seed % 5 == 0 else C
        if learner.constant:
            rows[:, -1] = 1.0
        learned = rng.random(rounds) < (1.0, 0.7)[seed % 2]
        played = bet(learner, loss, rows, TARGETS[name], rng.uniform(-2.0, 2.0, dim) * (seed % 2), learned)
        ratio = ratio_of_p(learner, loss, played)
        assert ratio <= 1.0 + 1e-9, (name, seed, ratio)
        worst = max(worst, ratio)
    return worst


def test_p_holds_for_all_inliers_against_adversaries():
    check_p(rounds=9, seeds=200)


@pytest.mark.exhaustive
def test_p_holds_in_longer_games():
    check_p(rounds=12, seeds=2000)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1.0, 1.0, width=16), many), min_size=1, max_size=8),
    st.sampled_from(LOSSES),
    st.sampled_from([0.3, 10.0]),
)
def test_p_holds_for_any_rows_and_targets(rounds, loss, box):
    table = np.array(rounds)
    learner = Bettors(loss.lipschitz(), box=box)
    played = bet(learner, loss, table[:, :1], lambda t, z: table[t, 1], np.array([0.2]))
    assert ratio_of_p(learner, loss, played) <= 1.0 + 1e-9


def test_without_outliers_a_long_game_costs_what_p_says():
    """All rounds are inliers, of an absolute loss around u: the regret is far from linear."""
    rng = np.random.default_rng(3)
    rows = np.column_stack([np.clip(rng.standard_normal((4000, 3)), -5.0, 5.0), np.ones(4000)])
    u = np.array([0.5, -1.0, 0.2, 0.3])
    y = rows @ u + 0.3 * rng.standard_normal(4000)
    learner, everyone = Bettors(largest=5.0, constant=True), np.ones((1, 4000), bool)
    played = bet(learner, hf.Absolute(), rows, lambda t, z: y[t], np.zeros(4))
    left = values(hf.Absolute(), played.z, y).sum() - np.abs(rows @ u - y).sum()
    right = float(theorem_p(learner, hf.Absolute(), played, u, everyone)[0])
    assert 0.0 < left < learner.hindsight(played.state, u) < right < 0.55 * 4000
