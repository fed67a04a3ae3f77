"""Theorems X, P and D (docs/math.md, 11), for every set of inliers of short games.

FIGURES
"""

import copy
import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.trials import in_order

import holdfast as hf
from holdfast import bounds
from holdfast.learners import Bettors
from holdfast.steady import Logits, choice
from holdfast.steady.asked import EPOCH, Y_FACTOR
from holdfast.steady.certificate import default_certificate
from holdfast.steady.choice import ridges_for
from holdfast.steady.epochs import LOST
from holdfast.steady.hedge import COUNTED, LARGEST, RATE, WORSE, Hedge
from holdfast.vectors import dot

LOSSES = (
    hf.Absolute(),
    hf.Huber(),
    hf.losses.Pinball(0.8),
    hf.losses.EpsilonInsensitive(0.1),
    hf.Logistic(),
    hf.Hinge(),
)


def targets_for(loss, y):
    """Targets that a loss has: labels for those of labels, whose slope is |y| otherwise."""
    return np.where(np.asarray(y) > 0.0, 1.0, -1.0) if isinstance(loss, hf.Logistic | hf.Hinge) else y


@functools.cache
def subsets(rounds):
    """All sets of inliers, one a row."""
    return np.array(list(itertools.product([True, False], repeat=rounds)), bool).reshape(-1, rounds)


# -- Theorem X


class Hedged(NamedTuple):
    """A game of `Hedge`: the parts in each round, all losses, and what the theorem is about."""

    parts: np.ndarray
    losses: np.ndarray
    deployed: np.ndarray
    batch: np.ndarray  # the number of the batch of each round
    gaps: list
    batches: list  # closed ones of each stretch
    rates: list
    state: tuple

    def ranges(self):
        return np.ptp(self.losses, axis=1)

    def behind(self, chosen):
        """What the deployed losses exceed those of a forecaster by: one number, or one for each round."""
        return self.deployed - self.losses[np.arange(len(self.losses)), chosen]


def gap_of(parts, sums, rate):
    """The mean less the mix loss of a batch, the slow way."""
    least = sums.min()
    return float(parts @ (sums - least)) + math.log(float(parts @ np.exp(-rate * (sums - least)))) / rate


def hedged(hedge, losses, sizes, units, worse=0.0):
    """A game with batches of these sizes; the last one may not have ended. `losses(t, parts)` may adapt.

    `worse` is by how much deployed losses exceed the mean, less half of it.
    """
    parts, rows, deployed, batch = [], [], [], []
    forecasters = len(losses(0, None))
    state, t = hedge.init(forecasters), 0
    gaps, batches, rates = [], [0], [hedge.rate]
    for b, (size, unit) in enumerate(zip(sizes, units, strict=True)):
        start, sums = state.start.copy(), np.zeros(forecasters)
        for _ in range(size):
            row = np.asarray(losses(t, start), float)
            mean = float(start @ row) + worse * (t % 3 - 0.5)
            state, t = hedge.collect(state, row, mean), t + 1
            sums += row
            for values, value in zip((parts, rows, deployed, batch), (start, row, mean, b), strict=True):
                values.append(value)
        gaps.append(gap_of(start, sums, rates[-1]))
        if b < len(sizes) - 1:
            state = hedge.after_batch(state, unit)
            batches[-1] += 1
            if state.numbers[RATE] != rates[-1]:
                rates.append(float(state.numbers[RATE]))
                batches.append(0)
    arrays = (np.array(parts), np.array(rows), np.array(deployed), np.array(batch))
    return Hedged(*arrays, gaps, batches, rates, state)


