"""Corollary 3: against games, and against the form in the paper."""

import math

import numpy as np
from bounds.inputs import budgets, horizons, in_order, positive
from equivalents import inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast import bounds
from holdfast.rounds import Round


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([-40.0, -1.0, -0.3, 0.0, 0.2, 1.0, 40.0]), min_size=1, max_size=9),
    st.integers(0, 3),
    st.sampled_from([0.5, 2.0]),
)
def test_corollary_3_holds_for_every_set_of_inliers_in_all_its_forms(targets, k, sigma):
    """On f_t(w) = sigma/2 (w - y_t)^2 over [-1, 1], against the best u of a grid."""
    y, T = np.array(targets), len(targets)
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0), hf.StronglyConvex(sigma)), hf.TopK(k))
    state, w, kept = player.init(1), np.zeros(T), np.zeros(T, bool)
    for t in range(T):
        w[t] = player.predict(state)[0]
        state, decision = player.observe(state, Round(sigma * (w[t] - y[t]), np.ones(1)))
        kept[t] = decision.kept
    sizes = sigma * np.abs(w - y)
    for inliers in inlier_sets(T, np.full(T, k)):
        G = sizes[inliers].max(initial=0.0)
        for u in np.linspace(-1.0, 1.0, 9):
            regret = sigma / 2 * np.sum((w - y)[inliers] ** 2 - (u - y)[inliers] ** 2)
            at_u = sigma * np.abs(u - y)
            b = at_u[sizes <= 2 * G].max(initial=0.0)
            assert in_order(
                regret,
                bounds.corollary_3_hindsight(sigma, sizes, kept, inliers, at_u),
                bounds.corollary_3(G, b, sigma, k, T),
                bounds.corollary_3_paper(G, b, sigma, k, T),
            )


@given(budgets, horizons, positive, positive, positive)
def test_corollary_3_is_below_the_papers(k, T, G, b, sigma):
    assert bounds.corollary_3(G, b, sigma, k, T) < bounds.corollary_3_paper(G, b, sigma, k, T)


@given(st.integers(1, 500), st.integers(3, 10**6), st.floats(0.0, 5.0))
def test_a_logarithm_of_outliers_is_free_if_the_gradients_at_u_are_of_the_same_order(few, T, constant):
    """Corollary 3 with k = few ln T: a constant times the bound without outliers, if b = constant G."""
    k = math.floor(few * math.log(T))
    with_outliers, without = (bounds.corollary_3(2.0, 2.0 * constant, 0.5, k, T) for k in (k, 0))
    assert with_outliers <= (1.0 + few * (1.0 / 3.0 + constant**2 / 4.0)) * without
    assert few * math.log(T) < 2 or bounds.corollary_3(2.0, 1e6, 0.5, k, T) > 1e9 * k  # not so for large b
