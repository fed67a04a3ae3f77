"""Intervals and sets of labels one row at a time."""

import math
import pickle

import numpy as np
import pytest

from holdfast.river import RobustClassifier, RobustRegressor

RNG = np.random.default_rng(0)
ROWS = [dict(zip("ab", row, strict=True)) for row in RNG.standard_normal((900, 2)).tolist()]
Y = [3.0 * x["a"] - x["b"] + noise for x, noise in zip(ROWS, RNG.laplace(size=900).tolist(), strict=True)]


def test_intervals_cover_their_share_of_the_good_rows_and_go_on_after_a_pickle():
    model, missed = RobustRegressor(), []
    assert model.predict_interval_one(ROWS[0]) == (-math.inf, math.inf)
    for i, (x, y) in enumerate(zip(ROWS, Y, strict=True)):
        low, high = model.predict_interval_one(x, 0.8)
        bad = i % 20 == 19
        if not bad and i >= 100:
            missed.append(not low <= y <= high)
        model.learn_one(x, 1e6 if bad else y)
        if i == 500:
            model = pickle.loads(pickle.dumps(model))
    assert np.mean(missed) == pytest.approx(0.2, abs=0.05)
    report = model.interval_report[1]
    assert report.coverage == 0.8 and 0 < report.ignored <= report.misses < report.rows < 900


@pytest.mark.parametrize("labels", [["no", "yes"], ["x", "y", "z"]])
def test_sets_have_the_right_label_as_often_as_stated(labels):
    model, right = RobustClassifier(), []
    assert model.predict_set_one(ROWS[0]) == set()
    cuts = [0.0] if len(labels) == 2 else [-0.5, 0.5]
    for i, (x, z) in enumerate(zip(ROWS[:500], Y[:500], strict=True)):
        y = labels[int(np.searchsorted(cuts, z))]
        found = model.predict_set_one(x, 0.9)
        assert found <= set(labels)
        if i >= 100:
            right.append(y in found)
            assert model.predict_one(x) in found
        model.learn_one(x, y)
    assert np.mean(right) >= 0.85
    assert model.interval_report[2].rows > 400
