"""Forecasts of the default: given when they are asked for, copied only if a batch has several rounds."""

import numpy as np
import pytest
from laws import same

import holdfast as hf
from holdfast.defaults import recommended
from holdfast.entrywise import products
from holdfast.rounds import Round
from holdfast.steady.forecasts import row_asked, weights_now
from holdfast.steady.state import EPOCH, NOW
from holdfast.vectors import dot


def played(regression, rounds=120):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(rounds)
    player = recommended(regression)
    replay = hf.Replay(X, y if regression else np.sign(y), player.loss)
    return player, hf.play(player, replay, keep=(), compiled=False).state[0]


@pytest.mark.parametrize("regression", [True, False])
def test_without_delay_forecasts_are_those_of_the_state_and_nothing_is_copied(regression):
    player, state = played(regression)
    x = np.array([0.3, 4.0, -1.0])
    assert state.asked.numbers[EPOCH] == NOW and not state.asked.each.any()
    assert dot(player.predict(state), x) == dot(player.current_weights(state), x) != 0.0
    row = weights_now(player, state).row_in_units(x)
    assert row_asked(player, state, x, row) is row


@pytest.mark.parametrize("regression", [True, False])
@pytest.mark.parametrize("delay", [0, 7])
def test_a_game_without_delay_goes_on_with_batches(regression, delay):
    """The first forecasts are those of the state; those of the next batch stay until it ends."""
    player, state = played(regression, rounds=119)
    batches, x = player._replace(delay=delay), np.array([0.3, 1.0, -1.0])
    state = batches.start_batch(state)
    assert dot(batches.predict(state), x) == dot(batches.current_weights(state), x) != 0.0
    given = []
    for t in range(14):
        if delay == 0 and t % 7 == 0:
            state = batches.start_batch(state)
        given.append(dot(batches.predict(state), x))
        state, verdict = batches.observe(state, Round(0.0, x + 0.1 * t, 1.0, x, 0.0))
        assert verdict.refused_by != 0
    assert len(set(given[7:])) == 1
    assert dot(batches.current_weights(state), x) != given[-1]


def test_forecasts_of_all_regressions_are_inner_products():
    player, state = played(True)
    row = np.array([0.5, -1.0, 2.0, 1.0])
    found, each = np.zeros(len(state.learner.each)), state.learner.each
    products(each, row, found)
    assert same(found, np.array([dot(w, row) for w in each]))
    assert same(found, player.learner.forecast(state.learner, row))
