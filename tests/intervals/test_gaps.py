"""Which rows lack a cell that was hardly ever missing, beside counting anew."""

import numpy as np
import pytest

from holdfast.intervals.widths import Gaps


@pytest.mark.parametrize("seed", range(5))
def test_it_counts_as_all_rows_at_once_do_however_they_are_cut(seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((2_000, 4)) < [0.0, 0.005, 0.02, 0.5], np.nan, 1.0)
    gaps = Gaps()
    for part in np.split(X, np.sort(rng.integers(0, 2_000, 3))):
        gaps = gaps.add(part)
    rare = np.isnan(X).mean(axis=0) < 0.01
    assert rare.tolist() == [True, True, False, False]
    assert np.array_equal(gaps.are_new(X), (np.isnan(X) & rare).any(axis=1))


def test_a_column_that_comes_late_was_never_missing():
    gaps = Gaps().add(np.full((10, 1), np.nan)).add(np.ones((10, 2)))
    assert gaps.are_new(np.array([[np.nan, 1.0], [1.0, np.nan]])).tolist() == [False, True]
