"""Theorem X (docs/math.md, 11): the mean of all forecasters, for every set of inliers of short games."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.trials import in_order, largest_ratio, many, subsets

from holdfast import bounds
from holdfast.steady.hedge import COUNTED, LARGEST, RATE, WORSE, Hedge

HEDGES = [Hedge(), Hedge(1.0), Hedge(0.5, 0.1), Hedge(20.0, 0.5), Hedge(3.0, 1e-9)]
SIZES = [(1,) * 9, (3,) * 3, (4, 4, 1), (1, 2, 1, 4, 1), (2, 2, 2, 2, 1)]


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
    first: float  # the smallest of the first parts

    def ranges(self):
        return np.ptp(self.losses, axis=1)

    def behind(self, chosen):
        """What the deployed losses exceed those of a forecaster by: one number, or one for each round."""
        return self.deployed - self.losses[np.arange(len(self.losses)), chosen]


def gap_of(parts, sums, rate):
    """The mean less the mix loss of a batch, the slow way."""
    least = sums.min()
    return float(parts @ (sums - least)) + math.log(float(parts @ np.exp(-rate * (sums - least)))) / rate


def hedged(hedge, losses, sizes, units, worse=0.0, first=None):
    """A game with batches of these sizes; the last one may not have ended. `losses(t, parts)` may adapt.

    `worse` is by how much deployed losses exceed the mean, less half of it. `first` has the first parts, up
    to a factor.
    """
    parts, rows, deployed, batch = [], [], [], []
    forecasters = len(losses(0, None))
    state, t = hedge.init(forecasters), 0
    if first is not None:
        state = hedge.start_from(state, first)
    least = float(state.start.min())
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
    return Hedged(*arrays, gaps, batches, rates, state, least)


def ratio_of_x(hedge, game):
    """Regret / bound of Theorem X: the largest over all 𝒮 and all forecasters."""
    T, forecasters = game.losses.shape
    sets, s, worst = subsets(T), game.ranges(), 0.0
    out, scale = T - sets.sum(axis=1), float(np.abs(game.losses).sum() + np.abs(game.deployed).sum())
    kappa = np.maximum(game.deployed - np.sum(game.parts * game.losses, axis=1), 0.0)
    given = (game.gaps, game.batches, game.rates, forecasters, hedge.share, s)
    right = np.array([bounds.theorem_x(*given, k, first=game.first) for k in range(T + 1)])
    numbers = game.state.numbers
    assert hedge.excess(game.state) == pytest.approx(right[0], rel=1e-9, abs=1e-12 * scale)
    assert (numbers[COUNTED], numbers[LARGEST]) == (T, s.max())
    assert numbers[WORSE] == pytest.approx(kappa.sum(), rel=1e-9, abs=1e-12 * scale)
    for k in range(T + 1):
        assert in_order(right[k] + kappa.sum(), hedge.certificate(game.state, k), scale=scale)
    for i in range(forecasters):
        worst = max(worst, largest_ratio(sets @ game.behind(i), right[out] + sets @ kappa, scale))
    return worst


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
            first = 10.0 ** rng.uniform(-3.0, 0.0, 2 + seed % 3) if seed % 2 else None
            game = hedged(hedge, losses, sizes, units, (0.0, 0.2)[seed % 3 == 0], first)
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
