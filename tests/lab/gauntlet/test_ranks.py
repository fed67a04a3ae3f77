"""Ranks: ties share them, who broke is last, and confidence is wide for few scenarios."""

from holdfast_lab.gauntlet.ranks import places
from holdfast_lab.gauntlet.scores import Score


def scores(**excesses):
    return {name: Score(1.0, each, broken=each is None) for name, each in excesses.items()}


def test_ties_share_ranks_and_who_broke_is_last():
    found = places({"one": scores(a=0.0, b=0.0001, c=None, d=5.0)})
    assert [found[name].rank for name in "abcd"] == [1.5, 1.5, 4.0, 3.0]


def test_who_did_not_play_a_scenario_is_not_ranked_in_it():
    found = places({"one": scores(a=0.0, b=1.0, c=2.0), "two": scores(a=1.0, c=0.0)})
    assert found["b"].rank == 2.0
    assert found["a"].rank == (1.0 + 3.0) / 2.0
    assert found["c"].rank == (3.0 + 1.0) / 2.0


def test_confidence_is_that_of_the_scenarios():
    sure = places({str(i): scores(a=0.0, b=1.0) for i in range(10)})
    assert (sure["a"].low, sure["a"].high) == (1.0, 1.0)
    mixed = places({str(i): scores(a=float(i % 2), b=0.5) for i in range(10)})
    assert mixed["a"].low < 1.5 < mixed["a"].high
