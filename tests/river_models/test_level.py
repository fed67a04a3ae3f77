"""LevelScorer: River's own checks, the readings of `Level`, and its use in a filter of River."""

import math
import pickle

import numpy as np
import pytest
from river import anomaly, checks

import holdfast as hf
from holdfast.levels import Events
from holdfast.river import LevelScorer


def values(rows=600):
    found = np.random.default_rng(0).normal(20.0, 1.0, rows)
    found[300] = 99.0
    return found


def test_rivers_checks():
    checks.check_estimator(LevelScorer())


@pytest.mark.parametrize("season", [0, 7])
def test_it_is_level(season):
    scorer, level, events = LevelScorer(season=season, on_event=Events()), hf.Level(season=season), []
    for value in values():
        score = scorer.score_one({}, value)
        scorer.learn_one({}, value)
        reading = level.update(value)
        assert scorer.reading == reading and (score > 1.0) == (not reading.kept)
        events += level.events()
    assert scorer.predict_interval_one() == (reading.low, reading.high)
    assert list(scorer.on_event) == events != []


def test_what_is_no_number_has_no_score_and_changes_nothing():
    scorer = LevelScorer()
    for value in values():
        scorer.learn_one({}, value)
    before = scorer.reading
    for value in (None, "text", math.nan, math.inf):
        assert scorer.score_one({}, value) == math.inf
        scorer.learn_one({}, value)
    assert scorer.reading == before._replace(kept=False)
    assert pickle.loads(pickle.dumps(scorer)).reading[:2] == before[:2]


def test_a_filter_of_river_keeps_odd_targets_from_a_model():
    kept = anomaly.ThresholdFilter(LevelScorer(), threshold=1.0)
    odd = []
    for t, value in enumerate(values()):
        if kept.classify(kept.score_one({}, value)):
            odd.append(t)
        kept.learn_one({}, value)
    assert odd == [300]