def ratio_of_x(hedge, game):
    """Regret / bound of Theorem X: the largest over all 𝒮 and all forecasters."""
    T, forecasters = game.losses.shape
    sets, s, worst = subsets(T), game.ranges(), 0.0
    out, scale = T - sets.sum(axis=1), float(np.abs(game.losses).sum() + np.abs(game.deployed).sum())
    kappa = np.maximum(game.deployed - np.sum(game.parts * game.losses, axis=1), 0.0)
    given = (game.gaps, game.batches, game.rates, forecasters, hedge.share, s)
    right = np.array([bounds.theorem_x(*given, k) for k in range(T + 1)])
    numbers = game.state.numbers
    assert hedge.excess(game.state) == pytest.approx(right[0], rel=1e-9, abs=1e-12 * scale)
    assert (numbers[COUNTED], numbers[LARGEST]) == (T, s.max())
    assert numbers[WORSE] == pytest.approx(kappa.sum(), rel=1e-9, abs=1e-12 * scale)
    for k in range(T + 1):
        assert in_order(right[k] + kappa.sum(), hedge.certificate(game.state, k), scale=scale)
    for i in range(forecasters):
        worst = max(worst, largest_ratio(sets @ game.behind(i), right[out] + sets @ kappa, scale))
    return worst


def largest_ratio(left, right, scale):
    """The largest left / right, where left is more than rounding."""
    left = left - 1e-12 * scale
    some = left > 1e-9 * scale
    return float((left[some] / right[some]).max(initial=0.0))


HEDGES = [Hedge(), Hedge(1.0), Hedge(0.5, 0.1), Hedge(20.0, 0.5), Hedge(3.0, 1e-9)]
SIZES = [(1,) * 9, (3,) * 3, (4, 4, 1), (1, 2, 1, 4, 1), (2, 2, 2, 2, 1)]


def adversaries(rng, forecasters, far):
    """Losses that are fixed, random, far apart, or chosen against the parts."""
    table = rng.random((12, forecasters)) ** 4
    wild = table * 10.0 ** rng.uniform(-far, far, (12, 1))
    return {
        "random": lambda t, p: table[t],
        "wild": lambda t, p: wild[t],
        "one is better": lambda t, p: np.arange(forecasters) * 1.0,
        "the best one changes": lambda t, p: np.roll(np.arange(forecasters), t // 4) * 1.0,
        "against the largest part": lambda t, p: (
            np.zeros(forecasters) if p is None else 1.0 * (np.arange(forecasters) == np.argmax(p))
        ),
        "against the parts": lambda t, p: np.zeros(forecasters) if p is None else np.sqrt(p),
        "one is wrong once": lambda t, p: np.where(np.arange(forecasters) == t % 5, 1e3, 0.1 * table[t]),
    }


def check_x(seeds):
    """Theorem X against all adversaries. The largest ratio."""
    worst = 0.0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        hedge, sizes = HEDGES[seed % len(HEDGES)], SIZES[seed // 5 % len(SIZES)]
        for name, losses in adversaries(rng, 2 + seed % 3, far=6 * (seed % 2)).items():
            units = 10.0 ** ((1, 9)[seed % 4 == 3] * rng.uniform(-1.0, 1.0, len(sizes)))
            units = np.ones(len(sizes)) if seed % 4 == 0 else units
            game = hedged(hedge, losses, sizes, units, worse=(0.0, 0.2)[seed % 3 == 0])
            ratio = ratio_of_x(hedge, game)
            assert ratio <= 1.0 + 1e-9, (seed, name, ratio)
            worst = max(worst, ratio)
    return worst


def test_x_holds_for_all_inliers_of_short_games():
    check_x(seeds=60)


@pytest.mark.exhaustive
def test_x_holds_for_all_inliers_of_more_games():
    check_x(seeds=3000)


def check_all_x(values, rounds):
    """Theorem X for all sequences of these differences of two losses. The largest ratio."""
    worst = 0.0
    for number, row in enumerate(itertools.product(values, repeat=rounds)):
        hedge, size = HEDGES[number % len(HEDGES)], (1, 2, 4)[number // len(HEDGES) % 3]
        sizes = [size] * (rounds // size) + [rounds % size] * (rounds % size > 0)
        units = [(1.0, 1e-8, 1.0, 30.0)[(number + b) % 4] for b in range(len(sizes))]
        game = hedged(hedge, lambda t, p, row=row: (max(row[t], 0.0), max(-row[t], 0.0)), sizes, units)
        ratio = ratio_of_x(hedge, game)
        assert ratio <= 1.0 + 1e-9, (hedge, size, row, ratio)
        worst = max(worst, ratio)
    return worst


def test_x_holds_for_all_sequences_of_two_forecasters():
    check_all_x((-1.0, 0.5, 30.0), 6)
    check_all_x((-1.0, 2.0), 9)


@pytest.mark.exhaustive
def test_x_holds_for_more_sequences_of_two_forecasters():
    check_all_x((-30.0, -1.0, 0.5, 1.0, 2.0), 7)
    check_all_x((-1.0, 3.0), 12)


many = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0, 4.0, -1e6, 1e-9]) | st.floats(-10.0, 10.0, width=16)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(many, many, many), min_size=1, max_size=9),
    st.sampled_from(HEDGES),
    st.lists(st.tuples(st.integers(1, 4), st.floats(1e-30, 1e30)), min_size=9, max_size=9),
)
def test_x_holds_for_any_losses(rows, hedge, batches):
    sizes, left = [], len(rows)
    while left > 0:
        sizes.append(min(batches[len(sizes)][0], left))
        left -= sizes[-1]
    units = [unit for _, unit in batches[: len(sizes)]]
    game = hedged(hedge, lambda t, p: np.abs(rows[t]), sizes, units, worse=0.1)
    assert ratio_of_x(hedge, game) <= 1.0 + 1e-9


