"""Returning: after a burst of wrong labels the weights of before return; a lasting change is followed."""

import copy
import math

import numpy as np
import pytest
from laws import same

import holdfast as hf
from holdfast.learners import OnlineLogistic, Returning

INNER = OnlineLogistic(flips=0.05, prior=10.0)
LEARNER = Returning(INNER)


def stream(rounds, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, 5))
    y = np.where(X @ [2.0, -1.0, 0.0, 0.5, 1.0] + 0.5 * rng.standard_normal(rounds) > 0.0, 1.0, -1.0)
    return X, y


def learn(learner, X, y, state=None):
    """Whether each prediction was wrong, and the last state."""
    state, wrong = state or learner.init(X.shape[1]), []
    for x, label in zip(X, y, strict=True):
        z = float(learner.predict(state) @ x)
        wrong.append(z * label <= 0.0)
        state = learner.update(state, hf.Logistic().slope(z, label), x)
    return np.array(wrong), state


def flipped(rounds, start, stop):
    X, y = stream(rounds)
    shown = y.copy()
    shown[start:stop] *= -1.0
    return X, shown


def test_soon_after_a_burst_of_wrong_labels_the_weights_of_before_return():
    X, y = flipped(600, 300, 500)
    with_return, without = (learn(each, X, y)[0][500:].sum() for each in (LEARNER, INNER))
    assert with_return < 15 < 60 < without


def test_a_lasting_change_of_labels_costs_little_more():
    X, y = flipped(1_000, 400, 1_000)
    with_return, without = (learn(each, X, y)[0][400:].sum() for each in (LEARNER, INNER))
    assert with_return <= 1.1 * without


def test_the_old_weights_are_given_up_after_patience_rounds():
    X, y = flipped(600, 300, 500)
    kept, given_up = (learn(Returning(INNER, patience), X, y)[0][500:].sum() for patience in (1e3, 50.0))
    assert kept < 15 < 60 < given_up


def test_old_weights_that_were_better_of_late_predict():
    X, y = flipped(420, 300, 400)
    state = learn(LEARNER, X[:400], y[:400])[1]
    assert LEARNER.predict(state) is state.inner.w
    for x, label in zip(X[400:], y[400:], strict=True):
        state = learn(LEARNER, x[None], np.array([label]), state)[1]
        if state.better > 0.25:
            break
    assert state.left > 0.0 and LEARNER.predict(state) is state.old


def test_current_weights_learn_with_their_own_slope_while_the_old_ones_predict():
    state = learn(LEARNER, *flipped(400, 300, 400))[1]._replace(better=1.0)
    expected = copy.deepcopy(state.inner)
    x = np.array([0.1, 0.0, 0.2, 0.0, 0.1])
    slopes = [hf.Logistic().slope(float(w @ x), 1.0) for w in (state.old, state.inner.w)]
    expected = INNER.update(expected, slopes[1], x)
    assert LEARNER.update(state, slopes[0], x).inner.w == pytest.approx(expected.w)


@pytest.mark.parametrize(("better", "returns"), [(0.3, True), (0.0, False)])
def test_when_the_trouble_is_over_the_weights_that_predict_stay(better, returns):
    X, y = flipped(420, 400, 420)
    state = learn(LEARNER, X, y)[1]._replace(trouble=0.1, better=better)
    assert state.left > 0.0
    old, x = state.old.copy(), 0.1 * state.old / np.linalg.norm(state.old)
    after = learn(LEARNER, x[None], np.ones(1), state)[1]
    assert after.left == after.trouble == after.better == 0.0
    assert same(after.inner.w, old) == returns and same(after.old, after.inner.w)


def test_a_burst_among_the_first_rounds_does_not_cost_what_was_learned():
    X, y = flipped(200, 60, 72)
    wrong = learn(LEARNER, X, y)[0][72:].sum()
    clean = learn(LEARNER, *stream(200))[0][72:].sum()
    assert wrong <= clean + 5


def test_labels_that_are_wrong_from_the_first_round_on_are_forgotten():
    X, y = flipped(300, 0, 70)
    with_return, without = (learn(each, X, y)[0][100:].sum() for each in (LEARNER, INNER))
    assert with_return < 0.8 * without


def test_without_trouble_it_is_the_learner_itself():
    X, y = stream(1_000)
    assert same(learn(LEARNER, X, y)[1].inner.w, learn(INNER, X, y)[1].w)


def test_the_old_weights_are_those_before_the_trouble():
    X, y = flipped(500, 400, 430)
    before = learn(LEARNER, X[:400], y[:400])[1].inner.w.copy()
    state = learn(LEARNER, X[:430], y[:430])[1]
    assert state.left > 0.0
    assert state.old == pytest.approx(before, rel=0.1)
    assert np.linalg.norm(state.inner.w - before) > 3.0 * np.linalg.norm(state.old - before)


def test_after_a_false_alarm_the_old_weights_are_soon_the_current_ones_again():
    X, y = flipped(500, 400, 408)
    state = learn(LEARNER, X[:408], y[:408])[1]
    assert state.left > 0.0
    current = learn(LEARNER, X[408:460], y[408:460], state)[1]
    assert current.left == 0.0 and current.trouble < 1.0


def test_rounds_without_a_slope_or_with_a_row_that_is_not_finite_change_nothing():
    state = learn(LEARNER, *stream(100))[1]
    for slope, x in ((0.0, np.ones(5)), (-1.0, np.full(5, math.inf)), (1.0, np.full(5, math.nan))):
        after = LEARNER.update(state, slope, x)
        assert after[2:] == state[2:] and same(after.inner.w, state.inner.w)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: Returning(hf.OGD(hf.Ball(1.0))), "only the weights of OnlineLogistic .* got OGD"),
        (lambda: Returning(INNER, patience=0.0), "patience counts rounds, at least 1: got 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, complaint):
    with pytest.raises((ValueError, TypeError), match=complaint):
        make()
