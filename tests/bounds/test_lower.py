"""Theorems 6 and 7: any learner on all sequences, and the upper bounds."""

import itertools
import math

from bounds.inputs import horizons, in_order, positive
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import bounds


@given(st.integers(1, 10**6))
def test_theorem_6_is_above_the_papers(k):
    assert bounds.theorem_6_paper(1.0, 1.0, k) <= bounds.theorem_6(1.0, 1.0, k) * (1 + 1e-9)
    assert bounds.theorem_6(1.0, 1.0, k) < k / 2


@given(positive, st.integers(0, 1000), horizons, positive)
def test_no_upper_bound_is_below_a_lower_bound(D, k, T, G):
    assert bounds.theorem_6(D, G, k) <= bounds.corollary_2(D, G, k, T)
    assert bounds.theorem_7(G, 1.0, k) <= bounds.corollary_3(G, 0.0, 1.0, k, T)


def predictions(answers, signs):
    """The predictions of a learner with any answer to any past: the answers are a binary tree."""
    node, w = 0, []
    for sign in signs:
        w.append(answers[node])
        node = 2 * node + (1 if sign < 0 else 2)
    return w


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 2), st.lists(st.floats(-1.0, 1.0), min_size=15, max_size=15), st.booleans())
def test_theorem_6_holds_for_any_learner(k, answers, longest):
    """All 2^m losses and both signs of u, against a learner with any answer to any past. D = 2, G = 1."""
    m = 2 * k - 1 + longest  # 2k - 1 rounds are enough
    total = 0.0
    for xi in itertools.product([-1, 1], repeat=m):
        w = predictions(answers, xi)
        for zeta in (-1, 1):
            wrong = [t for t in range(m) if xi[t] != zeta][:k]
            total += sum(xi[t] * (w[t] + zeta) for t in range(m) if t not in wrong)
    assert total / 2 ** (m + 1) >= bounds.theorem_6(2.0, 1.0, k) - 1e-12


@settings(max_examples=50)
@given(st.lists(st.floats(-1.0, 1.0), min_size=7, max_size=7), st.sampled_from([0.5, 2.0]))
def test_theorem_7_holds_for_any_learner(answers, sigma):
    k, total = 3, 0.0
    for xi in itertools.product([-1, 1], repeat=k):
        w = predictions(answers, xi)
        for zeta in (-1, 1):
            total += sum(sigma / 2 * (w[t] - zeta) ** 2 for t in range(k) if xi[t] == zeta)
    assert total / 2 ** (k + 1) >= bounds.theorem_7(2 * sigma, sigma, k) - 1e-12


@given(st.integers(0, 10**4), horizons)
def test_the_combined_lower_bounds_are_of_the_order_of_both_terms(k, T):
    T = max(T, 2 * k)
    convex, curved = bounds.theorem_6_combined(2.0, 3.0, k, T), bounds.theorem_7_combined(2.0, 3.0, k, T)
    assert in_order(2.0 * 3.0 * (k / 8.0 + math.sqrt(T / 32.0)), convex, bounds.corollary_2(2.0, 3.0, k, T))
    assert in_order(2.0**2 / 3.0 * (k / 32.0 + math.log(T + 2) / 24.0), curved)
    assert curved <= bounds.corollary_3(2.0, 2.0, 3.0, k, T)


@given(st.data(), st.integers(8, 10**6))
def test_the_filter_costs_less_than_specialists_up_to_an_eighth_of_outliers(data, T):
    k = data.draw(st.integers(1, T // 8))
    overhead = bounds.specialists(1.0, 1.0, k, T) * (1.0 + 1e-9)
    assert in_order(4.0 * k, math.sqrt(k * T * math.log(T / k)), overhead)
