"""Widths: scores in parts, files, reports, and coverages between those that are tracked."""

import math
import pickle

import numpy as np
import pytest

from holdfast.intervals import IntervalReport, Widths
from holdfast.intervals.widths import GRID, LABELS, NUMBERS, interpolated, label_scores

SCORES = np.random.default_rng(0).exponential(size=2_000)


def widths_after(*parts):
    widths = Widths(NUMBERS)
    for part in parts:
        widths.add(part)
    return widths


def bits(widths):
    return widths.numbers().tobytes()


def test_scores_in_parts_give_the_same_bits():
    whole, parts = widths_after(SCORES), Widths(NUMBERS)
    for start, stop in ((0, 5), (5, 6), (6, 900), (900, 2_000)):
        parts.add(SCORES[start:stop])
        parts.at(0.9)
    assert bits(parts) == bits(whole)


@pytest.mark.parametrize("tracker", [NUMBERS, LABELS], ids=["numbers", "labels"])
def test_it_goes_on_after_a_pickle_and_from_numbers_with_the_same_bits(tracker):
    whole, first = Widths(tracker), Widths(tracker)
    whole.add(SCORES)
    first.add(SCORES[:777])
    stored = Widths(tracker)
    stored.load(first.numbers())
    for again in (pickle.loads(pickle.dumps(first)), stored):
        again.add(SCORES[777:])
        assert bits(again) == bits(whole)


def test_a_pickle_is_small():
    assert len(pickle.dumps(widths_after(SCORES))) < 30_000


def test_numbers_that_are_not_a_state_are_refused():
    numbers = widths_after(SCORES).numbers()
    for wrong in (
        numbers[:-1],
        np.zeros(0),
        np.append(numbers, 1.0),
        np.where(numbers == numbers[2], -1.0, numbers),
    ):
        with pytest.raises(ValueError, match="widths of intervals"):
            Widths(NUMBERS).load(wrong)


def test_coverages_between_are_between():
    widths = widths_after(SCORES)
    found = [widths.at(coverage) for coverage in np.linspace(0.5, 0.99, 50).tolist()]
    assert found == sorted(found)
    assert [widths.at(coverage) for coverage in GRID] == [each.width for each in widths.report()]


def test_interpolation_is_exact_if_the_logarithm_of_the_width_is_linear():
    tails = np.log([0.5, 0.2, 0.1])
    between = interpolated(0.85, [0.5, 0.8, 0.9], np.exp(-2.0 * tails))
    assert between == pytest.approx(0.15**-2)


@pytest.mark.parametrize("coverage", [0.0, 0.4, 0.999, 1.0, math.nan])
def test_other_coverages_raise_an_error(coverage):
    with pytest.raises(ValueError, match=r"from 0\.5 to 0\.99"):
        widths_after(SCORES).at(coverage)


def test_before_the_first_forecast_errors_do_not_count():
    """A model that knows nothing says 0; it is no forecast unless it is right."""
    targets = 1_000.0 + SCORES
    forecasts = np.where(np.arange(2_000) < 40, 0.0, 1_000.0)
    late = Widths(NUMBERS)
    late.add_forecasts(forecasts[:20], targets[:20])
    late.add_forecasts(forecasts[20:], targets[20:])
    alone = Widths(NUMBERS)
    alone.add_forecasts(forecasts[40:], targets[40:])
    assert [each[:2] for each in late.report()] == [each[:2] for each in alone.report()]


def test_the_report_counts_rows_and_misses():
    report = widths_after(SCORES).report()[2]
    assert report.coverage == 0.9
    assert report.rows == 2_000 - 32
    assert 0.09 < report.misses / report.rows < 0.11
    assert "of 1,968 targets were outside" in str(report)


def test_the_report_of_labels_is_about_sets():
    widths = Widths(LABELS)
    widths.add(label_scores(np.random.default_rng(0).normal(2.0, 1.0, 2_000)))
    assert str(widths.report()[2]).startswith("sets of labels for 90%: ")
    assert "±" not in str(widths.report()[2])


def test_what_k_bad_rows_can_have_changed():
    report = IntervalReport(0.9, 1.0, rows=100, misses=10, ignored=0)
    assert report.missed() == (0.1, 0.1)
    assert report.missed(10) == (0.0, 10 / 90)
    assert report.missed(100) == (0.0, 1.0)


def test_scores_of_labels_are_finite_for_all_margins():
    assert np.isfinite(label_scores(np.array([-1e9, 0.0, 1e9, -math.inf]))).all()
