"""A wrong result of a rule is reported before the game, also before a compiled one."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import samples

from holdfast import (
    OGD,
    Ball,
    Certified,
    Decision,
    Features,
    Filtered,
    Gradients,
    Guarded,
    Player,
    Quantile,
    Replay,
    Scaled,
    Squared,
    TopK,
    TopShare,
    play,
    protocols,
)
from holdfast.adversaries import Chaser, Functions, Weighted
from holdfast.dry_run import check_first_round, check_measure, check_results
from holdfast.game import Gradient, LossForm
from holdfast.learners import Averaged
from holdfast.rule import rule


class Count(NamedTuple):
    n: int


@rule
class FilterReturning:
    """A filter with a given result and a given first state."""

    answer: Any
    begin: Any = Count(0)

    def init(self, dim):
        return self.begin

    def decide(self, state, size):
        return self.answer


@rule
class Learning:
    """A learner with given states and weights."""

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
    """An adversary with a given result."""

    answer: Any

    def extent(self):
        return 3, 2

    def start(self):
        return Count(0)

    def reveal(self, state, t, w):
        return self.answer


def complaint(player, adversary=None):
    with pytest.raises(TypeError) as caught:
        check_first_round(player, 2, adversary)
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


X = np.zeros(2)


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


class Plain:
    def init(self, dim):
        return 0.0

    def decide(self, state, size):
        return state, 1.0, True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Player(OGD(Ball(1.0)), dim=2),
            "OGD cannot be a player: it has no methods observe(state, slope, x) and current_weights(state)",
        ),
        (
            lambda: with_learner(TopK(1)),
            "TopK cannot be a learner: it has no methods predict(state) and update(state, slope, x)",
        ),
        (
            lambda: with_filter(OGD(Ball(1.0))),
            "OGD cannot be a filter: it has no method decide(state, size)",
        ),
        (lambda: with_filter(TopK), "TopK is a class and no filter yet: call it with its parameters"),
        (lambda: with_filter(Plain()), "Plain cannot be a filter: write @rule above its class"),
        (lambda: with_filter(None), "NoneType cannot be a filter: write @rule above its class"),
    ],
)
def test_an_object_in_a_wrong_role_is_refused_with_the_missing_methods(make, message):
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value) == message


@rule
class Answers:
    """A rule whose methods all return the same value, for roles without a state."""

    answer: Any

    def value(self, z, y):
        return self.answer

    def slope(self, z, y):
        return self.answer

    def of(self, x):
        return self.answer

    def dual(self):
        return self

    def center(self, dim):
        return self.answer

    def project(self, w):
        return self.answer

    def diameter(self, norm, dim=0):
        return self.answer

    def support(self, g):
        return self.answer

    def measure(self, norm, slope, x):
        return self.answer

    def accrued(self, tally, size):
        return self.answer

    def eta(self, tally, diameter):
        return self.answer

    def held(self, tally, diameter):
        return self.answer


@pytest.mark.parametrize(
    ("player", "message"),
    [
        (Filtered(OGD(Ball(1.0)), TopK(1), norm=Answers(None)), "Answers.of must return a number: got None"),
        (
            Filtered(OGD(Ball(1.0)), TopK(1), on=Answers(X)),
            "Answers.size_of_transformed must return a number: got array",
        ),
        (
            Guarded(OGD(Ball(1.0)), on=Answers(None)),
            "Answers.size_of_transformed must return a number: got None",
        ),
        (with_learner(OGD(Answers(0.0))), "Answers.center must return a float64 array of 2 weights: got 0.0"),
        (with_learner(OGD(Answers(X))), "Answers.diameter must return a number: got array"),
        (with_learner(OGD(Ball(1.0), Answers(None))), "Answers.accrued must return a number: got None"),
        (
            Guarded(OGD(Ball(1.0)), FilterReturning(None)),
            "FilterReturning.decide must return (state, threshold, kept)",
        ),
        (
            Guarded(Scaled(Learning(Count(0), np.zeros(2), Count(0)))),
            "Learning.predict must return a float64 array of 3 weights: got array([0., 0.])",
        ),
        (
            with_learner(Averaged(Learning(Count(0), X, None))),
            "Learning.update turns state from Count into None",
        ),
    ],
)
def test_rules_inside_other_rules_are_checked_too(player, message):
    assert complaint(player).startswith(message)


@pytest.mark.parametrize(
    "wrapped",
    [lambda replay: replay, lambda replay: Weighted(replay, [1.0]), lambda replay: Chaser(replay, 1)],
)
def test_losses_are_checked_too(wrapped):
    adversary = wrapped(Replay(np.ones((1, 2)), [1.0], Answers(None)))
    assert complaint(with_filter(TopK(1)), adversary) == "Answers.value must return a number: got None"


@rule
class Playing:
    """A player with given results."""

    answer: Any
    weights: Any = X

    def init(self, dim):
        return Count(0)

    def predict(self, state):
        return X

    def observe(self, state, slope, x):
        return self.answer

    def current_weights(self, state):
        return self.weights


DECISION = Decision(True, 1.0, 2.0)


@pytest.mark.parametrize(
    ("player", "message"),
    [
        (Playing(Count(1)), "Playing.observe must return (state, decision): got Count(n=1)"),
        (Playing((Count(1), True)), "Playing.observe must return a holdfast.Decision, second: got True"),
        (
            Playing((Count(1), DECISION._replace(kept=1.0))),
            "Playing.observe must return a holdfast.Decision, second: got Decision(kept=1.0",
        ),
        (Playing((Count(0.5), DECISION)), "Playing.observe turns state.n from int into float"),
        (
            Playing((Count(1), DECISION), None),
            "Playing.current_weights must return a float64 array of 2 weights",
        ),
    ],
)
def test_a_wrong_result_of_a_player_is_reported(player, message):
    assert complaint(player).startswith(message)


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


@pytest.mark.parametrize(
    ("role", "ours"),
    [
        *((protocols.Filter, ours) for ours in samples.FILTERS),
        *((protocols.Norm, ours) for ours in samples.NORMS),
        *((protocols.Domain, ours) for ours in samples.DOMAINS),
        *((protocols.Step, ours) for ours in samples.STEPS),
        *((protocols.Loss, ours) for ours in samples.LOSSES),
        *((protocols.Learner, ours) for ours in (*samples.LEARNERS, *samples.SCALED)),
        *((protocols.Player, Filtered(ours, TopK(1))) for ours in (*samples.LEARNERS, *samples.SCALED)),
        *((protocols.Player, ours) for ours in samples.GUARDED),
        (protocols.Player, Certified(Filtered(OGD(Ball(1.0)), TopK(1)), 1)),
    ],
    ids=repr,
)
def test_our_own_rules_pass_the_checks(role, ours):
    with np.errstate(all="ignore"):
        check_results(ours, role, dim=2)


@pytest.mark.parametrize("on", [Gradient(), Features(), LossForm(1.0)], ids=repr)
@pytest.mark.parametrize("kind", [Filtered, Guarded])
def test_our_own_measures_pass_the_checks(kind, on):
    check_measure(kind(Scaled(OGD(Ball(1.0))), TopK(1), on=on), 2)


def test_an_adversary_without_rounds_is_not_called():
    check_first_round(with_filter(TopK(1)), 2, Gradients(np.zeros((0, 2))))


def test_rules_may_divide_by_zero_without_a_warning():
    @rule
    class Dividing:
        def init(self, dim):
            return 0.0

        def decide(self, state, size):
            return state, float(np.float64(1.0) / np.float64(0.0)), True

    check_first_round(with_filter(Dividing()), 2)


@pytest.mark.parametrize("compiled", [False, True])
def test_interpreted_and_compiled_games_report_the_same_mistake(compiled):
    with pytest.raises(
        TypeError, match=r"FilterReturning\.decide must return \(state, threshold, kept\): got \(0, True\)"
    ):
        play(with_filter(FilterReturning((0, True), 0)), Gradients(np.ones((3, 2))), compiled=compiled)
