"""Tracker: first widths, floors, and the same bits everywhere."""

import math
import pickle

import numpy as np
import pytest
from laws import same
from samples import STREAMS

import holdfast as hf
from holdfast._compiled import call
from holdfast.intervals.tracker import FIRST, HELD, IGNORED, MISSED, Tracker
from holdfast.intervals.widths import LABELS, NUMBERS, follow_each

TRACKERS = (NUMBERS, LABELS, Tracker(0.9, filter=hf.TopK(3)))


def after(tracker, scores):
    return follow_each(tracker.begin(), tracker, np.asarray(scores, np.float64))


@pytest.mark.parametrize("stream", list(STREAMS))
@pytest.mark.parametrize("tracker", TRACKERS, ids=["numbers", "labels", "topk"])
def test_python_and_compiled_trackers_agree_bit_for_bit(tracker, stream):
    compiled = call(follow_each, tracker.begin(), tracker, STREAMS[stream])
    assert same(after(tracker, STREAMS[stream])[1:], compiled[1:])


@pytest.mark.parametrize("score", [math.nan, math.inf, -1.0, 1e305])
def test_a_score_that_is_not_readable_changes_nothing(score):
    state = after(NUMBERS, STREAMS["steady"])
    before = pickle.dumps(state)
    assert pickle.dumps(NUMBERS.follow(state, score)) == before


def test_there_is_no_width_before_32_scores():
    scores = np.random.default_rng(0).exponential(size=FIRST)
    assert NUMBERS.widths(after(NUMBERS, scores[:-1])).tolist() == [math.inf] * 5
    assert (NUMBERS.widths(after(NUMBERS, scores)) < 10.0).all()


def test_bad_first_scores_do_not_make_the_first_width():
    """5 of the first 32 are wrong: most of the filter's budget."""
    scores = np.random.default_rng(1).exponential(size=FIRST)
    scores[3::7] = 1e6
    assert (NUMBERS.widths(after(NUMBERS, scores)) < 10.0).all()


def test_first_widths_follow_forecasts_that_get_better():
    """The errors fall to a hundredth in 256 rounds; the width is soon right, from the last half of them."""
    rng = np.random.default_rng(2)
    scores = abs(rng.standard_normal(700)) * np.maximum(0.01, 10.0 ** (-np.arange(700.0) / 128.0))
    width = float(Tracker(0.9).widths(after(Tracker(0.9), scores))[0])
    assert 0.012 < width < 0.023


def test_after_a_quiet_time_the_width_is_soon_large_enough():
    """900 rounds of almost no error: with steps of 0.05 a floor holds the width up."""
    rng = np.random.default_rng(3)
    scores = rng.exponential(size=6_000)
    scores[2_000:2_900] *= 1e-9
    tracker = Tracker(0.9, step=0.05)
    quiet = after(tracker, scores[:2_900])
    assert quiet.counts[0, HELD] > 0.0
    misses = (
        follow_each(quiet, tracker, scores[2_900:]).counts[0, MISSED]
        - after(tracker, scores[:2_900]).counts[0, MISSED]
    )
    assert misses / 3_100 < 0.15


def test_a_burst_of_wild_scores_moves_nothing():
    scores = np.random.default_rng(4).exponential(size=3_000)
    bad = scores.copy()
    bad[2_000:2_100] = 1e9
    clean, burst = after(NUMBERS, np.delete(scores, slice(2_000, 2_100))), after(NUMBERS, bad)
    assert burst.counts[:, IGNORED].tolist() == [100.0] * 5
    assert np.abs(np.log(burst.widths / clean.widths)).max() < 0.05


def test_widths_follow_a_change_of_scale():
    """3 times as large: near. 100 times as large: after about as many rounds as the filter's budget."""
    rng = np.random.default_rng(5)
    for factor, lost in ((3.0, 60), (100.0, 700)):
        scores = rng.exponential(size=6_000)
        scores[3_000:] *= factor
        tracker = Tracker(0.9)
        state = after(tracker, scores[: 3_000 + lost])
        missed = state.counts[0, MISSED]
        rest = follow_each(state, tracker, scores[3_000 + lost :])
        assert (rest.counts[0, MISSED] - missed) / (3_000 - lost) < 0.13


@pytest.mark.parametrize(
    "wrong", [{"coverage": 1.0}, {"coverage": [0.9, 0.5]}, {"coverage": []}, {"step": 0.0}, {"least": -1.0}]
)
def test_wrong_parameters_raise_an_error_with_the_value(wrong):
    with pytest.raises(ValueError, match="got"):
        Tracker(**wrong)


def test_states_of_damaged_files_are_refused():
    for place, value in ((0, -1.0), (1, 1e9), (2, 600.0)):
        state = after(NUMBERS, STREAMS["steady"])
        state.numbers[place] = value
        assert not NUMBERS.valid(state)
    state = after(NUMBERS, STREAMS["steady"])
    assert NUMBERS.valid(state)
    state.widths[0] = math.nan
    assert not NUMBERS.valid(state)