def test_against_sequences_of_forecasters_each_change_has_a_price():
    """All sequences that change between batches, with all sets of inliers."""
    worst = 0.0
    for seed in range(40):
        rng, hedge = np.random.default_rng(seed), HEDGES[seed % len(HEDGES)]
        sizes, units = [(2, 1, 2, 1, 2), (1,) * 6][seed % 2], 10.0 ** rng.uniform(-1.0, 1.0, 6)
        losses = list(adversaries(rng, 2, far=1).values())[seed % 7]
        game = hedged(hedge, losses, sizes, units[: len(sizes)])
        s, sets = game.ranges(), subsets(len(game.losses))
        out, scale = len(s) - sets.sum(axis=1), float(np.abs(game.losses).sum())
        for sequence in itertools.product((0, 1), repeat=len(sizes)):
            m = int(np.sum(np.diff(sequence) != 0))
            given = (game.gaps, game.batches, game.rates, 2, hedge.share, s)
            right = np.array([bounds.theorem_x(*given, k, m) for k in range(len(s) + 1)])
            assert hedge.excess(game.state, m) == pytest.approx(right[0], rel=1e-9, abs=1e-12 * scale)
            left = sets @ game.behind(np.array(sequence)[game.batch])
            worst = max(worst, largest_ratio(left, right[out], scale))
    assert 0.1 < worst <= 1.0 + 1e-9


def test_a_gap_is_at_most_what_is_known_before():
    rng = np.random.default_rng(2)
    for _ in range(2000):
        parts, rate = rng.dirichlet(np.full(4, 0.3)), 10.0 ** rng.uniform(-6.0, 6.0)
        sums = rng.random(4) * 10.0 ** rng.uniform(-3.0, 3.0)
        width = float(np.ptp(sums))
        most = bounds.mixability_gap(rate, width)
        assert gap_of(parts, sums, rate) <= most * (1.0 + 1e-9) + 1e-12 * width + 1e-12 / rate


