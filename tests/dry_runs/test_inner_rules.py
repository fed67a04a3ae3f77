"""Rules inside other rules are checked too, and objects in a wrong role are refused."""

from typing import Any

import numpy as np
import pytest
from dry_runs.mistakes import Count, FilterReturning, Learning, X, complaint, with_filter, with_learner
from guards import guarded

from holdfast import (
    OGD,
    Ball,
    Filtered,
    Player,
    Replay,
    Scaled,
    TopK,
)
from holdfast.adversaries import Chaser, Weighted
from holdfast.learners import Averaged
from holdfast.rule import rule


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
            "OGD cannot be a player: it has no methods observe(state, round) and current_weights(state)",
        ),
        (
            lambda: with_learner(TopK(1)),
            "TopK cannot be a learner: it has no methods predict(state) and update(state, round)",
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

    def size_of(self, learner, state, norm, round, size):
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
            "Answers.size_of must return a number: got array",
        ),
        (
            guarded(OGD(Ball(1.0)), on=Answers(None)),
            "Answers.size_of must return a number: got None",
        ),
        (with_learner(OGD(Answers(0.0))), "Answers.center must return a float64 array of 2 weights: got 0.0"),
        (with_learner(OGD(Answers(X))), "Answers.diameter must return a number: got array"),
        (with_learner(OGD(Ball(1.0), Answers(None))), "Answers.accrued must return a number: got None"),
        (
            guarded(OGD(Ball(1.0)), FilterReturning(None)),
            "FilterReturning.decide must return (state, threshold, kept)",
        ),
        (
            guarded(Scaled(Learning(Count(0), np.zeros(2), Count(0)))),
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
