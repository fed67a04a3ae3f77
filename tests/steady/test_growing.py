"""More columns for a state of the default."""

import math

import numpy as np
import pytest

from holdfast.adversaries import Replay
from holdfast.continuing import Game
from holdfast.defaults import recommended, recommended_loss
from holdfast.learners.missing_cells import missing_with
from holdfast.steady.certificate import default_certificate
from holdfast.steady.growing import grown
from holdfast.vectors import dot, prediction_of

KINDS = pytest.mark.parametrize("regression", [True, False])
NOTHING = np.full((8, 2), math.nan)


def player_for(regression):
    return recommended(regression)._replace(missing=missing_with(0.9999))


def stream(regression, rows=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    y = X @ [1.0, 2.0, -1.0, 3.0, 0.0] + 0.3 * rng.normal(size=rows)
    return X, y if regression else np.sign(y)


def played(game, X, y, regression):
    """The predictions of a game, each before the row is learned from."""
    replay = Replay(X, y, recommended_loss(regression))
    return game.play(replay, ("predictions",)).predictions


def start(regression, columns, rows):
    """A game that has learned from the first rows and columns."""
    X, y = stream(regression)
    game = Game(player_for(regression), Replay(X[:1, :columns], y[:1], recommended_loss(regression)))
    played(game, X[:rows, :columns], y[:rows], regression)
    return game


@KINDS
@pytest.mark.parametrize("rows", [0, 5, 20, 100, 400])
def test_a_larger_state_predicts_the_same_and_is_valid(regression, rows):
    player, X = player_for(regression), stream(regression)[0]
    state = start(regression, 3, rows).state
    larger = grown(player, state, NOTHING)
    assert player.valid(larger)
    fresh = player.init(5)
    shapes = [[np.shape(leaf) for leaf in leaves(each)] for each in (larger, fresh)]
    assert shapes[0] == shapes[1]
    w, wider = player.current_weights(state), player.current_weights(larger)
    for x in X[:20]:
        hole = np.array([*x[:3], math.nan, math.nan])
        for row in (hole, x):  # a column without a unit contributes nothing
            assert prediction_of(wider, dot(wider, row)) == pytest.approx(
                prediction_of(w, dot(w, x[:3])), rel=1e-12, abs=1e-12
            )


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]


@KINDS
@pytest.mark.parametrize("rows", [0, 5, 20, 100, 400])
def test_columns_that_stay_missing_change_little(regression, rows):
    """Not nothing: the prior of labels depends on the number of columns, and so does the turn of a weight."""
    X, y = stream(regression)
    game, larger = start(regression, 3, rows), start(regression, 3, rows)
    larger.set_state(grown(player_for(regression), larger.state, NOTHING), 5)
    holes = np.hstack([X[:, :3], np.full((len(X), 2), math.nan)])
    one = played(game, X[rows:, :3], y[rows:], regression)
    other = played(larger, holes[rows:], y[rows:], regression)
    assert np.abs(one - other).mean() < 0.02 * np.abs(one).mean()


@KINDS
def test_a_column_that_comes_late_is_learned_as_well_as_one_that_was_there(regression):
    X, y = stream(regression, 1500)
    X[:, 3] = 1000.0 + 0.01 * X[:, 3]  # far from 0, in a small unit
    game = start(regression, 3, 300)
    values = X[292:300, 3:]
    game.set_state(grown(player_for(regression), game.state, values), 5)
    late = played(game, X[300:], y[300:], regression)
    whole = Game(player_for(regression), Replay(X[:1], y[:1], recommended_loss(regression)))
    always = played(whole, X, y, regression)[300:]
    if regression:
        errors = [np.abs(each - y[300:])[600:].mean() for each in (late, always)]
    else:
        errors = [np.mean(each[600:] * y[900:] <= 0.0) for each in (late, always)]
    assert errors[0] <= 1.1 * errors[1] + 0.01


@KINDS
def test_the_bound_of_a_larger_state_is_that_of_the_state(regression):
    game, player = start(regression, 3, 400), player_for(regression)
    proofs = [
        default_certificate(player, state, 5) for state in (game.state, grown(player, game.state, NOTHING))
    ]
    assert proofs[1].over_fallback == proofs[0].over_fallback
    assert proofs[1].over_models == pytest.approx(proofs[0].over_models, rel=1e-9)
