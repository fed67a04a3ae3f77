"""Rules with given results, and the error that a check raises."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from holdfast import OGD, Ball, Filtered, TopK
from holdfast.dry_run import check_first_round
from holdfast.rule import rule

X = np.zeros(2)


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

    def update(self, state, round):
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
