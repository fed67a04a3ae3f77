"""Theorem D (docs/math.md, 11): the default and its certificate, on hostile streams."""

import copy
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from samples import slow
from theorems.trials import LOSSES, largest_ratio, values

import holdfast as hf
from holdfast import bounds
from holdfast.rounds import Round
from holdfast.steady import Logits, choice
from holdfast.steady.certificate import default_certificate
from holdfast.steady.choice import ridges_for
from holdfast.steady.epochs import LOST
from holdfast.steady.forecasts import start_unit, target_unit
from holdfast.steady.hedge import COUNTED
from holdfast.steady.state import EPOCH, NEVER, NOW, Y_FACTOR
from holdfast.vectors import dot


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
    fallback = state.fallback.w if state.asked.numbers[EPOCH] == NOW else state.asked.fallback
    for v in (w.v, fallback):
        z = dot(w._replace(v=v.copy()), x)
        if player.learner.scales_target():
            z = (w.to_target_units(z) - w.y_center) / w.y_spread
        else:
            z = min(max(z, -3.0), 3.0)
        found.append(w.y_spread * float(loss.value(z, w.target_in_units(y))))
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
        return float(self.state.numbers[EPOCH]), float(self.state.asked.numbers[EPOCH]) != NEVER

    def play(self, x, y):
        player, state, before = self.player, self.state, self.marks()
        learned, counted = float(state.learned.numbers[:2].sum()), float(state.hedge.numbers[COUNTED])
        numbers, units, dim = state.asked.numbers, state.units, len(x)
        center, factor = target_unit(player, state.units)
        row = squashed(x, units.center[:dim], units.factors[:dim], player)
        target, z = (y - center) * factor, float(state.fallback.w @ row)
        given = numbers[EPOCH] != NEVER and numbers[Y_FACTOR] > 0.0
        losses = forecasts(player, state, x, y) if given else (math.nan, math.nan)
        self.state, _ = player.observe(state, Round(1.0, x, y))
        after, is_new = float(self.state.hedge.numbers[COUNTED]), before != self.marks()
        if after == counted + 1.0 or float(self.state.learned.numbers[:2].sum()) == learned + 1.0:
            self.own = player.fallback.update(self.own, Round(float(player.loss.slope(z, target)), row))
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
    L, unit, worst = player.loss.lipschitz(), start_unit(player, watched.state), 0.0
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
            given = (u, state.around, state.squares**0.5, state.limits, player.fallback.wealth, more)
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
        return choice.steady_for(Logits(), outliers, delay=delay)
    return choice.steady_for(ridges_for(loss), outliers, delay=delay)._replace(missing=0.7).check()


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


@pytest.mark.parametrize("seeds", [range(10), slow(range(10, 60))], ids=str)
def test_the_certificate_of_the_default_holds_on_hostile_streams(seeds):
    check_d(seeds, rounds=400)


@pytest.mark.exhaustive
def test_the_certificate_of_the_default_holds_on_more_hostile_streams():
    check_d(range(60, 600), rounds=900)


@pytest.mark.parametrize("loss", NUMBERS[:2])
def test_certificates_are_in_units_of_the_target(loss):
    """The same stream in other units has the same certificate in those units. They are powers of two."""
    X, y, _ = hostile(4, 300)
    proofs = []
    for unit in (1.0, 2.0**20):
        player = choice.steady_for(ridges_for(loss))
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
