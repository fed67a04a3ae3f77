"""Units of columns: an order statistic of deviations, beside a slow obvious one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sklearn import RobustRegressor
from holdfast.steady.units import (
    OCTAVES,
    budget,
    count_column,
    count_row,
    end_of,
    factor_of,
    is_off,
    measure_units,
    new_units,
    octave_of,
    octave_of_factor,
    octave_of_rank,
    replaced,
    unit_octave,
)

SHARE = 0.12
VALUES = st.one_of(st.floats(-1e30, 1e30), st.sampled_from([0.0, 1.0, -1.0, 1e-15, 5e-324]))


def slow_unit(values, share):
    """The (k + 1)-th largest deviation from the lower median, or the median of those that are not 0."""
    center = np.sort(values)[(len(values) - 1) // 2]
    deviations = np.sort(np.abs(values - center))[::-1]
    others = deviations[deviations > 0.0]
    for some, k in ((deviations, int(budget(len(deviations), share))), (others, len(others) // 2)):
        if len(some) > k and some[k] > 0.0:
            return 2.0 ** (math.frexp(max(some[k], 2.0**-128))[1] - 1)
    return 0.0


def measured(values, share=SHARE):
    return measure_units(new_units(1), np.asarray(values, np.float64)[:, None], share)


@given(st.lists(VALUES, min_size=1, max_size=60))
def test_the_unit_is_the_order_statistic_rounded_down_to_a_power_of_two(values):
    units = measured(values)
    unit = 1.0 / units.factors[0] if units.factors[0] > 0.0 else 0.0
    assert unit == slow_unit(np.array(values), SHARE)


DIFFERENT = st.lists(st.floats(-100.0, 100.0, width=16), min_size=40, max_size=80, unique=True)


@given(DIFFERENT, st.integers(0, 5), st.floats(1e3, 1e30))
def test_values_within_the_budget_cannot_make_it_larger_than_good_ones_do(good, wrong, size):
    """Lemma A1. The center may move, too: to a good value, as long as most are good."""
    values = np.array([*good, *([size] * wrong)])
    units = measured(values)
    assert units.center[0] in good
    assert 1.0 / units.factors[0] <= max(abs(np.array(good) - units.center[0]))


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_the_one_of_a_rare_column_is_one_unit_from_its_zero(share):
    column = (np.random.default_rng(0).random(2_000) < share).astype(float)
    units = measured(column)
    assert (units.center[0], units.factors[0]) == (0.0, 1.0)


@pytest.mark.parametrize("noise", [0.0, 1e-15, 1e-9, 1e-3])
def test_values_that_are_nearly_equal_do_not_become_the_unit(noise):
    rng = np.random.default_rng(1)
    column = np.where(
        rng.random(2_000) < 0.6, noise * rng.standard_normal(2_000), rng.normal(5.0, 3.0, 2_000)
    )
    assert 1.0 / 16.0 < measured(column).factors[0] < 1.0


def test_a_sensor_that_is_stuck_keeps_its_unit():
    rng = np.random.default_rng(2)
    units = measured(rng.normal(20.0, 3.0, 200))
    before = units.factors[0]
    due = False
    for t in range(5_000):
        due = count_row(units, np.array([21.0]), 1, SHARE, 200.0 + t) or due
    assert not due
    assert units.factors[0] == before


def test_what_no_float_can_square_has_a_place():
    assert octave_of(0.0) == 0
    assert octave_of(5e-324) == 1
    assert octave_of(1.7e308) == OCTAVES - 1
    for octave in range(1, OCTAVES):
        assert octave_of_factor(factor_of(octave)) == octave


def test_a_deviation_is_counted_in_its_octave():
    values = np.array([0.0, -0.0, 5e-324, 2.0**-129, 2.0**-128, 0.3, -1.0, 7.0, 2.0**126, -1e300])
    units = new_units(len(values))
    units.factors[:] = 1.0
    assert not count_row(units, values.copy(), len(values), SHARE, 1_000.0)
    octaves = units.counts.argmax(axis=1).tolist()
    assert units.counts.sum() == len(values) and octaves == [octave_of(value) for value in values]


def test_a_column_that_begins_to_vary_is_due_unless_it_is_stuck():
    units = new_units(2)
    units.factors[0] = 1.0
    assert not count_row(units, np.array([3.0, 0.0]), 2, SHARE, 1_000.0)
    assert count_row(units, np.array([3.0, 2.0]), 2, SHARE, 1_000.0)
    units.repeats[1] = 1_000.0
    assert not count_row(units, np.array([3.0, 2.0]), 2, SHARE, 1_000.0)


def test_missing_cells_do_not_count():
    counts = np.zeros(OCTAVES)
    center, seen = count_column(np.array([1.0, math.nan, 3.0, math.inf, 2.0]), counts)
    assert (center, seen, counts.sum()) == (2.0, 3.0, 3.0)
    center, seen = count_column(np.full(4, math.nan), counts)
    assert (center, seen) == (0.0, 0.0)
    assert unit_octave(counts, seen, SHARE) == 0


def test_a_column_whose_first_value_was_wild_is_learned():
    rng = np.random.default_rng(0)
    flag = (rng.random(3_000) < 0.05) * 1.0
    flag[:300] = 0.0
    X = np.column_stack([rng.standard_normal(3_000), flag])
    y = X @ [1.0, 5.0] + 0.1 * rng.standard_normal(3_000)
    X[300, 1] = 1e5
    model = RobustRegressor(delay=1).partial_fit(X, y)
    assert abs(model.coef_[1] - 5.0) < 0.2


@pytest.mark.parametrize("place", [1, 15, 16, 17, 130, 255])
def test_an_octave_of_a_rank_is_found_wherever_the_last_count_is(place):
    counts = np.zeros(OCTAVES)
    counts[[0, place]] = 5.0, 0.25
    assert place < end_of(counts) <= max(place + 16, 16)
    assert octave_of_rank(counts, 0.0) == place and octave_of_rank(counts, 0.25) == 0


def test_a_value_that_is_stuck_is_counted_a_hundred_times_more_and_the_mean_stays():
    units = measured(np.arange(64.0))
    for t in range(300):
        count_row(units, np.array([40.0]), 1, SHARE, float(t))
    assert units.seen[0] == 64.0 + 101.0 and units.repeats[0] == 299.0
    assert units.counts[0].sum() == units.seen[0]
    before = units.means.copy()
    count_row(units, np.array([40.0]), 1, SHARE, 300.0)
    assert units.means == before


def test_a_unit_that_wrong_rows_made_wide_is_left_with_the_center_of_the_good_ones():
    rng = np.random.default_rng(0)
    good = 1000.0 + 5.0 * rng.standard_normal(2_000)
    units = measured(np.concatenate([good[:60], np.full(30, 1e5)]))
    assert units.factors[0] < 1e-4
    followed = np.concatenate([np.full(30, 1e5), good[60:]])  # these move the mean by thousands
    for t, value in enumerate(followed):
        if count_row(units, np.array([value - 0.0]), 1, SHARE, float(t)) and is_off(units, 0, SHARE):
            replaced(units, 0, SHARE)
        assert abs(float(units.center[0]) - 1000.0) * float(units.factors[0]) < 15.0
