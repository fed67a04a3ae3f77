"""Theorem 8: i.i.d. sizes with outliers above their p-quantile G cost only √(T ln T)."""

import itertools
import math

import numpy as np
import pytest
from laws import filtered
from samples import thinned
from theorems.trials import at_most_delta, in_order, mean_and_error, played

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Exponential, Pareto, QuantileStream, Uniform

RANKS = ["bernstein", "binomial", "newsvendor"]
D, G, BALL = 2.0, 3.0, hf.Ball(1.0)


@hf.rule
class Against:
    """Gradients of i.i.d. sizes in the direction of w_t, the worst one."""

    sizes: np.ndarray
    dim: int = 2

    def extent(self):
        return len(self.sizes), self.dim

    def start(self):
        return 0

    def reveal(self, state, t, w):
        length = math.sqrt(np.dot(w, w))
        x = w / length if length > 0.0 else np.eye(self.dim)[0]
        return state, self.sizes[t] * np.dot(w, x), self.sizes[t], x


def sizes(stream):
    return np.abs(stream.stream.G).max(axis=1)


def regrets(quantile, p, T, seeds, tail, adaptive=False):
    """The largest regret over all u on the rounds up to the quantile, for one game of each seed."""
    player = hf.Filtered(hf.OGD(BALL), quantile)
    for seed in range(seeds):
        stream = QuantileStream(p, T, 2, seed, G, tail)
        adversary = Against(sizes(stream)) if adaptive else stream
        record = played(player, adversary)
        yield hf.regret.linearised_regret(record, stream.inliers), record


@pytest.mark.parametrize(
    ("ranks", "p", "stream"),
    thinned(
        list(
            itertools.product(
                RANKS,
                [0.5, 0.9],
                [(Pareto(0.05), False), (Uniform(1.0), False), (Exponential(5.0), True)],
            )
        ),
        4,
    ),
    ids=repr,
)
def test_the_mean_regret_is_below_every_form(ranks, p, stream):
    T, (tail, adaptive) = 300, stream
    quantile = hf.Quantile(p, horizon=T, ranks=ranks, exact=True)
    B, schedule = bounds.ogd(D, G, p * T), bounds.ranks(quantile, T)
    forms = [bounds.theorem_8(B, D, G, p, T), bounds.theorem_8_paper(B, D, G, p, T)]
    exact = bounds.theorem_8_exact(B, D, G, schedule, p)
    assert in_order(exact, *forms)
    games = list(regrets(quantile, p, T, 25, tail, adaptive))
    mean, error = mean_and_error([regret for regret, _ in games])
    assert mean <= exact + 4.0 * error
    kept = [bounds.ogd_hindsight(D, record.size[record.kept]) for _, record in games]
    failed = [
        bounds.theorem_8_probable(B, D, G, schedule, p, 0.2) < R
        for (R, _), B in zip(games, kept, strict=True)
    ]
    assert at_most_delta(failed, 0.2 + bounds.failure_probability(schedule, p))


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_the_pseudo_regret_is_below_the_regret_and_its_bound(p):
    """Against the fixed u that is best for the distribution of the inliers, not the best in hindsight."""
    T, pseudo, worst, best = 300, [], [], np.array([-1.0, 0.0])
    quantile = hf.Quantile(p, horizon=T, exact=True)
    for seed in range(25):
        stream = QuantileStream(p, T, 2, seed, G, Pareto(0.1))
        directions = np.random.default_rng(seed).choice([1.0, 1.0, -1.0], T)[:, None] * [1.0, 0.0]
        record = played(
            hf.Filtered(hf.OGD(BALL), quantile), hf.Gradients(sizes(stream)[:, None] * directions)
        )
        pseudo.append(hf.regret.linearised_regret(record, stream.inliers, best))
        worst.append(hf.regret.linearised_regret(record, stream.inliers))
    exact = bounds.theorem_8_exact(bounds.ogd(D, G, p * T), D, G, bounds.ranks(quantile, T), p)
    _, error = mean_and_error(worst)
    assert in_order(np.mean(pseudo), np.mean(worst), exact + 4.0 * error)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("p", [0.3, 0.8])
