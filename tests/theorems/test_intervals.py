"""Theorems I, II and III (docs/math.md, 12): intervals, for every window and every set of inliers."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from theorems.trials import subsets

import holdfast as hf
from holdfast import bounds
from holdfast.intervals.tracker import HELD, IGNORED, MISSED, Tracker

SCORES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 1e6, math.nan)
FILTERS = (hf.Everything(), hf.TopK(0), hf.TopK(1, slack=1.5), hf.TopK(2), hf.TopK(1, slack=8.0, window=4))
ROUNDING = 1e-9


class Followed(NamedTuple):
    """What a tracker has done with each readable score of one coverage; widths has one entry more."""

    scores: np.ndarray
    widths: np.ndarray
    missed: np.ndarray
    ignored: np.ndarray
    held: np.ndarray


def started(tracker, width):
    """A state that begins with this width, and only follows."""
    state = tracker.begin()
    state.widths[:] = width
    state.numbers[1] = 1e9
    return state


def followed(tracker, scores, width):
    """The rounds of each coverage."""
    state, rows = started(tracker, width), []
    for score in scores:
        before, widths = state.counts.copy(), state.widths.copy()
        state = tracker.follow(state, score)
        if 0.0 <= score < math.inf:
            rows.append((score, widths, state.counts - before))
    found = []
    for i in range(len(tracker.coverage)):
        widths = np.array([row[1][i] for row in rows] + [state.widths[i]])
        counts = np.array([row[2][i] for row in rows]).reshape(-1, 3)
        score = np.array([row[0] for row in rows])
        flags = counts[:, MISSED] > 0.0, counts[:, IGNORED] > 0.0, counts[:, HELD]
        found.append(Followed(score, widths, *flags))
    return found


def largest_ratio(tracker, game, coverage):
    """The largest ratio of a sum of Theorem I to its bound, over all windows and all sets of inliers."""
    worst, alpha, n = 0.0, 1.0 - coverage, len(game.scores)
    with np.errstate(divide="ignore"):
        logs, v = np.log(game.widths), np.log(np.maximum(game.scores, 1e-300))
    counted, covered = game.missed & ~game.ignored, ~game.missed
    for a, b in itertools.combinations(range(n + 1), 2):
        some = slice(a, b)
        inliers = subsets(b - a)
        sums = inliers @ (game.missed[some] - alpha)
        rise = np.where(inliers & counted[some], v[some] - logs[a], 0.0).max(axis=1)
        fall = np.where(inliers & covered[some], logs[a] - v[some], 0.0).max(axis=1)
        outliers = ~inliers
        numbers = (
            outliers @ covered[some].astype(int),
            outliers @ counted[some].astype(int),
            inliers @ game.ignored[some].astype(int),
        )
        held = float(game.held[some].sum())
        for each in range(len(inliers)):
            ends = (float(rise[each]), float(fall[each])), (int(count[each]) for count in numbers)
            least, most = bounds.theorem_i(coverage, tracker.step, *ends[0], *ends[1], held)
            assert least - ROUNDING <= sums[each] <= most + ROUNDING, (game, a, b, inliers[each])
            worst = max(worst, sums[each] / most, sums[each] / least)
    return worst


def check(sequences, filters, steps=(0.05, 0.7), first=(0.3, 1.0)):
    worst = 0.0
    for number, scores in enumerate(sequences):
        filter, step = filters[number % len(filters)], steps[number // 3 % len(steps)]
        tracker = Tracker([0.3, 0.9], step, filter)
        games = followed(tracker, scores, first[number % 2])
        for game, coverage in zip(games, tracker.coverage.tolist(), strict=True):
            worst = max(worst, largest_ratio(tracker, game, coverage))
    print(f"the largest ratio of a sum to its bound: {worst:.4f}")
    return worst


def random_sequences(count, rounds, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.choice(SCORES, rng.integers(1, rounds + 1)).tolist()


def test_i_holds_in_every_window_for_every_set_of_inliers():
    worst = check(random_sequences(150, 7, seed=0), FILTERS)
    assert 0.99 < worst <= 1.0 + ROUNDING  # it is reached


@pytest.mark.slow
def test_i_holds_for_all_short_sequences():
    assert check(itertools.product(SCORES, repeat=4), FILTERS) <= 1.0 + ROUNDING


@pytest.mark.exhaustive
def test_i_holds_in_longer_sequences():
    assert check(random_sequences(20_000, 9, seed=1), FILTERS) <= 1.0 + ROUNDING


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_ii_no_set_of_outliers_makes_a_width_larger(k):
    """With every set that leaves out k rounds: the k + 1-th largest score is the least possible G."""
    rng, worst = np.random.default_rng(k), 0.0
    for seed in range(60):
        tracker = Tracker([0.5, 0.95], 0.3, hf.TopK(k, slack=1.5))
        scores = 2.0 ** rng.integers(-3, 4, 200)
        scores[rng.permutation(200)[:k]] = 10.0 ** rng.integers(3, 200)
        rng.shuffle(scores)
        for i, coverage in enumerate((0.5, 0.95)):
            state, first = started(tracker, 0.1), 0.1
            for t, score in enumerate(scores.tolist()):
                state = tracker.follow(state, score)
                G = float(np.sort(np.append(scores[: t + 1], np.zeros(k)))[-(k + 1)])
                most = bounds.theorem_ii(coverage, 0.3, G, slack=1.5, first=first)
                assert state.widths[i] <= most * (1.0 + ROUNDING), (seed, t)
                worst = max(worst, float(state.widths[i]) / most)
    print(f"the largest ratio of a width to its bound: {worst:.4f}")
    assert worst > 0.6


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_iii_widths_cross_by_less_than_a_step(filter):
    levels = np.array([0.2, 0.5, 0.6, 0.9, 0.99])
    for scores in random_sequences(300, 60, seed=3):
        tracker = Tracker(levels, 0.4, filter)
        state = started(tracker, 1.0)
        for score in scores:
            state = tracker.follow(state, score)
            logs, given = np.log(state.widths), np.log(tracker.widths(state))
            assert (np.diff(given) >= 0.0).all()
            for i, j in itertools.combinations(range(len(levels)), 2):
                assert logs[i] - logs[j] <= 0.4 * (1.0 + levels[i] - levels[j]) + ROUNDING
            assert (given - logs <= 0.4 + ROUNDING).all()


def test_k_bad_scores_change_the_number_of_misses_by_k_and_a_width():
    """The statement without a theorem: 30 bad scores of any size, on 3,000 others."""
    rng = np.random.default_rng(5)
    scores = rng.exponential(size=3_000)
    misses = []
    for size in (0.0, 1e3, 1e200):
        tracker = Tracker(0.9, filter=hf.TopK(30, slack=8.0))
        bad = scores.copy()
        places = rng.permutation(3_000)[:30]
        bad[places] = size
        state = started(tracker, 2.0)
        for score in bad.tolist():
            state = tracker.follow(state, score)
        good = state.counts[0, MISSED] - (30 if size > 1.0 else 0)
        misses.append(good / 2_970)
    assert max(abs(share - 0.1) for share in misses) < 0.02
