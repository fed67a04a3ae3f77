"""The default starts again without its first rounds if they were bad, and not if the others are quiet."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.defaults import recommended, recommended_loss
from holdfast.steady.units import have_changed, measure_units, new_units

SHARE, NEAR, NONE = 0.12, 15.0, -1


def changed(before, after, near=NEAR, target=NONE):
    units = measure_units(new_units(before.shape[1]), before, SHARE)
    return have_changed(units.center, units.factors, after, SHARE, near, target)


def rows(count, columns=4, seed=0):
    return np.random.default_rng(seed).standard_normal((count, columns)) + 2.0


@pytest.mark.parametrize("times", [10.0, 30.0, 1e3, 1e12])
def test_if_all_columns_are_smaller_the_first_rows_were_bad(times):
    assert changed(rows(60) * times, rows(60, seed=1), near=1e3)


@pytest.mark.parametrize("quiet", [1, 2, 3])
@pytest.mark.parametrize("times", [1.0, 0.1, 0.02])
def test_some_columns_may_be_quiet_for_a_while(quiet, times):
    after = rows(60, seed=1)
    after[:, :quiet] = 2.0 + times * (after[:, :quiet] - 2.0)
    assert not changed(rows(60), after, near=100.0)


def test_one_column_that_the_gate_would_refuse_is_enough():
    wrong = rows(60)
    wrong[:, 1] *= 1e3
    assert changed(wrong, rows(60, seed=1), near=100.0)


@pytest.mark.parametrize(("times", "moved"), [(0.1, 0.0), (1.0, 8.0)])
def test_the_target_decides_alone(times, moved):
    after = rows(60, seed=1)
    after[:, 3] = 2.0 + moved + times * (after[:, 3] - 2.0)
    assert changed(rows(60), after, near=100.0, target=3)
    assert not changed(rows(60), after, near=100.0)


def test_far_rows_after_good_ones_are_not_better_ones():
    assert not changed(rows(60), 1e3 * rows(60, seed=1))


def test_columns_that_hardly_vary_are_not_compared():
    after = rows(60, seed=1)
    after[:45] = 2.0
    assert not changed(1e3 * rows(60), after)


@pytest.mark.parametrize("regression", [True, False])
def test_in_a_stream_a_quiet_stretch_keeps_its_units_and_bad_first_rows_lose_theirs(regression):
    X = rows(128)
    X[60:, :2] = 2.0 + 0.15 * (X[60:, :2] - 2.0)
    y = X @ [0.0, 0.0, 1.0, 1.0] - 4.0
    first = np.where(np.arange(128) < 50, 1e4, 1.0)[:, None]
    quiet, bad = (units_after(regression, each, y) for each in (X, X * first))
    assert np.all((quiet >= 0.25) & (quiet <= 2.0))
    assert bad[0] >= 4.0 and 0.25 <= bad[3] <= 2.0


def units_after(regression, X, y):
    """The units of all columns after some rounds."""
    player, loss = recommended(regression), recommended_loss(regression)
    adversary = hf.Replay(X, y if regression else np.sign(y), loss)
    state = hf.play(player, adversary, keep=(), compiled=False).state[0]
    return state.units.factors[: X.shape[1]]
