"""Before the game, a wrong answer is met in words, in both worlds alike."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from holdfast import (
    OGD,
    Ball,
    Filtered,
    Functions,
    Gradients,
    Player,
    Quantile,
    Replay,
    Squared,
    TopK,
    TopShare,
    play,
)
from holdfast.rehearsal import rehearse
from holdfast.rule import rule


class Count(NamedTuple):
    n: int


@rule
class Answering:
    """A filter that gives the answer it was told to, from the state it was told to start in."""

    answer: Any
    begin: Any = Count(0)

    def init(self, dim):
        return self.begin

    def decide(self, state, size):
        return self.answer


@rule
class Learning:
    """A learner that does the same."""

    begin: Any
    weights: Any
    end: Any

    def init(self, dim):
        return self.begin

    def predict(self, state):
        return self.weights

    def update(self, state, slope, x):
        return self.end


@rule
class Revealing:
    """An adversary that does the same."""

    answer: Any

    def extent(self):
        return 3, 2

    def start(self):
        return Count(0)

    def reveal(self, state, t, w):
        return self.answer


def complaint(player, adversary=None):
    with pytest.raises(TypeError) as caught:
        rehearse(player, 2, adversary)
    text = str(caught.value)
    assert len(text) < 400 and "\n" not in text
    return text


def with_filter(filter):
    return Filtered(OGD(Ball(1.0)), filter)


def with_learner(learner):
    return Filtered(learner, TopK(1))


@pytest.mark.parametrize("filter", [TopK(2), TopShare(0.1, exact=True), Quantile(0.9)], ids=repr)
def test_good_players_pass_and_keep_their_first_state(filter):
    player = with_filter(filter)
    rehearse(player, 2, Replay(np.ones((3, 2)), np.ones(3), Squared()))
    assert Player(player, dim=2).predict().tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("answer", "says"),
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
def test_a_filter_that_answers_wrongly_is_told_so(answer, says):
    assert complaint(with_filter(Answering(answer))).startswith(f"Answering.decide {says}")


def test_the_state_is_followed_into_its_parts():
    begin, end = (Count(0), np.zeros(2)), (Count(0), np.zeros(2, int))
    text = complaint(with_filter(Answering((end, 1.0, True), begin)))
    assert "turns state.1 from a 1-dimensional array of float64 into a 1-dimensional array of int64" in text


@pytest.mark.parametrize(
    ("weights", "end", "says"),
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
def test_a_learner_that_answers_wrongly_is_told_so(weights, end, says):
    assert complaint(with_learner(Learning(Count(0), weights, end))).startswith(says)


X = np.zeros(2)


@pytest.mark.parametrize(
    ("answer", "says"),
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
def test_an_adversary_that_answers_wrongly_is_told_so(answer, says):
    assert complaint(with_filter(TopK(1)), Revealing(answer)).startswith(f"Revealing.reveal {says}")


def test_functions_are_asked_too():
    adversary = Functions(lambda t, w: 0.0, lambda t, w: [1.0, 2.0], 3, 2)
    assert "x as an array of 2 floats, fourth: got [1.0, 2.0]" in complaint(with_filter(TopK(1)), adversary)


class Plain:
    def init(self, dim):
        return 0.0

    def decide(self, state, size):
        return state, 1.0, True


@pytest.mark.parametrize(
    ("player", "says"),
    [
        (OGD(Ball(1.0)), "OGD cannot be a player: it has no method observe(state, slope, x)"),
        (Filtered(TopK(1), TopK(1)), "TopK cannot be a learner: it has no method predict(state)"),
        (with_filter(OGD(Ball(1.0))), "OGD cannot be a filter: it has no method decide(state, size)"),
        (with_filter(TopK), "TopK is a class and no filter yet: call it with its parameters"),
        (with_filter(Plain()), "Plain cannot be a filter: write @rule above its class"),
        (with_filter(None), "NoneType cannot be a filter: write @rule above its class"),
    ],
)
def test_what_cannot_play_a_part_is_told_what_it_lacks(player, says):
    assert complaint(player) == says


def test_an_adversary_without_rounds_is_not_asked():
    rehearse(with_filter(TopK(1)), 2, Gradients(np.zeros((0, 2))))


def test_rules_may_divide_by_zero_without_a_warning():
    @rule
    class Dividing:
        def init(self, dim):
            return 0.0

        def decide(self, state, size):
            return state, float(np.float64(1.0) / np.float64(0.0)), True

    rehearse(with_filter(Dividing()), 2)


@pytest.mark.parametrize("compiled", [False, True])
def test_both_worlds_meet_the_mistake_in_the_same_words(compiled):
    with pytest.raises(
        TypeError, match=r"Answering\.decide must return \(state, threshold, kept\): got \(0, True\)"
    ):
        play(with_filter(Answering((0, True), 0)), Gradients(np.ones((3, 2))), compiled=compiled)
