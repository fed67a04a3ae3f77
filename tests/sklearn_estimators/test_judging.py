"""Intervals and sets of labels of the estimators: shapes, coverage under attack, and the same bits."""

import pickle

import numpy as np
import pytest

from holdfast.intervals.widths import GRID
from holdfast.sklearn import RobustClassifier, RobustRegressor


def numbers(rows=6_000, seed=0, wrong=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.laplace(size=rows)
    bad = rng.random(rows) < wrong
    return X, np.where(bad, 1e6, y), bad


def labels(classes, rows=4_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 4))
    means = 3.0 * rng.standard_normal((classes, 4))
    y = rng.integers(classes, size=rows)
    return X + means[y] * 0.5, y


def outside(model, X, y, coverage):
    low, high = model.predict_interval(X, coverage).T
    return ((y < low) | (y > high)).mean()


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_intervals_after_fit_cover_new_rows_whatever_the_bad_ones_were(wrong):
    X, y, _ = numbers(wrong=wrong)
    model = RobustRegressor(random_state=0).fit(X, y)
    new = numbers(seed=1)
    for coverage in (0.5, 0.8, 0.9, 0.95):
        assert outside(model, *new[:2], coverage) == pytest.approx(1.0 - coverage, abs=0.05)


def test_interval_after_interval_covers_the_next_batch():
    X, y, bad = numbers(rows=12_000, wrong=0.05)
    model, missed = RobustRegressor().partial_fit(X[:100], y[:100]), []
    for start in range(100, 12_000, 100):
        part = slice(start, start + 100)
        low, high = model.predict_interval(X[part]).T
        missed.append(((y[part] < low) | (y[part] > high))[~bad[part]])
        model.partial_fit(X[part], y[part])
    good = np.concatenate(missed)
    assert good.mean() == pytest.approx(0.1, abs=0.015)
    worst = np.convolve(good, np.ones(1_000), "valid").max() / 1_000
    assert worst < 0.2


def test_several_coverages_have_an_axis_and_do_not_cross():
    X, y, _ = numbers(rows=1_000)
    model = RobustRegressor(random_state=0).fit(X, y)
    assert model.predict_interval(X, 0.9).shape == (1_000, 2)
    ends = model.predict_interval(X, GRID)
    assert ends.shape == (1_000, 2, 5)
    assert (np.diff(ends[:, 1], axis=1) >= 0.0).all() and (np.diff(ends[:, 0], axis=1) <= 0.0).all()
    assert np.array_equal(ends[:, :, 2], model.predict_interval(X))


def test_before_32_rows_an_interval_is_infinite_and_all_labels_may_be_right():
    X, y, _ = numbers(rows=20)
    assert np.isinf(RobustRegressor(n_epochs=1).fit(X, y).predict_interval(X)).all()
    assert RobustClassifier(n_epochs=1).fit(X, y > 0.0).predict_set(X).all()


def test_the_report_counts_the_rows_of_the_first_pass():
    X, y, bad = numbers(rows=3_000, wrong=0.05)
    report = RobustRegressor(random_state=0).fit(X, y).interval_report_[2]
    assert (report.coverage, report.rows) == (0.9, pytest.approx(2_968, abs=20))
    assert report.ignored >= 0.9 * bad.sum()
    least, most = report.missed(k=int(bad.sum()))
    assert least < 0.105 and most > 0.1


def test_the_same_bits_after_a_pickle_and_in_parts():
    X, y, _ = numbers(rows=2_000)
    whole, first = RobustRegressor(delay=1).partial_fit(X, y), RobustRegressor(delay=1)
    first.partial_fit(X[:700], y[:700])
    again = pickle.loads(pickle.dumps(first)).partial_fit(X[700:], y[700:])
    assert np.array_equal(again.predict_interval(X), whole.predict_interval(X))
    assert again.interval_report_ == whole.interval_report_


@pytest.mark.parametrize("classes", [2, 3, pytest.param(22, marks=pytest.mark.slow)])
def test_sets_of_labels_have_the_right_one_as_often_as_stated(classes):
    X, y = labels(classes)
    model = RobustClassifier(random_state=0, n_epochs=2).fit(X, y)
    new, right = labels(classes, seed=0)
    for coverage in (0.8, 0.95):
        found = model.predict_set(new, coverage)
        assert found.shape == (4_000, classes)
        assert found[np.arange(4_000), np.searchsorted(model.classes_, model.predict(new))].all()
        assert found[np.arange(4_000), right].mean() >= coverage - 0.03
    both = model.predict_set(new, [0.8, 0.95])
    assert both.shape == (4_000, classes, 2) and (both[:, :, 0] <= both[:, :, 1]).all()


def test_other_coverages_are_refused():
    X, y, _ = numbers(rows=200)
    with pytest.raises(ValueError, match=r"from 0\.5 to 0\.99"):
        RobustRegressor().fit(X, y).predict_interval(X, 0.999)
