"""Lemma 4 and Corollary 5: numbers, simulation, and the forms in the paper."""

import numpy as np
import pytest
from bounds.inputs import horizons, positive
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import bounds


@settings(deadline=None)
@given(st.floats(0.0, 0.5), st.integers(1, 20_000), st.floats(1e-6, 0.999))
def test_corollary_5_and_its_budget_are_below_the_papers(eps, T, delta):
    assert bounds.huber_budget(eps, T, delta) <= bounds.huber_budget_paper(eps, T, delta)
    assert bounds.corollary_5(1.0, 1.0, eps, T, delta) < bounds.corollary_5_paper(1.0, 1.0, eps, T, delta)
    assert bounds.huber_floor(1.0, 1.0, eps) <= bounds.corollary_5(1.0, 1.0, eps, T, delta)


@pytest.mark.parametrize(
    ("eps", "paper", "ours"), [(0.01, 0.698, 0.132), (0.05, 1.178, 0.326), (0.2, 2.978, 1.175)]
)
def test_the_numbers_of_corollary_5(eps, paper, ours):
    assert bounds.corollary_5_paper(1.0, 1.0, eps, 3000, 0.05) == pytest.approx(paper, abs=6e-4)
    assert bounds.corollary_5(1.0, 1.0, eps, 3000, 0.05) == pytest.approx(ours, abs=6e-4)


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3, 0.5])
def test_the_unavoidable_risk_is_what_the_best_answer_to_the_papers_two_cases_has(eps):
    """P is -G with probability eps/(1-eps) in one case and +G in the other; a learner predicts w in both."""
    D, G = 2.0, 3.0
    w = np.linspace(-D / 2, D / 2, 2001)
    chance = eps / (1 - eps)
    excess = np.maximum(chance * G * (D / 2 - w), chance * G * (D / 2 + w))
    assert excess.min() == pytest.approx(bounds.huber_floor(D, G, eps))
    assert eps == 0.5 or excess.min() < D * G * eps  # the lower bound in the paper


@given(st.floats(0.0, 100.0), positive, st.floats(0.0, 0.9), horizons, st.floats(1e-9, 0.99))
def test_lemma_4_has_half_the_papers_deviation(R, B, eps, T, delta):
    mean = bounds.lemma_4_expectation(R, eps, T)
    ours, paper = bounds.lemma_4(R, B, eps, T, delta) - mean, bounds.lemma_4_paper(R, B, eps, T, delta) - mean
    assert paper == pytest.approx(2 * ours, abs=1e-9 * (1 + mean))


def test_a_learner_that_is_right_on_average_deviates_as_lemma_4_allows():
    """Excess losses ±B with mean 0 under contamination: the tightest case of its inequality."""
    rng, T, eps, delta = np.random.default_rng(1), 400, 0.3, 0.05
    excess = rng.choice([-1.0, 1.0], (20_000, T)) * (rng.random((20_000, T)) > eps)
    allowed = bounds.lemma_4(0.0, 1.0, eps, T, delta)
    assert np.mean(excess.sum(axis=1) / ((1 - eps) * T) < -allowed) < delta  # a risk of 0 above the bound
