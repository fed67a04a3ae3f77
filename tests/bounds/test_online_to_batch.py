"""The online-to-batch example: its rate and its integrals."""

import math

import numpy as np
import pytest

from holdfast import bounds


@pytest.mark.parametrize("gamma", [0.3, 0.5, 0.9])
def test_the_example_falls_at_the_papers_rate(gamma):
    a, b = bounds.heavy_tails_example(gamma, 10**24), bounds.heavy_tails_example(gamma, 10**26)
    assert math.log(a / b) / math.log(100) == pytest.approx(bounds.heavy_tails_rate(gamma), rel=0.02)


@pytest.mark.parametrize("gamma", [0.3, 0.9])
def test_the_tail_of_a_pareto_is_1_plus_gamma_times_the_papers_integral(gamma):
    p, x = 0.99, np.geomspace(1.0, 1e60, 2_000_001)
    X = bounds.pareto_quantile(gamma, p)
    assert X ** -(1 + gamma) == pytest.approx(1 - p)
    integral = X * np.trapezoid((X * x) ** -(1 + gamma), x)  # of P(|X| > x) from X_p on
    assert bounds.pareto_tail(gamma, p) == pytest.approx((1 + gamma) * integral, rel=1e-6)
