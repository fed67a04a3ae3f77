"""A wrong result of a rule is reported before the game, also before a compiled one."""

import numpy as np
import pytest
from dry_runs.mistakes import (
    Count,
    FilterReturning,
    Learning,
    Revealing,
    X,
    complaint,
    with_filter,
    with_learner,
)

from holdfast import (
    Gradients,
    Player,
    Quantile,
    Replay,
    Squared,
    TopK,
    TopShare,
    play,
)
from holdfast.adversaries import Functions
from holdfast.dry_run import check_first_round
from holdfast.rule import rule


@pytest.mark.parametrize("filter", [TopK(2), TopShare(0.1, exact=True), Quantile(0.9)], ids=repr)
def test_good_players_pass_and_keep_their_first_state(filter):
    player = with_filter(filter)
    check_first_round(player, 2, Replay(np.ones((3, 2)), np.ones(3), Squared()))
    assert Player(player, dim=2).predict().tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((Count(1), True), "must return (state, threshold, kept): got (Count(n=1), True)"),
        (None, "must return (state, threshold, kept): got None"),
        ([Count(1), 1.0, True], "must return (state, threshold, kept): got [Count(n=1), 1.0, True]"),
        ((Count(1), 1.0, 1.0), "must return kept as True or False, third: got 1.0"),
        ((Count(1), True, None), "must return kept as True or False, third: got None"),
        ((Count(1), None, True), "must return the threshold as a number, second: got None"),
        ((Count(1.5), 1.0, True), "turns state.n from int into float: start it as a float, such as 0.0"),
        ((Count(np.ones(2)), 1.0, True), "turns state.n from int into a 1-dimensional array of float64"),
        ((None, 1.0, True), "turns state from Count into None: a state must keep its types"),
        (((1,), 1.0, True), "turns state from Count into tuple"),
        ((Count(True), 1.0, True), "turns state.n from int into bool: a state must keep its types"),
    ],
)
def test_a_wrong_result_of_a_filter_is_reported(answer, message):
    assert complaint(with_filter(FilterReturning(answer))).startswith(f"FilterReturning.decide {message}")


def test_the_parts_of_a_state_are_compared():
    begin, end = (Count(0), np.zeros(2)), (Count(0), np.zeros(2, int))
    text = complaint(with_filter(FilterReturning((end, 1.0, True), begin)))
    assert "turns state.1 from a 1-dimensional array of float64 into a 1-dimensional array of int64" in text


@pytest.mark.parametrize(
    ("weights", "end", "message"),
    [
        (
            np.zeros(3),
            Count(0),
            "Learning.predict must return a float64 array of 2 weights: got array([0., 0., 0.])",
        ),
        (
            np.zeros(2, np.float32),
            Count(0),
            "Learning.predict must return a float64 array of 2 weights: got array",
        ),
        ([0.0, 0.0], Count(0), "Learning.predict must return a float64 array of 2 weights: got [0.0, 0.0]"),
        (np.zeros(2), None, "Learning.update turns state from Count into None"),
        (np.zeros(2), Count(0.5), "Learning.update turns state.n from int into float: start it as a float"),
    ],
)
def test_a_wrong_result_of_a_learner_is_reported(weights, end, message):
    assert complaint(with_learner(Learning(Count(0), weights, end))).startswith(message)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((Count(0), 1.0, X), "must return (state, loss, slope, x): got (Count(n=0), 1.0, array([0., 0.]))"),
        ((Count(0), None, 1.0, X), "must return the loss as a number, second: got None"),
        ((Count(0), 1.0, X, X), "must return the slope as a number, third: got array([0., 0.])"),
        (
            (Count(0), 1.0, 1.0, np.zeros(3)),
            "must return x as an array of 2 floats, fourth: got array([0., 0., 0.])",
        ),
        (
            (Count(0), 1.0, 1.0, np.zeros(2, int)),
            "must return x as an array of 2 floats, fourth: got array([0, 0])",
        ),
        ((Count(0), 1.0, 1.0, [0.0, 0.0]), "must return x as an array of 2 floats, fourth: got [0.0, 0.0]"),
        ((Count(0.0), 1.0, 1.0, X), "turns state.n from int into float: start it as a float, such as 0.0"),
    ],
)
def test_a_wrong_result_of_an_adversary_is_reported(answer, message):
    assert complaint(with_filter(TopK(1)), Revealing(answer)).startswith(f"Revealing.reveal {message}")


def test_functions_are_checked_too():
    adversary = Functions(lambda t, w: 0.0, lambda t, w: [1.0, 2.0], 3, 2)
    assert "x as an array of 2 floats, fourth: got [1.0, 2.0]" in complaint(with_filter(TopK(1)), adversary)


def test_the_extent_of_an_adversary_is_two_numbers():
    @rule
    class Endless:
        def extent(self):
            return 3

        def start(self):
            return 0

        def reveal(self, state, t, w):
            return state, 0.0, 0.0, w

    with pytest.raises(TypeError, match=r"Endless.extent must return \(rounds, dim\): got 3"):
        play(with_filter(TopK(1)), Endless())


def test_an_adversary_without_rounds_is_not_called():
    check_first_round(with_filter(TopK(1)), 2, Gradients(np.zeros((0, 2))))


@pytest.mark.parametrize("compiled", [False, True])
def test_interpreted_and_compiled_games_report_the_same_mistake(compiled):
    with pytest.raises(
        TypeError, match=r"FilterReturning\.decide must return \(state, threshold, kept\): got \(0, True\)"
    ):
        play(with_filter(FilterReturning((0, True), 0)), Gradients(np.ones((3, 2))), compiled=compiled)
