"""Theorem H: filters of different budgets and slacks on features and gradients, also one for each label."""

import itertools

import numpy as np
import pytest
from guards import guarded
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.trials import in_order, slacks, topshare_budgets

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Tight

D, BALL = 2.0, hf.Ball(1.0)
KEEP = ("sizes", "kept", "products", "gradients")
kinds = st.one_of(
    st.builds(lambda k, slack: hf.TopK(k, slack), st.integers(0, 3), slacks),
    st.builds(
        lambda share, slack: hf.TopShare(share, 0.9, slack, exact=True), st.sampled_from([0.05, 0.2]), slacks
    ),
)
rows = st.tuples(*[st.sampled_from([-1.0, -0.5, 0.2, 1.0])] * 2, st.sampled_from([1.0, 1.0, 3.0, 30.0, 1e6]))
rounds = st.lists(st.tuples(rows, st.sampled_from([-1.0, 1.0, 1.0])), min_size=1, max_size=8)


def budgets(filter, n):
    """k after 1, ..., n rounds."""
    if isinstance(filter, hf.TopK):
        return np.full(n, filter.k)
    return topshare_budgets(filter.share, filter.delta, n)


def within_budget(filter, sizes, inliers):
    """Whether the number of outliers above all inliers never exceeds the budget."""
    larger = ~inliers & (sizes > sizes[inliers].max(initial=0.0))
    return bool(np.all(np.cumsum(larger) <= budgets(filter, len(sizes))))


def filters_of(player, record, y):
    """Each filter of the guard with its sizes and its rounds."""
    everywhere = np.ones(len(y), bool)
    features, _, gradient = player.checks
    of_gradients = [y < 0.0, y >= 0.0] if isinstance(gradient, hf.LabelCheck) else [everywhere]
    gradients = [(gradient.filter, record.size, rounds) for rounds in of_gradients]
    return gradients, [(features.filter, record.sizes[:, 0], everywhere)]


def holds(player, record, y, inliers):
    """Theorem H for these inliers, for a loss with Lipschitz constant 1; None if it does not apply."""
    gradients, features = filters_of(player, record, y)
    all_filters = gradients + features
    if not all(within_budget(filter, sizes[mine], inliers[mine]) for filter, sizes, mine in all_filters):
        return None
    largest, filters = 0.0, []
    for i, (filter, sizes, mine) in enumerate(all_filters):
        G = sizes[mine & inliers].max(initial=0.0)
        if not np.all(sizes[mine & record.kept] <= filter.slack * G):
            return False
        k = budgets(filter, mine.sum())[-1] if mine.any() else 0
        filters.append((G, k, filter.slack))
        largest = max(largest, filter.slack * G) if i < len(gradients) else largest
    B = hf.regret.linearised_regret(record, record.kept)
    bound = bounds.theorem_h(B, D, largest, np.sum(~inliers), filters, error=0.0)
    return in_order(hf.regret.linearised_regret(record, inliers), bound, scale=D * largest * len(y))


def played(player, X, y, loss):
    return hf.play(player, hf.Replay(X, y, loss), keep=KEEP, compiled=False)


@settings(max_examples=80, deadline=None)
@given(rounds, kinds, kinds, st.booleans())
def test_it_holds_for_every_set_of_inliers_within_the_budgets(stream, features, gradient, labels):
    X = np.array([[size * a, size * b] for (a, b, size), _ in stream])
    y = np.array([label for _, label in stream])
    player = guarded(hf.OGD(BALL), features, hf.Everything(), gradient, labels=labels)
    record = played(player, X, y, hf.Hinge())
    answers = [
        holds(player, record, y, ~np.array(outliers, bool))
        for outliers in itertools.product([False, True], repeat=len(y))
    ]
    assert False not in answers
    assert answers[0]  # without outliers all budgets are met


def gathered(share, rounds, seed):
    """Rounds of size 1, and outliers of size 100 with probability `share`, all with the label -1."""
    out = np.random.default_rng(seed).random(rounds) < share
    return np.ones((rounds, 1)), np.where(out, -100.0, 1.0), ~out


@pytest.mark.parametrize("labels", [False, True])
def test_outliers_that_gather_in_one_label_must_be_within_the_budget_of_this_label(labels):
    """2 % of all rounds, where 5 % are allowed; but they are all the rounds of their label."""
    topshare = hf.TopShare(0.05, exact=True)
    X, y, inliers = gathered(0.02, 1000, seed=0)
    player = guarded(hf.OGD(BALL), hf.TopShare(0.05), hf.Everything(), topshare, labels=labels)
    record = played(player, X, y, hf.Linear())
    assert (np.cumsum(~inliers) <= budgets(topshare, len(y))).all()
    assert record.kept[~inliers].any() == labels
    assert holds(player, record, y, inliers) is (None if labels else True)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_it_holds_if_they_are_within_the_budget_of_their_label(share):
    """The outliers of `gathered`, but they are at most the allowed share of their label."""
    rng = np.random.default_rng(1)
    y = np.where(rng.random(1500) < 0.3, -1.0, 1.0)
    out = (y < 0.0) & (rng.random(1500) < share / 2)
    player = guarded(hf.OGD(BALL), hf.TopK(0), hf.Everything(), hf.TopShare(share, exact=True), labels=True)
    record = played(player, np.ones((1500, 1)), np.where(out, 100.0 * y, y), hf.Linear())
    assert not record.kept[out].any()
    assert holds(player, record, y, ~out)


@pytest.mark.parametrize(
    ("features", "skipping", "share"), [(hf.Everything(), [], 0.99), (hf.TopK(50), [(1.0, 50, 2.0)], 0.65)]
)
def test_there_are_rounds_that_cost_nearly_as_much_as_it_allows(features, skipping, share):
    """The rows of `Tight` are its gradients, so both filters skip the same rounds."""
    k, tight = 50, Tight(50, D=D)
    player = guarded(hf.OGD(tight.domain), features, hf.Everything(), hf.TopK(k))
    record = hf.play(player, tight, keep=KEEP, compiled=False)
    B, filters = hf.regret.linearised_regret(record, record.kept), [(1.0, k, 2.0), *skipping]
    regret = hf.regret.linearised_regret(record, tight.inliers)
    assert regret <= bounds.theorem_h(B, D, 2.0, k, filters, error=0.0)
    assert regret >= share * bounds.theorem_h(0.0, D, 2.0, k, filters, error=0.0)


def test_a_filter_whose_sizes_say_nothing_of_the_loss_may_skip_one_round_of_every_band():
    """So a filter on targets can cost D G for each band, unless small targets have small gradients."""
    topk = hf.TopK(1)
    state, skipped = topk.init(1), 0
    for size in 3.0 ** np.arange(-600.0, 1.0):
        state, _, kept = topk.decide(state, size)
        skipped += not kept
    assert skipped == 601
