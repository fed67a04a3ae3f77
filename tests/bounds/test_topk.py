"""Theorems 1 and G: slack, budgets, and the error of the histogram."""

import math

import numpy as np
import pytest
from bounds.inputs import ROUNDING, UNIT, horizons, positive
from equivalents import share_budget
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast import bounds


@given(positive, horizons, positive, st.integers(1, 10_000), st.floats(1.001, 10.0))
def test_no_slack_is_better_than_the_best(beta, T, D, k, slack):
    def total(c):
        return bounds.theorem_1(beta * c * math.sqrt(T), D, 1.0, k, c)

    best = bounds.best_slack(beta, T, D, k)
    assert 1.0 < best <= 2.0
    assert total(best) == pytest.approx(bounds.theorem_1_at_best_slack(beta, T, D, 1.0, k))
    assert total(best) <= total(slack) * ROUNDING


def test_without_a_learners_bound_the_papers_slack_is_the_best():
    assert bounds.best_slack(0.0, 100, 1.0, 5) == 2.0
    assert min(
        np.linspace(1.01, 5, 400), key=lambda c: bounds.theorem_1(**UNIT, k=1, slack=c)
    ) == pytest.approx(2)


def test_with_k_0_there_is_no_overhead():
    assert bounds.theorem_1(3.0, 1.0, 1.0, k=0) == bounds.theorem_1_sizes(3.0, 1.0, [1.0, 2.0], k=0) == 3.0
    assert bounds.huber_budget(0.0, 100, 0.1) == 0


def test_the_histogram_costs_top_share_a_64th_of_a_round_an_outlier():
    assert bounds.theorem_g(**UNIT, k=1000) == pytest.approx(4016, abs=1)
    assert bounds.theorem_g(**UNIT, k=1000, error=0.0) == bounds.theorem_1(**UNIT, k=1000)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("T", [1, 10, 5000])
def test_budgets_are_binomial_quantiles_and_those_that_the_filter_uses(share, T):
    delta = 1e-3
    assert bounds.huber_budget(share, T, delta) == share_budget(T, share, delta / 2)
    topshare = hf.TopShare(share, delta)
    state = topshare.init(1)
    for _ in range(T):
        state, _, _ = topshare.decide(state, 1.0)
    assert bounds.topshare_budget(share, T, delta) == state.budget.at(T, share, delta)
