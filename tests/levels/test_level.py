"""Level: robust from the first values, follows changes, tells events apart, and gives the same bits."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

import holdfast as hf
from holdfast.levels import Event, Events

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


@pytest.mark.parametrize("alarms", [0.001, 0.01, 0.05])
def test_where_most_values_are_zero_intervals_cover_their_share_and_few_values_are_odd(alarms):
    """Rain, or sales: 80 % zeros. Zeros must not make the spread so small that all others are far."""
    rng = np.random.default_rng(8)
    values = np.where(rng.random(20_000) < 0.8, 0.0, rng.exponential(size=20_000))
    found = hf.Level(alarms=alarms).update_many(values)
    inside = (found.low <= values) & (values <= found.high)
    assert inside[500:].mean() == pytest.approx(0.9, abs=0.01)
    assert (~found.kept)[2_000:].mean() <= alarms


def test_where_all_first_values_are_equal_the_others_are_odd_until_they_are_known():
    """Sales of a slow item: after 20 that are told, they are usual."""
    rng = np.random.default_rng(3)
    values = np.where(rng.random(20_000) < 0.95, 0.0, rng.exponential(size=20_000))
    values[:16] = 0.0
    found = hf.Level().update_many(values)
    odd, others = ~found.kept, values > 0.0
    assert odd[others][:20].all() and not odd[~others].any()
    assert odd[others][20:].mean() < 0.06 and odd[5_000:].mean() < 0.001
    inside = (found.low <= values) & (values <= found.high)
    assert inside[500:].mean() > 0.89


def test_a_stream_that_stands_still_between_steps_is_not_told_at_each_of_them():
    """24 equal values, then the next ones: the sine of the day of the year, for each hour."""
    values = np.repeat(np.sin(np.arange(400) / 58.0), 24)
    found = events_of(values)
    assert 1 <= len(found) <= 3


def test_the_limit_falls_to_the_farthest_values_of_late():
    """A limit of 8 times the first spread would fall by 5 % in 1,000 values."""
    values = np.concatenate([10.0 * usual(1_000), usual(4_000)])
    level = hf.Level()
    level.update_many(values)
    list(level.events())
    assert not level.update(29.0).kept and level.update(20.0).kept


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


def weeks(rows):
    """Half hours of days, of which two in seven are others."""
    t = np.arange(rows)
    day = 10.0 * np.sin(2.0 * np.pi * t / 48.0)
    return np.where(t // 48 % 7 > 4, 0.5, 1.0) * day + np.random.default_rng(4).normal(size=rows)


def test_a_long_season_is_known_after_a_few_of_them():
    values = weeks(336 * 12)
    found = hf.Level(season=336).update_many(values)
    assert (found.high - found.low)[336 * 5 :].mean() < 4.8  # 3.3 is that of the noise
    inside = (found.low <= values) & (values <= found.high)
    assert inside[336 * 5 :].mean() == pytest.approx(0.9, abs=0.02)


def test_a_value_that_is_usual_at_noon_is_odd_at_midnight():
    values = weeks(336 * 12)
    values[336 * 10] += 12.0
    (event,) = events_of(values, season=336)
    assert (event.kind, event.begin, event.end) == ("glitch", 336 * 10 + 1, 336 * 10 + 1)


def test_lost_values_do_not_move_the_season():
    values = weeks(336 * 8)
    values[1_000:1_024] = math.nan
    found = hf.Level(season=336).update_many(values)
    assert (found.high - found.low)[336 * 6 :].mean() < 5.2


def test_one_wild_value_in_ten_does_not_hide_a_season():
    values = weeks(336 * 12)
    wild = np.random.default_rng(2).random(len(values)) < 0.1
    values[wild] = 1e6
    found = hf.Level(season=336).update_many(values)
    assert not found.kept[wild][10:].any() and found.kept[~wild].mean() > 0.99
    assert (found.high - found.low)[336 * 6 :].mean() < 5.2


@pytest.mark.parametrize("season", [0, 7])
@pytest.mark.parametrize("compiled", [False, True])
def test_many_values_one_by_one_and_after_a_pickle_give_the_same_bits(compiled, season):
    values = np.concatenate([usual(600), [math.nan, math.inf, 1e305], 50.0 + usual(1_600), [7.0] * 30])
    one, many, first = (hf.Level(season=season) for _ in range(3))
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


@pytest.mark.parametrize("start", [0, 24])
def test_streams_that_stand_still_have_the_same_bits_compiled(start):
    from holdfast._compiled.compiling import expecting

    rng, found = np.random.default_rng(6), []
    values = np.where(rng.random(3_000) < 0.9, 0.0, rng.exponential(size=3_000))
    values[:start] = 0.0
    for most in (0, math.inf):
        with expecting(most):
            found.append(np.column_stack(hf.Level().update_many(values)).tobytes())
    assert found[0] == found[1]


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


def test_the_same_odd_value_again_and_again_is_frozen_and_no_change():
    values = usual(3_000)
    for begin in (1_000, 1_200, 1_400, 1_600):  # the last ones are not twice as long as those before
        values[begin : begin + 30] = -200.0
    values[2_000:2_005] = -200.0
    found = events_of(values)
    assert [(event.kind, event.begin, event.end) for event in found] == [
        (kind, begin, end)
        for begin in (1_001, 1_201, 1_401, 1_601)
        for kind, end in (("frozen", 0), ("frozen", begin + 29))
    ] + [("glitch", 2_001, 2_005)]


def test_a_new_setpoint_of_a_stream_that_stands_still_is_a_change():
    rng = np.random.default_rng(6)
    values = np.repeat(rng.integers(18, 23, 100), 30).astype(float)
    values[2_000:] = np.repeat(rng.integers(48, 53, 100), 30)[: len(values) - 2_000]
    assert ("change", 2_001) in [(event.kind, event.begin) for event in events_of(values)]


@pytest.mark.parametrize("pieces", [1, 4, 50])
def test_events_have_the_numbers_of_rows_that_were_given(pieces):
    values = usual(1_000)
    values[500], values[700:740] = 99.0, values[699]
    values[720] = math.nan  # which is in no run
    rows = 10 * np.arange(1_000) + 7
    events = Events()
    level = hf.Level(on_event=events, key="pump")
    for some in np.array_split(np.arange(1_000), pieces):
        level.update_many(values[some], rows[some])
    assert [(event.kind, event.begin, event.end, event.key) for event in events] == [
        ("glitch", 5_007, 5_007, "pump"),
        ("frozen", 6_997, 0, "pump"),
        ("frozen", 6_997, 7_397, "pump"),
    ]


@pytest.mark.parametrize("stop", [0, 10, 505, 715, 900])
def test_a_state_goes_through_json_also_while_something_is_open(stop):
    values = usual(1_000)
    values[500:510], values[700:740] = 99.0, values[699]
    whole, first, second = hf.Level(season=5), hf.Level(season=5), hf.Level(season=5)
    expected = whole.update_many(values)
    first.update_many(values[:stop])
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert second.update_many(values[stop:]).level.tobytes() == expected.level[stop:].tobytes()
    assert list(first.events()) + list(second.events()) == list(whole.events())


def test_a_wrong_state_is_refused_and_changes_nothing():
    level = hf.Level()
    level.update_many(usual(100))
    before = level.state_dict()
    wrong = [
        hf.Level(season=3).state_dict(),
        {**before, "numbers": before["numbers"][:-1]},
        {**before, "numbers": ["nan"] * len(before["numbers"])},
        {**before, "open": [[1], []]},
        {},
    ]
    for stored in wrong:
        with pytest.raises(ValueError):
            level.load_state_dict(stored)
    assert level.state_dict() == before


@pytest.mark.slow
def test_a_level_that_nobody_asks_for_events_does_not_grow():
    level = hf.Level()
    level.update_many(usual(100))
    values = usual(200_100)
    values[::2] = 1e6
    level.update_many(values)
    events = list(level.events())
    assert len(events) == 100_000 and events[-1].begin == 200_199
    assert list(level.events()) == []


def test_events_wait_for_a_loop_and_the_oldest_are_dropped():
    events = Events(most=2)
    for row in range(1, 4):
        events(Event("glitch", row, row, 9.0, 0.0, 1.0))
    assert len(events) == 2 and [event.begin for event in events] == [2, 3] and list(events) == []
    assert copy.deepcopy([events])[0] is events
