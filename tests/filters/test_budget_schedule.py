"""The binomial quantile against scipy's, and the steps in which a budget grows."""

import math

import numpy as np
import pytest
from equivalents import share_budget
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from holdfast._compiled import call
from holdfast.filters.binomial import mass_at, smallest, tail_over_mass
from holdfast.filters.budget_schedule import BudgetSchedule, end_of_step, last_of_step

counts = st.floats(0.0, 8.0).map(lambda power: int(10.0**power))
shares = st.floats(-7.0, -0.001).map(lambda power: 10.0**power)


@settings(max_examples=200)
@given(counts, shares, st.floats(0.0, 20.0))
def test_a_tail_above_the_mean_is_scipys(n, share, far):
    k = min(n - 1, int(n * share + far * math.sqrt(n * share * (1.0 - share))))
    k = max(k, int(share * n))
    mass, tail = binom.pmf(k, n, share), binom.sf(k, n, share)
    if tail > 1e-290:
        assert mass_at(n, k, share, 1.0 - share) == pytest.approx(mass, rel=1e-9)
        assert mass_at(n, k, share, 1.0 - share) * tail_over_mass(n, k, share) == pytest.approx(
            tail, rel=1e-9
        )


@settings(max_examples=100)
@given(counts, shares, st.floats(-30.0, -0.31).map(lambda power: 10.0**power))
def test_the_smallest_k_is_scipys_but_for_ties(n, share, level):
    k, expected = smallest(n, share, 1.0 - share, level), share_budget(n, share, level)
    if k != expected:  # only where the tail ties with the level
        assert binom.sf(min(k, expected), n, share) == pytest.approx(level, rel=1e-8)


def test_a_level_far_below_what_a_difference_of_tails_can_tell_is_met():
    """From a tail of 1/2 down to 1e-15 by subtracting, only noise is left, and k ran on to n."""
    k = smallest(10**6, 0.1, 0.9, 1e-15)
    assert binom.sf(k, 10**6, 0.1) <= 1e-15 < binom.sf(k - 1, 10**6, 0.1)


@pytest.mark.parametrize("share", [1e-300, 1e-18, 1.0 - 2.0**-53])
def test_shares_may_be_next_to_0_and_1(share):
    for n in (1, 5, 1000):
        assert smallest(n, share, 1.0 - share, 1e-9) == (0 if share < 0.5 and n * share < 1e-9 else n)


@pytest.mark.parametrize("share", [1e-4, 0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.5])
def test_the_budget_is_the_quantile_of_each_round_and_later_of_the_end_of_its_step(share, delta):
    schedule, level = BudgetSchedule.at_start(), 6.0 * delta / math.pi**2
    budgets = [schedule.at(n, share, level) for n in range(1, 30_001)]
    assert (np.diff(budgets) >= 0).all()
    for n in (*range(1, 200), 511, 512, 513, *range(200, 30_001, 997)):
        end = end_of_step(n, share)
        assert end == n if n < 512 else n <= end < n * 33 / 32 + 1
        k, expected = budgets[n - 1], share_budget(end, share, level / end**2)
        if k != expected:
            assert binom.sf(min(k, expected), end, share) == pytest.approx(level / end**2, rel=1e-8)


@pytest.mark.parametrize("share", [0.001, 0.1, 0.9])
def test_a_step_raises_the_budget_by_half_a_standard_deviation_at_most(share):
    for n in (512, 5_000, 10**6, 10**9, 10**12):
        assert share * (last_of_step(n, share) - n) <= 0.5 * math.sqrt(share * n)
        assert last_of_step(n, share) > n + 10


def weighted_sum(schedule, rounds, share, level):
    """In either world."""
    total = 0
    for n in range(1, rounds + 1):
        total += n * schedule.at(n, share, level)
    return total


def test_compiled_budgets_are_the_same():
    args = (20_000, 0.03, 1e-4)
    assert call(weighted_sum, BudgetSchedule.at_start(), *args) == weighted_sum(
        BudgetSchedule.at_start(), *args
    )


def test_a_cleared_schedule_begins_again():
    schedule = BudgetSchedule.at_start()
    first = weighted_sum(schedule, 2_000, 0.05, 1e-3)
    schedule.store(7.0)
    assert schedule.surely_kept(2_000, 7.0)
    assert not schedule.surely_kept(2_000, 7.1) and not schedule.surely_kept(10_000, 1.0)
    again = schedule.cleared()
    assert not again.surely_kept(1, 0.0)
    assert weighted_sum(again, 2_000, 0.05, 1e-3) == first
