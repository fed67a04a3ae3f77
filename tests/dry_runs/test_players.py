"""A wrong result of a player is reported."""

from typing import Any

import pytest
from dry_runs.mistakes import Count, X, complaint

from holdfast import Decision
from holdfast.rule import rule


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
