"""Filters with a window: against sorting what they remember, and on streams whose scale changes."""

import math
import pickle

import numpy as np
import pytest
from equivalents import (
    bernstein_rank,
    binomial_rank,
    finite,
    remembered,
    window_budgets,
    windowed_thresholds,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import filtered, like, same
from samples import STREAMS

import holdfast as hf
from holdfast import bounds
from holdfast._compiled import call
from holdfast.filters.budget_schedule import BudgetSchedule, WindowBudget
from holdfast.flatten import check_flat, flat_length, flatten, restore

ugly = st.sampled_from([0.0, 1.0, 1.0, 3.0, 1e-300, 1e308, math.nan, math.inf]) | st.floats(1e-300, 1e308)
windows = st.sampled_from([2, 3, 7, 20, 45])


def run(filter, sizes):
    thresholds, kept, _ = filtered(filter, filter.init(1), np.asarray(sizes, dtype=float))
    return thresholds, kept


# -- against sorting


@given(st.lists(ugly, max_size=80), st.integers(0, 4), windows, st.sampled_from([1.25, 2.0, 3.0]))
def test_topk_is_sorting_what_it_remembers(sizes, k, window, slack):
    window += k
    thresholds, kept = run(hf.TopK(k, slack, window), sizes)
    measured = np.isfinite(sizes)
    expected = windowed_thresholds(finite(sizes), window, slack, np.full(len(sizes), k))
    assert np.array_equal(thresholds[measured], expected)
    assert np.array_equal(kept[measured], np.array(finite(sizes)) <= expected)
    assert not kept[~measured].any()


@settings(max_examples=60)
@given(
    st.lists(ugly, max_size=90),
    st.sampled_from([(0.02, 1e-3), (0.2, 0.5), (0.6, 0.1)]),
    windows,
    st.sampled_from([0, 5, 30]),
    st.booleans(),
)
def test_topshare_is_sorting_what_it_remembers(sizes, chances, window, patience, exact):
    topshare = hf.TopShare(*chances, exact=exact, window=window, patience=patience)
    thresholds, kept = run(topshare, sizes)
    measured, values = np.isfinite(sizes), np.array(finite(sizes))
    budgets = window_budgets(len(values), window, *chances, patience)
    if not exact:
        values = np.array([bucket(value) for value in values])
    latest = windowed_thresholds(values, window, 2.0, budgets)
    expected = np.array(finite(sizes)) <= latest
    assert np.array_equal(kept[measured], expected)
    assert not kept[~measured].any()
    assert np.array_equal(thresholds[measured][~expected], latest[~expected])
    assert (thresholds[measured] <= latest).all()  # of a kept round, that of an earlier one of the step


def bucket(size):
    """The lower edge of its bucket in a histogram."""
    _, value = hf.sketches.LogHistogram.empty().push(size).at(1)
    return value


@settings(max_examples=60)
@given(
    st.lists(ugly, max_size=90),
    st.sampled_from([0.3, 0.9]),
    windows,
    st.sampled_from(["binomial", "bernstein"]),
)
def test_quantile_is_sorting_what_it_remembers(sizes, p, window, kind):
    thresholds, kept = run(hf.Quantile(p, ranks=kind, exact=True, window=window), sizes)
    measured, values, delta = np.isfinite(sizes), finite(sizes), window**-2.0
    for t, (threshold, keep) in enumerate(zip(thresholds[measured], kept[measured], strict=True)):
        past = sorted(values[remembered(t - 1, window) : t]) if t else []
        rank = (binomial_rank if kind == "binomial" else bernstein_rank)(len(past), p, delta)
        assert threshold == (past[rank - 1] if rank > 0 else -math.inf)
        assert keep == (values[t] <= threshold)
    assert not kept[~measured].any()


@pytest.mark.parametrize("stream", list(STREAMS))
@pytest.mark.parametrize("window", [5_000, 2_000])
def test_in_its_first_block_a_filter_decides_as_without_a_window(stream, window):
    sizes = STREAMS[stream]
    for plain, windowed in (
        (hf.TopK(3), hf.TopK(3, window=window)),
        (hf.TopShare(0.05), hf.TopShare(0.05, window=window)),
        (hf.Quantile(0.9, delta=0.01), hf.Quantile(0.9, delta=0.01, window=window)),
    ):
        assert same(run(plain, sizes), run(windowed, sizes))


# -- the budget


@pytest.mark.parametrize("window", [2, 31, 32, 33, 700, 3_000])
@pytest.mark.parametrize("patience", [0, 50])
def test_inside_a_block_the_budget_does_not_fall(window, patience):
    share, level = 0.05, 6e-2 / math.pi**2
    budget = WindowBudget.at_start(share, 1e-2, window, patience)
    first, second, third = (
        [budget.at(n, share, level) for n in block]
        for block in (range(1, window + 1), *[range(window + 1, 2 * window + 1)] * 2)
    )
    plain = BudgetSchedule.at_start()
    least = [min(max(int(0.4 * n), n - 200), patience) for n in range(1, 2 * window + 1)]
    assert all(a >= b for a, b in zip(first, least, strict=False))
    assert all(a >= b for a, b in zip(second, least[window:], strict=True))
    assert np.all(np.diff(first) >= 0) and np.all(np.diff(second) >= 0)
    assert second == third
    assert second[-1] == bounds.window_budget(share, window, 1e-2, patience)
    assert first[-1] == bounds.window_budget(share, window, 1e-2, patience, first=True)
    if not patience:
        assert first == [plain.at(n, share, level) for n in range(1, window + 1)]


def test_of_the_blocks_no_more_than_a_share_delta_has_too_many_outliers():
    window, share, delta, blocks = 60, 0.1, 0.1, 3_000
    outliers = np.random.default_rng(4).random(window * blocks) < share
    budgets = window_budgets(3 * window, window, share, delta)[2 * window :]
    count = np.concatenate([[0], np.cumsum(outliers)])
    starts = window * np.arange(1, blocks)
    remembered_outliers = count[starts[:, None] + np.arange(1, window + 1)] - count[starts - window][:, None]
    failed = (remembered_outliers > budgets).any(axis=1).mean()
    assert failed <= delta
    assert failed > delta / 50  # the budget is not far too large


# -- streams whose scale changes


def falling(times):
    """Norms that fall from 10 to 0.16, as in training, with four late spikes; and where these are."""
    rng = np.random.default_rng(5)
    local = 10.0 * np.exp(np.linspace(0.0, math.log(0.016), 20_000))
    sizes, spikes = local * rng.gamma(20.0, 0.05, 20_000), [12_000, 15_500, 17_000, 19_500]
    sizes[spikes] = times * local[spikes]
    return sizes, spikes


@pytest.mark.parametrize("times", [10.0, 30.0, 100.0])
@pytest.mark.parametrize("filter", [hf.TopK(5, window=1_000), hf.TopShare(0.01, window=1_000)], ids=repr)
def test_late_spikes_among_falling_norms_are_skipped_and_hardly_anything_else(filter, times):
    sizes, spikes = falling(times)
    _, kept = run(filter, sizes)
    assert not kept[spikes].any()
    assert np.mean(~kept) <= 1e-3
    _, without = run(filter._replace(window=None), sizes)
    assert without[spikes].any() or times > 30.0


@pytest.mark.parametrize("before", [1_000, 100_000])
@pytest.mark.parametrize(
    "filter",
    [hf.TopK(20, window=1_000), hf.TopShare(0.01, window=1_000), hf.TopShare(0.1, window=500)],
    ids=repr,
)
def test_a_lasting_rise_costs_two_budgets_whatever_came_before(filter, before):
    sizes = np.random.default_rng(6).gamma(20.0, 0.05, before + 5_000)
    sizes[before:] *= 100.0
    _, kept = run(filter, sizes)
    if isinstance(filter, hf.TopK):
        budget = filter.k
    else:
        budget = bounds.window_budget(filter.share, filter.window, filter.delta)
    assert 0 < np.sum(~kept[before:]) <= 2 * budget
    assert kept[before + 2_500 :].mean() > 0.999


@pytest.mark.parametrize("patience", [100, 400])
def test_patience_is_how_many_bad_rounds_in_a_row_are_withstood(patience):
    topshare, rng = hf.TopShare(0.01, window=1_000, patience=patience), np.random.default_rng(7)
    sizes = rng.gamma(20.0, 0.05, 6_000)
    withstood, believed = sizes.copy(), sizes.copy()
    withstood[4_100 : 4_100 + patience] *= 1e6
    believed[4_100:] *= 1e6
    _, kept = run(topshare, withstood)
    assert not kept[4_100 : 4_100 + patience].any()
    assert kept[4_100 + patience :].all()
    _, kept = run(topshare, believed)
    assert patience <= np.sum(~kept[4_100:]) <= patience + 10


@pytest.mark.parametrize("period", [700, 1_000, 3_000])
def test_seasons_and_alternating_blocks_lose_a_few_budgets_a_period(period):
    t, rng = np.arange(30_000), np.random.default_rng(8)
    for scale in (10.0 ** np.sin(2 * math.pi * t / period), np.where(t // period % 2, 100.0, 1.0)):
        topk = hf.TopK(10, window=1_000)
        _, kept = run(topk, scale * rng.gamma(20.0, 0.05, len(t)))
        assert np.sum(~kept) <= 10 * 8 * len(t) / period


# -- the scenarios in which other rules fail, with a window as without


SCENARIOS = {
    "masking": {2_500: 1e6, 2_520: 4e5},
    "warm-up": {0: 1e6, 30: 1e5},
    "infinities": {2_500: math.inf, 2_501: math.nan, 2_502: 1e300},
    "a run": dict.fromkeys(range(2_400, 2_415), 50.0),
}


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(
    "plain",
    [hf.TopK(20), hf.TopShare(0.01), hf.TopShare(0.01, exact=True), hf.Quantile(0.98, delta=1e-3)],
    ids=repr,
)
def test_a_window_skips_what_is_skipped_without(plain, name):
    sizes = np.random.default_rng(9).gamma(20.0, 0.05, 5_000)
    for place, size in SCENARIOS[name].items():
        sizes[place] = size
    bad = list(SCENARIOS[name])
    _, without = run(plain, sizes)
    _, kept = run(plain._replace(window=1_000), sizes)
    assert not kept[bad].any() and not without[bad].any()
    lost, expected = np.sum(~kept), np.sum(~without)
    assert lost <= expected + (500 if isinstance(plain, hf.Quantile) else 0)


def test_a_ramp_of_outliers_just_below_the_threshold_gains_nothing():
    """Outliers within the budget, each as large as the filter keeps: they stay at twice the inliers."""
    rng, topk = np.random.default_rng(10), hf.TopK(40, window=1_000)
    state, kept_sizes = topk.init(1), []
    for t in range(5_000):
        size = rng.gamma(20.0, 0.05)
        if t > 2_000 and t % 50 == 0:
            size = 2.0 * state.smallest()
        state, _, kept = topk.decide(state, size)
        kept_sizes += [size] if kept else []
    assert max(kept_sizes) < 2.0 * 2.0


# -- states


FILTERS = [hf.TopK(3, window=40), hf.TopShare(0.1, window=40), hf.Quantile(0.8, window=40)]
EVIL = (-1.0, 0.5, 39.0, 1e9, 2.0**26, 2.0**53, math.nan, math.inf)


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
@pytest.mark.parametrize("rounds", [0, 17, 40, 41, 130])
def test_a_state_is_restored_and_goes_on(filter, rounds):
    sizes = np.random.default_rng(11).gamma(2.0, size=rounds + 200)
    _, _, state = filtered(filter, filter.init(1), sizes[:rounds])
    row = np.zeros(flat_length(state))
    flatten(state, row, 0)
    back, _ = restore(filter.init(1), row, 0)
    assert filter.valid(back)
    thresholds, kept = run(filter, sizes)
    again = filtered(filter, back, sizes[rounds:])
    assert same((thresholds[rounds:], kept[rounds:]), again[:2])


def moved(state, other, row):
    """A state that is flattened and restored elsewhere, in either world."""
    flatten(state, row, 0)
    return restore(other, row, 0)[0]


@pytest.mark.slow  # compiles for long
def test_compiled_code_flattens_and_restores_the_same_state():
    topshare = hf.TopShare(0.1, window=40)
    _, _, state = filtered(topshare, topshare.init(1), STREAMS["heavy-tailed"])
    again = pickle.loads(pickle.dumps(state))
    row, other = (np.zeros(flat_length(state)) for _ in range(2))
    expected = moved(state, topshare.init(1), row)
    assert like(expected, call(moved, again, topshare.init(1), other))
    assert same(row, other)


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_changed_number_is_refused_or_harms_no_later_round(filter):
    sizes = np.random.default_rng(12).gamma(2.0, size=200)
    _, _, state = filtered(filter, filter.init(1), sizes[:65])
    row = np.zeros(flat_length(state))
    flatten(state, row, 0)
    refused = 0
    for place in range(0, len(row), 1 + len(row) // 60):
        for value in EVIL:
            changed = row.copy()
            changed[place] = value
            back = None
            if check_flat(filter.init(1), changed, 0, len(row)) == len(row):
                back, _ = restore(filter.init(1), changed, 0)
            if back is None or not filter.valid(back):
                refused += 1
            else:
                filtered(filter, back, sizes)
    assert refused > 0
    assert not filter._replace(window=41).valid(restore(filter.init(1), row, 0)[0])


# -- parameters


@pytest.mark.parametrize("window", [-5, 0, 3])
def test_a_window_that_k_outliers_fill_is_refused(window):
    with pytest.raises(ValueError, match=f"window must exceed k.*window={window}"):
        hf.TopK(3, window=window)


@pytest.mark.parametrize("window", [-5, 0, 1, 2**25 + 1])
def test_a_window_of_no_length_is_refused(window):
    for made in (lambda: hf.TopShare(0.1, window=window), lambda: hf.Quantile(0.1, window=window)):
        with pytest.raises(ValueError, match=f"at least 2.*got {window}"):
            made()


@pytest.mark.parametrize("parameters", [{"patience": 5}, {"patience": -1, "window": 10}])
def test_patience_without_a_window_is_refused(parameters):
    with pytest.raises(ValueError, match="patience is a number of rounds out of a window"):
        hf.TopShare(0.1, **parameters)


def test_newsvendor_ranks_have_no_window():
    with pytest.raises(ValueError, match="they have no window"):
        hf.Quantile(0.9, horizon=100, ranks="newsvendor", window=50)


def test_quantile_with_a_window_has_no_bound():
    with pytest.raises(ValueError, match="no theorem for a Quantile with a window"):
        bounds.ranks(hf.Quantile(0.9, window=50), 100)


def test_quantile_with_a_window_never_restarts_the_learner():
    quantile = hf.Quantile(0.9, window=50)
    _, _, state = filtered(quantile, quantile.init(1), np.ones(3_000))
    assert not quantile.restarts(state)
