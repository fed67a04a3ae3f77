"""Level: robust from the first values, follows changes, tells events apart, and gives the same bits."""

import json
import math
import pickle

import numpy as np
import pytest

import holdfast as hf
from holdfast.levels import Event

STREAMS = {
    "normal": lambda rng: rng.normal(50.0, 2.0, 20_000),
    "heavy tails": lambda rng: rng.standard_t(3, 20_000),
    "exponential": lambda rng: rng.exponential(size=20_000),
    "walk": lambda rng: np.cumsum(rng.normal(size=20_000)),
    "counts": lambda rng: rng.poisson(3.0, 20_000).astype(float),
}


def usual(rows=1_000, seed=0):
    return np.random.default_rng(seed).normal(20.0, 1.0, rows)


def events_of(values, **settings):
    level = hf.Level(**settings)
    for value in values:
        level.update(value)
    return list(level.events())


@pytest.mark.parametrize("stream", list(STREAMS))
def test_on_clean_streams_intervals_cover_their_share_and_few_values_are_odd(stream):
    values = STREAMS[stream](np.random.default_rng(1))
    level = hf.Level()
    found = level.update_many(values)
    inside = (found.low <= values) & (values <= found.high)
    assert inside.mean() == pytest.approx(0.9, abs=0.01)
    assert (~found.kept).mean() <= 0.0015
    assert [event.kind for event in level.events() if event.kind != "glitch"] == []


def test_bad_first_values_do_not_make_the_level():
    values = usual(100)
    values[[0, 3, 4, 8, 11]] = 1e9
    level = hf.Level()
    for value in values:
        reading = level.update(value)
    assert reading.level == pytest.approx(20.0, abs=1.0)
    assert 17.0 < reading.low < reading.high < 23.0


def test_one_wild_value_in_ten_does_not_move_it():
    values = usual(5_000)
    wild = np.random.default_rng(2).random(5_000) < 0.1
    values[wild] = 1e6
    found = hf.Level().update_many(values)
    assert not found.kept[wild][10:].any() and found.kept[~wild].mean() > 0.99
    assert abs(found.level[500:] - 20.0).max() < 1.5
    assert found.high[500:].max() < 25.0


def test_a_glitch_a_change_and_a_frozen_stream_are_told_apart_each_once():
    values = usual(3_000)
    values[1_000], values[1_500:1_504] = 99.0, -50.0
    values[2_000:] += 30.0
    values[2_500:2_540] = values[2_499]
    found = events_of(values)
    assert [(event.kind, event.begin, event.end) for event in found] == [
        ("glitch", 1_001, 1_001),
        ("glitch", 1_501, 1_504),
        ("change", 2_001, 2_020),
        ("frozen", 2_500, 0),
        ("frozen", 2_500, 2_540),
    ]
    assert str(found[0]).startswith("glitch in row 1,001: 99 where 1")
    assert "since row 2,001, sure in row 2,020" in str(found[2])


def test_after_a_change_the_level_is_that_of_the_new_values():
    values = usual(1_000)
    values[500:] = 5.0 * values[500:] - 300.0
    reading = None
    level = hf.Level()
    for value in values:
        reading = level.update(value)
    assert reading.level == pytest.approx(-200.0, abs=5.0)
    assert reading.high - reading.low == pytest.approx(2 * 1.645 * 5.0, rel=0.5)


def test_streams_whose_values_repeat_are_not_frozen():
    rng = np.random.default_rng(3)
    rain = np.where(rng.random(20_000) < 0.95, 0.0, rng.integers(1, 5, 20_000))
    assert [event for event in events_of(rain) if event.kind == "frozen"] == []


def test_a_season_makes_intervals_narrow():
    hours = np.arange(24 * 200)
    values = 10.0 * np.sin(2.0 * np.pi * hours / 24.0) + np.random.default_rng(4).normal(size=len(hours))
    with_season, without = hf.Level(season=24).update_many(values), hf.Level().update_many(values)
    widths = [(found.high - found.low)[-500:].mean() for found in (with_season, without)]
    assert widths[0] < 5.0 < widths[1]
    inside = (with_season.low <= values) & (values <= with_season.high)
    assert inside[1_000:].mean() == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("compiled", [False, True])
def test_many_values_one_by_one_and_after_a_pickle_give_the_same_bits(compiled):
    values = np.concatenate([usual(600), [math.nan, math.inf, 1e305], 50.0 + usual(400), [7.0] * 30])
    one, many, first = hf.Level(), hf.Level(), hf.Level()
    readings = [one.update(value) for value in values]
    from holdfast._compiled.compiling import expecting

    with expecting(math.inf if compiled else 0):
        found = many.update_many(values)
    assert found.level.tolist()[20:] == [reading.level for reading in readings][20:]
    assert found.kept.tolist() == [reading.kept for reading in readings]
    assert found.high.tolist()[1:] == [reading.high for reading in readings][:-1]
    events = list(one.events())
    assert list(many.events()) == events and len(events) > 1
    first.update_many(values[:500])
    again = pickle.loads(pickle.dumps(first))
    assert again.update_many(values[500:]).level.tobytes() == found.level[500:].tobytes()


def test_a_value_that_is_not_a_number_changes_nothing():
    level = hf.Level()
    for value in usual(100):
        before = level.update(value)
    for value in (math.nan, math.inf, -math.inf):
        assert level.update(value) == before._replace(kept=False)


def test_events_go_to_a_function():
    told = []
    values = usual(200)
    values[100] = 1e6
    level = hf.Level(on_event=told.append)
    level.update_many(values)
    assert [event.kind for event in told] == ["glitch"] and list(level.events()) == []


def test_an_event_is_a_line_of_json():
    event = Event("glitch", 1, 2, 3.0, -math.inf, 5.0, "pump")
    found = json.loads(event.to_json())
    assert found["low"] is None and found["key"] == "pump" and found["words"] == str(event)


def test_an_empty_list_is_allowed_and_a_table_is_not():
    assert len(hf.Level().update_many([]).level) == 0
    with pytest.raises(ValueError, match="shape"):
        hf.Level().update_many([[1.0]])


@pytest.mark.parametrize("wrong", [{"coverage": 1.0}, {"season": -1}, {"patience": 1}, {"alarms": 0.7}])
def test_wrong_settings_raise_an_error_with_the_value(wrong):
    with pytest.raises(ValueError, match="got"):
        hf.Level(**wrong)
