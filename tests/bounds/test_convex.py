"""Corollary 2, and Theorem 1 with it: against games, and against the forms in the paper."""

import numpy as np
import pytest
from bounds.inputs import budgets, few_gradients, horizons, in_order, positive
from equivalents import inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast import bounds


@settings(max_examples=50, deadline=None)
@given(few_gradients, st.integers(0, 3))
def test_theorem_1_and_corollary_2_hold_for_every_set_of_inliers_in_all_their_forms(gradients, k):
    g, T, D = np.array(gradients), len(gradients), 2.0
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.TopK(k))
    record = hf.play(player, hf.Gradients(g[:, None]), compiled=False)
    sizes, kept = np.abs(g), record.kept
    learner = bounds.ogd_hindsight(D, sizes[kept])
    for inliers in inlier_sets(T, np.full(T, k)):
        regret = record.losses[inliers].sum() + abs(g[inliers].sum())  # against the best u in [-1, 1]
        good = sizes[inliers]
        G, squares = good.max(initial=0.0), float((good**2).sum())
        assert in_order(
            regret,
            bounds.theorem_1_hindsight(learner, D, sizes, kept, inliers),
            bounds.theorem_1_sizes(learner, D, good, k),
            bounds.theorem_1(learner, D, G, k),
            bounds.theorem_1_paper(learner, D, G, k),
        )
        assert in_order(
            regret,
            bounds.corollary_2_hindsight(D, sizes, kept, inliers),
            bounds.corollary_2_sizes(D, good, k),
            bounds.corollary_2_squares(D, G, k, squares),
            bounds.corollary_2_squares_paper(D, G, k, squares),
        )
        assert in_order(regret, bounds.corollary_2(D, G, k, T), bounds.corollary_2_paper(D, G, k, T))


@given(budgets, horizons, positive, positive)
def test_corollary_2_is_below_the_papers(k, T, D, G):
    assert bounds.corollary_2(D, G, k, T) < bounds.corollary_2_paper(D, G, k, T)


@given(st.integers(0, 50), st.integers(50, 200), positive, positive)
def test_corollary_2_is_worst_if_all_inliers_have_one_size(k, inliers, D, G):
    worst = bounds.corollary_2_sizes(D, np.full(inliers, G), k)
    assert worst == pytest.approx(bounds.corollary_2(D, G, k, inliers + k))


@given(budgets, st.floats(0.0, 1e8), positive)
def test_corollary_2_is_below_the_papers_for_any_squares(k, squares, G):
    assert bounds.corollary_2_squares(1.0, G, k, squares) < bounds.corollary_2_squares_paper(
        1.0, G, k, squares
    )


def test_the_step_with_the_root_of_k_is_false():
    """One outlier of size 2 is kept after one inlier of size 1: its square is 4, and k G^2 is 1."""
    record = hf.play(
        hf.Filtered(hf.OGD(hf.domains.Interval(-1, 1)), hf.TopK(1)), hf.Gradients([[1.0], [-2.0]])
    )
    assert record.kept.tolist() == [False, True]
    assert record.size[1] ** 2 == 4.0


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1.0, 1e200])
def test_sums_of_squares_neither_vanish_nor_overflow(size):
    assert bounds.ogd_hindsight(2.0, [size] * 50) == pytest.approx(20.0 * size)
    assert bounds.corollary_2_sizes(2.0, [size] * 50, k=1) == pytest.approx(
        size * bounds.corollary_2_sizes(2.0, [1.0] * 50, k=1)
    )
