"""Streams of the gauntlet: which rows are bad, what is scored, and what is left as it was."""

import numpy as np
import pytest

from holdfast_lab.gauntlet.streams import (
    QUICK,
    SPARED,
    StreamScenario,
    full_scenarios,
    load_table,
    make_stream,
)

KINDS = ("rows", "cell", "target", "both", "flip", "NaN", "inf")


@pytest.mark.parametrize("place", ["start", "even", "bursts"])
@pytest.mark.parametrize("kind", KINDS)
def test_only_the_bad_rows_are_changed(kind, place):
    scenario = StreamScenario("air_quality", kind, 1e3, 0.1, place)
    stream, table = make_stream(scenario), load_table("air_quality", None).first(1500)
    fine = ~stream.bad
    np.testing.assert_array_equal(stream.X[fine], table.X[fine])
    np.testing.assert_array_equal(stream.y[fine], table.y[fine])
    np.testing.assert_array_equal(stream.truth, table.y)
    added = stream.bad & ~table.marked
    assert 80 <= added.sum() <= 120
    assert not added[1500 * 3 // 4 :].any()
    assert added[:SPARED].any() == (place == "start")
    assert not stream.scored[stream.bad].any()


def test_the_same_scenario_gives_the_same_stream_and_another_seed_another():
    scenario = StreamScenario("spambase", "flip", 1.0, 0.1)
    one, same, other = map(make_stream, (scenario, scenario, scenario._replace(seed=1)))
    np.testing.assert_array_equal(one.bad, same.bad)
    assert not np.array_equal(one.bad, other.bad)


def test_clean_streams_have_no_marked_rows_and_natural_ones_do():
    assert not make_stream(StreamScenario("air_quality")).bad.any()
    assert make_stream(StreamScenario("air_quality", "natural")).bad.any()


def test_a_change_is_not_a_bad_row():
    stream = make_stream(StreamScenario("linear", "change", 5.0))
    assert not stream.bad.any()
    np.testing.assert_array_equal(stream.y, stream.truth)
    assert stream.y[-500:].mean() > stream.y[:500].mean() + 3.0


def test_names_of_scenarios_are_their_own():
    for scenarios in (QUICK, full_scenarios(("eeg_eye",))):
        assert len({each.name for each in scenarios}) == len(scenarios)


def test_a_table_that_is_not_shipped_needs_its_folder():
    with pytest.raises(FileNotFoundError, match="--data"):
        make_stream(StreamScenario("metro_traffic"))


def test_as_many_rows_are_bad_as_the_scenario_says():
    """To within half a burst. One percent of bursts is one burst, a shorter one."""
    for scenario in full_scenarios():
        if scenario.share > 0.0:
            natural = make_stream(scenario._replace(kind="natural", share=0.0)).bad
            added = make_stream(scenario).bad & ~natural
            expected = scenario.share * (scenario.rounds * 3 // 4 - SPARED)
            assert added.any(), scenario.name
            half = 20.5 if scenario.place == "bursts" else 0.5
            assert abs(added.sum() - expected) <= half + natural.sum(), scenario.name


def test_sizes_go_over_fifteen_decades_and_shares_to_a_fifth():
    some = full_scenarios()
    assert {1e15, 10.0} <= {each.size for each in some}
    assert {0.01, 0.2} <= {each.share for each in some}
    assert {1, 50, 500} == {each.delay for each in some}
    assert {1.0, 5.0, 20.0, 1e3} == {each.size for each in some if each.kind == "change"}
