"""A wrong result of a player is reported."""

from typing import Any

import pytest
from dry_runs.mistakes import Count, X, complaint

from holdfast import Verdict
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

    def observe(self, state, round):
        return self.answer

    def current_weights(self, state):
        return self.weights


VERDICT = Verdict(True, -1, (1.0,), (2.0,))


@pytest.mark.parametrize(
    ("player", "message"),
    [
        (Playing(Count(1)), "Playing.observe must return (state, verdict): got Count(n=1)"),
        (Playing((Count(1), True)), "Playing.observe must return a holdfast.Verdict, second: got True"),
        (
            Playing((Count(1), VERDICT._replace(kept=1.0))),
            "Playing.observe must return a size for each check (gradient): got Verdict(kept=1.0",
        ),
        (
            Playing((Count(1), VERDICT._replace(sizes=(1.0, 2.0)))),
            "Playing.observe must return a size for each check (gradient): got Verdict(kept=True",
        ),
        (Playing((Count(0.5), VERDICT)), "Playing.observe turns state.n from int into float"),
        (
            Playing((Count(1), VERDICT), None),
            "Playing.current_weights must return a float64 array of 2 weights",
        ),
    ],
)
def test_a_wrong_result_of_a_player_is_reported(player, message):
    assert complaint(player).startswith(message)
