from pathlib import Path

import pytest

from holdfast_lab.bench.race import BenchRun, Times, race, timed

RUN = BenchRun("tiny", Path(), Path())


def test_cases_take_turns_and_take_turns_to_be_first():
    called = []
    cases = {name: lambda name=name: called.append(name) or 0.0 for name in "abc"}
    assert race(RUN, "", cases, repeats=3).seconds == {name: [0.0] * 3 for name in "abc"}
    assert "".join(called) == "abc" + "abc" + "bca" + "cab"  # a warm-up, then the turns


def test_a_ratio_compares_within_a_turn():
    times = Times({"ours": [1.0, 10.0, 1.0], "theirs": [2.0, 20.0, 4.0]})
    assert times.ratio("theirs", "ours") == 2.0
    assert times.median("theirs") == 4.0


def test_progress_is_shown():
    shown = []
    race(RUN._replace(show=shown.append), "dense", {"a": lambda: 0.0}, repeats=2)
    assert shown == ["dense: warming up, 0 of 1", "dense: 0 of 2 turns", "dense: 1 of 2 turns", ""]


def test_a_timed_call_passes_its_arguments_on():
    called = []
    assert timed(lambda *args, **options: called.append((args, options)), 1, per=10, keep=())() >= 0.0
    assert called == [((1,), {"keep": ()})]


@pytest.mark.parametrize(("scale", "amount"), [("full", 3), ("quick", 2), ("tiny", 1)])
def test_an_amount_for_every_scale(scale, amount):
    assert RUN._replace(scale=scale).amount(3, 2, 1) == amount
