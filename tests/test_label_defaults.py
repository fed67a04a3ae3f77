"""The default for labels: what it withstands, what it follows, and when the estimator uses it."""

import math

import numpy as np
import pytest
from laws import like, same
from scipy.sparse import csr_array

import holdfast as hf
from holdfast._compiled.compiling import expecting
from holdfast.continuing import Game
from holdfast.defaults import recommended
from holdfast.learners.missing_cells import missing_with
from holdfast.sklearn import RobustClassifier
from holdfast.steady import Steady


def stream(rounds=6_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, 4))
    return X, np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(rounds) > 0.0, 1.0, -1.0)


def predictions(X, y):
    """Of each round, before it was learned from. The estimator plays this game, so it is compiled anyway."""
    replay = hf.Replay(X, y, hf.Logistic())
    game = Game(recommended(False)._replace(missing=missing_with(0.5)), replay)
    with expecting(math.inf):
        return game.play(replay, keep=["predictions"]).predictions


def mistakes(X, y):
    """Whether each prediction was wrong."""
    return predictions(X, y) * y <= 0.0


@pytest.mark.parametrize(
    "change", [lambda X: 1e3 * X, lambda X: 0.1 * X, lambda X: -X, lambda X: X * [1e3, 1.0, 1.0, 1.0]]
)
def test_a_lasting_change_is_followed(change):
    X, y = stream()
    X[2_500:] = change(X[2_500:])
    wrong = mistakes(X, y)
    assert wrong[5_000:].mean() < 1.15 * wrong[500:2_500].mean()


@pytest.mark.parametrize("count", [30, 100])
def test_bad_first_rows_delay_learning_and_then_heal(count):
    X, y = stream(3_000)
    X[:count] *= 1e3
    assert mistakes(X, y)[1_000:].mean() < 0.12


def test_scales_heal_from_bad_first_rows_in_a_short_table():
    X, y = stream(150)
    X[:30] *= 1e3
    player = recommended(False)
    record = hf.play(player, hf.Replay(X, y, hf.Logistic()), compiled=False)
    factors = player.current_weights(record.state[0]).factors
    assert (factors > 0.3).all() and (factors < 1.5).all()


@pytest.mark.parametrize("count", [25, 57, 100])
def test_bad_first_rows_cost_few_rows_more(count):
    X, y = stream(count + 100)
    X[:count] *= 1e3
    player = recommended(False)
    state = hf.play(player, hf.Replay(X, y, hf.Logistic()), compiled=False).state[0]
    factors = player.current_weights(state).factors
    assert (factors >= 0.5).all() and (factors <= 2.0).all()


def test_labels_that_are_wrong_in_a_burst_cost_few_mistakes():
    X, y = stream(800)
    shown = y.copy()
    shown[400:600] *= -1.0
    replay = hf.Replay(X, shown, hf.Logistic())
    record = hf.play(recommended(False), replay, keep=["predictions"], compiled=False)
    assert (record.predictions * y <= 0.0)[600:].mean() < 0.2  # 0.05 without the burst


@pytest.mark.parametrize("factor", [1.0, 1e3])
def test_ten_percent_of_wrong_rows_cost_little(factor):
    X, y = stream()
    bad = np.random.default_rng(1).random(6_000) < 0.1
    clean, shown = mistakes(X, y)[~bad].mean(), np.where(bad, -y, y)
    X[bad] *= factor
    assert (predictions(X, shown) * y <= 0.0)[~bad].mean() < 1.15 * clean


def test_one_wild_cell_is_found_whatever_the_other_columns_are():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((600, 2)), np.eye(12)[rng.integers(0, 12, 600)], np.ones(600)])
    X[300::60, 5] = 1e3  # of the values that are not 0 in a rare column, at most the share may be wild
    record = hf.play(
        recommended(False), hf.Replay(X, np.sign(X[:, 0]), hf.Logistic()), keep=["kept"], compiled=False
    )
    assert not record.kept[300::60].any() and record.kept[100:300].mean() > 0.98


@pytest.mark.slow  # compiling takes 20 s
def test_both_worlds_give_the_same_bits():
    rng = np.random.default_rng(0)
    X, y = rng.standard_t(2.0, (900, 5)), np.where(rng.random(900) < 0.5, 1.0, -1.0)
    X[::17] *= 1e5
    X[:40], X[500:], X[30], X[50, 1] = 1e3 * X[:40], 100.0 * X[500:], 1e300, np.nan
    keep = ("losses", "predictions", "sizes", "kept")
    player, replay = recommended(False, patience=50), hf.Replay(X, y, hf.Logistic())
    worlds = [hf.play(player, replay, keep=keep, compiled=compiled) for compiled in (False, True)]
    for column in (*keep, "final"):
        assert same(*(getattr(record, column) for record in worlds)), column
    assert like(worlds[0].state, worlds[1].state)


def test_memory_and_patience_are_numbers_of_rounds():
    player = recommended(False, memory=10_000, patience=200)
    assert (player.learner.memories.max(), player.gate.patience) == (10_000.0, 200)
    for wrong in ({"memory": 1}, {"memory": "long"}, {"patience": True}, {"patience": float("nan")}):
        with pytest.raises(ValueError, match='must be "auto", or a number of rows from 10'):
            recommended(False, **wrong)


def test_the_estimator_uses_it_for_log_loss_and_any_number_of_columns():
    X, y = stream(80)
    for rows in (X, np.tile(X, 26), csr_array(X)):
        assert isinstance(RobustClassifier(n_epochs=1).fit(rows, y)._player, Steady)
    assert not isinstance(RobustClassifier(loss="hinge", n_epochs=1).fit(X, y)._player, Steady)
    with pytest.raises(ValueError, match="memory=100 is for the default learner"):
        RobustClassifier(loss="hinge", memory=100).fit(X, y)


def test_probabilities_are_those_of_the_labels_and_far_rows_are_predicted_as_they_are_learned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4_000, 3)) * [1.0, 1e3, 1e-3] + 5.0
    truth = 1.0 / (1.0 + np.exp(-1.5 * (X[:, 0] - 5.0)))
    model = RobustClassifier(n_epochs=1, shuffle=False).partial_fit(
        X, rng.random(4_000) < truth, classes=[False, True]
    )
    assert np.abs(model.predict_proba(X)[:, 1] - truth).mean() < 0.05
    rows = np.vstack(
        [X[:50], 5.0 + 20.0 * (X[:50] - 5.0)]
    )  # far, and not so far that a cell counts as missing
    w = model._player.current_weights(model._games[0].state)
    assert model.decision_function(rows) == pytest.approx([w.product(row) for row in rows], rel=1e-9)


def test_class_weights_shift_the_border():
    X, y = stream(2_000)
    shares = [
        (RobustClassifier(class_weight=weights, n_epochs=1, random_state=0).fit(X, y).predict(X) > 0.0).mean()
        for weights in ({1.0: 1.0, -1.0: 5.0}, None, {1.0: 5.0, -1.0: 1.0})
    ]
    assert shares[0] < shares[1] - 0.05 < shares[1] + 0.05 < shares[2]