@pytest.mark.parametrize("size", [1, 2, 4])
def test_what_the_share_costs_is_part_of_it(size):
    """One is always better, the other keeps a quarter of the weight: the gaps alone are less."""
    hedge = Hedge(20.0, share=0.5)
    game = hedged(hedge, lambda t, p: (1.0, 0.0), [size] * (400 // size), [1.0] * (400 // size))
    regret, shared = game.behind(1).sum(), -math.log(0.5) * sum(game.batches) / 20.0
    assert hedge.excess(game.state) - shared < regret <= hedge.excess(game.state)


# -- Theorem P


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
            state = learner.update(state, float(loss.slope(z[-1], y[-1])), row)
    return Bet(np.array(z), rows, np.array(y), learned, state)


def values(loss, z, y):
    return np.array([float(loss.value(float(a), float(b))) for a, b in zip(z, y, strict=True)])


def theorem_p(learner, loss, played, u, sets):
    """The right side of Theorem P for these sets of inliers, with the losses in the units of the epoch."""
    apart = loss.lipschitz() * np.abs(played.z - played.rows @ u)
    state = played.state
    alone = bounds.theorem_p(u, state.around, np.sqrt(state.squares), state.paid, learner.wealth)
    assert in_order(learner.hindsight(state, u), learner.bound(state, u), alone, scale=len(played.z))
    right = alone + (sets != played.learned) @ apart
    left_out = float(apart[sets[-1] != played.learned].sum())
    given = (u, state.around, np.sqrt(state.squares), state.paid, learner.wealth, left_out)
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
    assert 0.0 < left < learner.hindsight(played.state, u) < right < 0.5 * 4000


# -- Theorem D: the default


class Judged(NamedTuple):
    """A judged round: its losses in units of the target, and the row and the target of its epoch."""

    deployed: float
    fallback: float
    ahead: float  # the loss of the fallback one row ahead, not brought into a range
    row: np.ndarray
    y: float
    z: float
    unit: float
    epoch: int


def squashed(x, center, factors, player):
    cells = (x - center) * factors
    cells = np.where(np.isfinite(cells), cells, 0.0)
    far = np.maximum(np.abs(cells) - player.knee, 0.0)
    sizes = np.minimum(np.minimum(np.abs(cells), player.knee) + np.log1p(far), player.most)
    return np.append(np.copysign(sizes, cells), 1.0)


def forecasts(player, state, x, y):
    """The losses of the deployed forecast and of the fallback's, as they are asked for, in target units."""
    w, loss = player.predict(state), player.loss
    found = []
    for v in (state.asked.v, state.asked.fallback):
        z = dot(w._replace(v=v.copy()), x)
        if player.learner.scales_target():
            z = (w.to_target_units(z) - w.y_center) / w.y_spread
        else:
            z = min(max(z, -3.0), 3.0)
        found.append(w.y_spread * float(loss.value(z, w.transform_target(y))))
    return found


class Watched:
    """A game of `Steady`, watched from outside: its losses, its epochs, and a fallback of our own."""

    def __init__(self, player, dim):
        self.player, self.state, self.own = player, player.init(dim), player.fallback.init(dim + 1)
        self.rounds, self.ended, self.epoch = [], [], 0
        self.unjudged = []  # rounds that only the fallback has learned from

    def start_batch(self):
        before = self.marks()
        self.state = self.player.start_batch(self.state)
        self.follow(before)

    def marks(self):
        return self.state.epoch, float(self.state.asked.numbers[EPOCH]) >= 0.0

    def play(self, x, y):
        player, state, before = self.player, self.state, self.marks()
        learned, counted = float(state.learned.numbers[:2].sum()), float(state.hedge.numbers[COUNTED])
        numbers, units, dim = state.asked.numbers, state.units, len(x)
        center, factor = player.target_unit(state)
        row = squashed(x, units.center[:dim], units.factors[:dim], player)
        target, z = (y - center) * factor, float(state.fallback.w @ row)
        given = numbers[EPOCH] >= 0.0 and numbers[Y_FACTOR] > 0.0
        losses = forecasts(player, state, x, y) if given else (math.nan, math.nan)
        self.state, _ = player.observe(player.set_target(state, y), 1.0, x)
        after, is_new = float(self.state.hedge.numbers[COUNTED]), before != self.marks()
        if after == counted + 1.0 or float(self.state.learned.numbers[:2].sum()) == learned + 1.0:
            self.own = player.fallback.update(self.own, float(player.loss.slope(z, target)), row)
            ahead, unit = float(player.loss.value(z, target)), 1.0 / factor if factor > 0.0 else 0.0
            known = Judged(*losses, unit * ahead, row, target, z, unit, self.epoch)
            (self.rounds if after == counted + 1.0 else self.unjudged).append(known)
        if after < counted:
            self.rounds, self.ended = [], []
        self.follow(before)
        assert is_new or same_numbers(self.own, self.state.fallback)

    def follow(self, before):
        """Start again where the fallback of the player does."""
        if before != self.marks():
            self.ended.append((self.epoch, copy.deepcopy(self.own)))
            self.epoch += 1
            self.own = self.player.fallback.restarted(self.own, self.state.fallback.w.copy())


def same_numbers(ours, theirs):
    """Whether our fallback has learned what that of the player has."""
    return all(np.allclose(a, b, rtol=1e-7, atol=1e-9) for a, b in zip(ours, theirs, strict=True))


def worst_sum(terms, k):
    """The largest sum of all terms but k."""
    return float(terms.sum() - np.minimum(np.sort(terms)[:k], 0.0).sum())


def comparators(rng, rows, y, around, radius, box):
    """Weights within a radius: at its corners, inside, and near those of least squares."""
    near = np.linalg.lstsq(rows, np.clip(y, -20.0, 20.0), rcond=None)[0]
    some = [around, near, 0.0 * around, *(around + radius * rng.choice([-1.0, 1.0], (3, len(around))))]
    return [np.clip(np.clip(u, around - radius, around + radius), -box, box) for u in some]


def ratios_of_certificate(watched, rng):
    """Loss / certificate, for the worst inliers: beside the fallback, and beside linear models."""
    player, found = watched.player, [0.0, 0.0]
    rounds = watched.rounds
    recent = [each for each in rounds if each.epoch == watched.epoch]
    if not recent:
        return found
    rows, y = np.array([each.row for each in recent]), np.array([each.y for each in recent])
    behind = np.array([each.deployed - each.fallback for each in rounds])
    own = np.array([each.fallback for each in recent])
    scale = sum(each.deployed + each.fallback for each in rounds)
    for k, radius in itertools.product((0, 1, 5, 30), (0.01, 1.0)):
        proof = default_certificate(player, watched.state, k, radius)
        assert (proof.rounds, proof.recent) == (len(rounds), len(recent))
        left, right = np.array([worst_sum(behind, k)]), np.array([proof.over_fallback])
        found[0] = max(found[0], largest_ratio(left, right, scale))
        for u in comparators(rng, rows, y, watched.state.fallback.around, radius, player.fallback.box):
            theirs = recent[0].unit * values(player.loss, rows @ u, y)
            left, right = np.array([worst_sum(own - theirs, k)]), np.array([proof.over_models])
            found[1] = max(found[1], largest_ratio(left, right, scale))
    return found


def ratio_of_d(watched, rng):
    """Regret / bound of Theorem D, with weights of their own for each epoch, on random sets of inliers."""
    player, rounds = watched.player, watched.rounds
    L, unit, worst = player.loss.lipschitz(), player.start_unit(watched.state), 0.0
    epochs = [*watched.ended, (watched.epoch, watched.own)]
    deployed = np.array([each.deployed for each in rounds])
    waited = np.array([max(each.fallback - each.ahead, 0.0) for each in rounds])
    number = np.array([each.epoch for each in rounds])
    last = float(watched.state.learned.numbers[LOST]) * unit
    assert waited[number == watched.epoch].sum() == pytest.approx(
        last, rel=1e-9, abs=1e-9 * (1.0 + deployed.sum())
    )
    for trial in range(6):
        apart, theirs, alone, units = np.zeros(len(rounds)), np.zeros(len(rounds)), [], []
        for epoch, state in epochs:
            some = [each for each in rounds if each.epoch == epoch]
            if not some:
                continue
            rows, y = np.array([each.row for each in some]), np.array([each.y for each in some])
            u = comparators(rng, rows, y, state.around, 0.5, player.fallback.box)[trial]
            units.append(some[0].unit)
            z = np.array([each.z for each in some])
            theirs[number == epoch] = some[0].unit * values(player.loss, rows @ u, y)
            apart[number == epoch] = some[0].unit * L * np.abs(z - rows @ u)
            more = sum(L * abs(each.z - each.row @ u) for each in watched.unjudged if each.epoch == epoch)
            given = (u, state.around, state.squares**0.5, state.paid, player.fallback.wealth, more)
            alone.append(bounds.theorem_p(*given))
        for k in (0, 1, 10, len(rounds) // 3):
            inliers = np.ones(len(rounds), bool)
            inliers[rng.permutation(len(rounds))[:k]] = False
            mixed = unit * player.hedge.certificate(watched.state.hedge, k)
            clipped = float(waited[inliers].sum() + apart[~inliers].sum())
            right = np.array([bounds.default_bound(mixed, alone, units, clipped)])
            left = np.array([(deployed - theirs)[inliers].sum()])
            worst = max(worst, largest_ratio(left, right, float(deployed.sum() + theirs.sum())))
    return worst


NUMBERS = [hf.Absolute(), hf.Huber(), hf.losses.Pinball(0.8), hf.losses.EpsilonInsensitive(0.1)]
OUTLIERS = ["auto", 0, 5, 0.3]


def hostile(seed, rounds):
    """A stream with wrong rows and targets, missing cells, changes of units, and bad or equal first rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, 1 + seed % 3))
    y = X @ rng.standard_normal(X.shape[1]) + 0.3 * rng.standard_normal(rounds)
    wrong = rng.random(rounds) < 0.1
    X[wrong] *= 10.0 ** rng.uniform(0.0, 6.0, (int(wrong.sum()), 1))
    y[rng.random(rounds) < 0.1] = (1e4, -30.0, 8.0)[seed % 3]
    changes = np.sort(rng.integers(60, 250, 2))
    if seed % 4 == 1:
        X[changes[0] :] *= 5.0
        y[changes[0] :] *= 5.0
        y[changes[1] :] = 20.0 * y[changes[1] :] + 7.0
    if seed % 4 == 2:
        y[changes[0] : changes[1]] *= -1.0
    if seed % 5 == 0:
        y[:40] = 0.0
    if seed % 5 == 3:
        X[:50], y[:50] = 1e3 * X[:50], 0.01 * y[:50]
    X[rng.random(X.shape) < 0.02 * (seed % 2)] = np.nan
    return X, y * (1.0, 1e6, 1e-6)[seed // 4 % 3], rng


def player_for(seed):
    delay, outliers = (1, 7, 0)[seed % 3], OUTLIERS[seed // 3 % 4]
    loss = NUMBERS[seed // 2 % 4]
    if seed % 5 == 4:
        return choice.for_labels(Logits(), outliers, delay=delay)
    return choice.for_numbers(ridges_for(loss), outliers, delay=delay)._replace(missing=0.7).check()


def check_d(seeds, rounds):
    """The certificate and Theorem D for the default itself. The largest ratios."""
    worst = np.zeros(3)
    for seed in seeds:
        X, y, rng = hostile(seed, rounds)
        player = player_for(seed)
        if not player.learner.scales_target():
            y = np.where(y > 0.0, 1.0, -1.0)
        watched = Watched(player, X.shape[1])
        for t in range(rounds):
            if player.delay == 0 and rng.random() < 0.1:
                watched.start_batch()
            watched.play(X[t], float(y[t]))
            if t % 100 == 99:
                ratios = ratios_of_certificate(watched, rng)
                assert max(ratios) <= 1.0 + 1e-9, (seed, t, ratios)
                worst[:2] = np.maximum(worst[:2], ratios)
        ratio = ratio_of_d(watched, rng)
        assert ratio <= 1.0 + 1e-9, (seed, ratio)
        worst[2] = max(worst[2], ratio)
    return worst


def test_the_certificate_of_the_default_holds_on_hostile_streams():
    check_d(range(60), rounds=400)


@pytest.mark.exhaustive
def test_the_certificate_of_the_default_holds_on_more_hostile_streams():
    check_d(range(60, 600), rounds=900)


@pytest.mark.parametrize("loss", NUMBERS[:2])
def test_certificates_are_in_units_of_the_target(loss):
    """The same stream in other units has the same certificate in those units. They are powers of two."""
    X, y, _ = hostile(4, 300)
    proofs = []
    for unit in (1.0, 2.0**20):
        player = choice.for_numbers(ridges_for(loss))
        state = hf.play(player, hf.Replay(X, y * unit, loss), compiled=False).state[0]
        proofs.append(default_certificate(player, state, 3))
    assert proofs[1].over_fallback == proofs[0].over_fallback * 2.0**20
    assert proofs[1].over_models == proofs[0].over_models * 2.0**20


def test_clipping_does_not_raise_a_loss_whose_target_is_inside():
    grid = np.linspace(-9.0, 9.0, 37)
    for loss in LOSSES[:4]:
        for y, z in itertools.product(grid[np.abs(grid) <= 4.0], grid):
            clipped = float(np.clip(z, -4.0, 4.0))
            assert loss.value(clipped, float(y)) <= loss.value(float(z), float(y))
