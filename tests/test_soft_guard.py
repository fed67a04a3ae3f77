"""SoftGuarded: wild cells, surprising targets, stuck rows and bad first rows do not spoil what is learned."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.learners import RobustRidge
from holdfast.soft_guard import SoftGuarded
from holdfast.vectors import dot, prediction_of

SCALED = hf.Scaled(RobustRidge(memory=300), target=True, clip=1e6, memory=300, stored=250)
PLAYER = SoftGuarded(SCALED, repeats=hf.TopShare(0.1, slack=8.0))
W = np.array([1.0, -2.0, 0.5])


def rows(count=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, 3))
    return X, X @ W + 5.0 + 0.1 * rng.standard_normal(count)


def play(X, y, player=PLAYER):
    keep = ("predictions", "kept", "guard")
    return hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=keep, compiled=False)


def error(record, truth, start):
    return np.abs(record.predictions - truth)[start:].mean()


def test_one_wild_cell_is_seen_however_many_columns_there_are():
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((600, 1)), np.eye(30)[rng.integers(30, size=600)]])
    y = X[:, 0].copy()
    X[400:, 0][::10] = 100.0
    assert not play(X, y).kept[400:][::10].any()


def test_a_surprising_target_moves_the_weights_but_not_the_scales():
    X, y = rows()
    state = play(X, y).state[0]
    after, decision = PLAYER.observe(PLAYER.set_target(state, 1000.0), -1.0, X[0])
    assert not decision.kept and not decision.target.kept
    assert after.learner.y_spread == state.learner.y_spread and after.learner.rounds == state.learner.rounds
    assert after.learner.inner.rounds == state.learner.inner.rounds + 1


def test_if_many_targets_are_surprising_none_of_them_teaches():
    X, y = rows()
    state = play(X, y).state[0]
    for x in X[:60]:
        before, (state, _) = state, PLAYER.observe(PLAYER.set_target(state, 1e4), -1.0, x)
    assert state.learner.inner.rounds == before.learner.inner.rounds


def test_a_target_that_is_predicted_is_small():
    X, y = rows()
    state, x = play(X, y).state[0], np.array([0.0, -3.0, 0.0])
    _, decision = PLAYER.observe(PLAYER.set_target(state, 5.0 + x @ W), -1.0, x)
    assert decision.target.size < 0.5 * abs(x @ W) / state.learner.y_spread


@pytest.mark.parametrize("wrong", ["rows", "targets"])
def test_bad_first_rows_delay_learning_and_then_heal(wrong):
    X, truth = rows(1500)
    y = truth.copy()
    if wrong == "rows":
        X[:100] *= 1000.0
    else:
        y[:100] *= -1000.0
    record = play(X, y)
    assert error(record, truth, 700) < 0.4


PATIENT = PLAYER._replace(patience=200)


def spoiled(X, y, wrong, part):
    """A copy with bad rows or targets in a part of the stream."""
    X, y = X.copy(), y.copy()
    if wrong == "rows":
        X[part] *= 1000.0
    else:
        y[part] += 1000.0
    return X, y


@pytest.mark.parametrize("wrong", ["rows", "targets"])
def test_a_burst_no_longer_than_patience_changes_nothing_even_if_it_is_half_of_the_stream(wrong):
    X, truth = rows(600)
    record = play(*spoiled(X, truth, wrong, slice(200, 400)), PATIENT)
    assert not record.kept[200:400].any() and record.kept[400:].mean() > 0.95
    assert error(record, truth, 400) < 0.2


@pytest.mark.parametrize("wrong", ["rows", "targets"])
def test_what_lasts_longer_than_patience_is_learned(wrong):
    X, y = spoiled(*rows(800), wrong, slice(300, None))
    record = play(X, y, PATIENT)
    assert not record.kept[300:500].any() and record.kept[530:].mean() > 0.95
    assert error(record, y, 600) < 0.4


def test_after_few_rows_a_change_needs_less_patience():
    X, y = spoiled(*rows(400), "targets", slice(100, None))
    record = play(X, y, PATIENT)
    assert not record.kept[100:175].any() and record.kept[200:].all() and error(record, y, 250) < 0.4


def test_single_bad_rows_never_look_like_a_change():
    X, truth = rows(1000)
    record = play(*spoiled(X, truth, "targets", slice(100, None, 20)), PATIENT)
    assert not record.kept[100::20].any() and error(record, truth, 200) < 0.2


def test_targets_with_three_values_are_learned_from():
    """Half of the first ones are no distance from their median, so that a filter has only seen zeros."""
    X, _ = rows(150)
    y = np.random.default_rng(0).integers(0, 3, 150).astype(float)
    assert play(X, y, PATIENT).kept.mean() > 0.8


def test_patience_is_at_least_10():
    with pytest.raises(ValueError, match="patience counts rounds, at least 10: got 9"):
        SoftGuarded(SCALED, patience=9)


def test_a_row_that_is_stuck_is_not_learned_from():
    X, y = rows()
    X[500:550] = X[500]
    record = play(X, y)
    assert record.kept[500:505].all() and not record.kept[515:550].any() and record.kept[551:].mean() > 0.95
    assert (record.feature_sizes[515:550] > record.feature_thresholds[515:550]).all()


def test_a_round_that_is_not_finite_changes_nothing():
    X, y = rows(100)
    state = play(X, y).state[0]
    for x, target in ((np.array([np.nan, 0.0, 0.0]), 1.0), (X[0], np.inf), (X[0], np.nan)):
        before = PLAYER.set_target(state, target)
        after, decision = PLAYER.observe(before, -1.0, x)
        assert after is before and not decision.kept


def test_a_far_row_that_is_predicted_well_is_learned_from():
    X, y = rows()
    state, far = play(X, y).state[0], np.array([30.0, 15.0, 0.0])  # the target is about 5
    w = PLAYER.predict(state)
    predicted = prediction_of(w, dot(w, far))
    _, decision = PLAYER.observe(PLAYER.set_target(state, predicted), -1.0, far)
    assert decision.kept and decision.features.size > decision.features.threshold
    _, decision = PLAYER.observe(PLAYER.set_target(state, predicted + 1.0), -1.0, far)
    assert not decision.kept