def test_the_exact_overhead_is_the_number_of_inliers_skipped(ranks, p):
    T, runs = 120, 300
    quantile = hf.Quantile(p, horizon=T, ranks=ranks, exact=True)
    skipped, kept = [], []
    for seed in range(runs):
        stream = QuantileStream(p, T, seed=seed, tail=Pareto(0.5))
        _, decisions, _ = filtered(quantile, quantile.init(1), sizes(stream))
        skipped.append(np.sum(~decisions & stream.inliers))
        kept.append(np.sum(decisions & ~stream.inliers))
    odds = bounds.rank_odds(bounds.ranks(quantile, T), p)
    mean, error = mean_and_error(skipped)
    assert abs(mean - odds.skipped.sum()) <= 4.0 * error
    expected = odds.kept.sum()
    assert abs(np.mean(kept) - expected) <= 4.0 * (np.std(kept) + math.sqrt(expected)) / math.sqrt(runs)


def test_the_histogram_skips_few_more_inliers():
    p, T, lost = 0.8, 1000, {}
    for exact in (True, False):
        quantile, lost[exact] = hf.Quantile(p, horizon=T, exact=exact), 0
        for seed in range(10):
            stream = QuantileStream(p, T, seed=seed)
            _, kept, _ = filtered(quantile, quantile.init(1), sizes(stream))
            lost[exact] += np.sum(~kept & stream.inliers)
    assert lost[True] <= lost[False] <= lost[True] + 0.01 * p * T * 10


@pytest.mark.parametrize("ranks", RANKS)
def test_it_holds_without_a_horizon_in_epochs(ranks):
    p, T = 0.8, 2500
    quantile = hf.Quantile(p, ranks=ranks, exact=True)
    ends = bounds.ends(quantile, T)
    _, lengths = np.unique(ends, return_counts=True)
    B = sum(bounds.ogd(D, G, p * length) for length in lengths)
    assert len(lengths) == 2
    assert bounds.epochs_factor(4.0) * bounds.ogd(D, G, p * T) >= B
    exact = bounds.theorem_8_exact(B, D, G, bounds.ranks(quantile, T), p, ends)
    mean, error = mean_and_error([R for R, _ in regrets(quantile, p, T, 8, Pareto(0.1), adaptive=True)])
    assert mean <= exact + 4.0 * error


def test_with_many_ties_at_the_quantile_the_skipped_inliers_grow_linearly():
    """They are all inliers, but P(size < G) is already p, so at level p almost none is kept."""
    p, atom, lost, above = 0.5, 0.4, {}, {}
    for T in (1000, 4000):
        stream = QuantileStream(p, T, seed=7, G=G, atom=atom)
        tied = sizes(stream) == G
        for level, count in ((p, lost), (p + atom / 2, above)):
            quantile = hf.Quantile(level, horizon=T)
            _, kept, _ = filtered(quantile, quantile.init(1), sizes(stream))
            count[T] = np.sum(tied & ~kept)
    assert lost[4000] >= 0.95 * atom * 4000
    assert lost[4000] >= 3.5 * lost[1000]
    assert above[4000] <= 0.1 * lost[4000]  # a level within the jump soon keeps all of them


def test_with_many_ties_at_the_quantile_the_regret_exceeds_the_theorem():
    p, T = 0.5, 4000
    stream = QuantileStream(p, T, seed=7, G=G, atom=0.4)
    size = sizes(stream)
    g = np.where(size < G, size, -size)[:, None]  # ties have the opposite sign
    record = played(
        hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.Quantile(p, horizon=T)), hf.Gradients(g)
    )
    theorem = bounds.theorem_8(bounds.ogd(D, G, p * T), D, G, p, T)
    assert (
        hf.regret.linearised_regret(record, size < G)
        <= theorem
        < hf.regret.linearised_regret(record, size <= G)
    )
