"""How soon the default is itself again after a burst of wrong targets, and after a lasting change."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.defaults import recommended
from holdfast.steady.player import Steady

_CHANGE, _ROUNDS = 3_000, 5_000


def stream(regression):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((_ROUNDS, 5))
    z = X @ [1.0, -1.0, 0.5, 0.0, 0.3]
    return X, z + 0.3 * rng.standard_normal(_ROUNDS) if regression else np.where(z > 0.0, 1.0, -1.0)


def mistakes(X, y, truth):
    """The error of each forecast one row ahead: how far it is off, or whether the label is wrong."""
    regression = bool(np.any(np.abs(truth) != 1.0))
    loss = hf.Absolute() if regression else hf.Logistic()
    player = recommended(regression)
    found = hf.play(player, hf.Replay(X, y, loss), keep=("predictions",)).predictions
    return np.abs(found - truth) if regression else (found * truth <= 0.0).astype(float)


def rounds_until_usual(errors, first):
    """How many rounds after `first` the mean error of the next 100 is at most 1.5 times the usual one."""
    usual = errors[1_000:_CHANGE].mean()
    for rounds in range(0, 1_000, 10):
        if errors[first + rounds : first + rounds + 100].mean() <= 1.5 * usual + 1e-12:
            return rounds
    return 1_000


@pytest.mark.parametrize("burst", [100, 1_000])
def test_after_a_burst_of_wrong_targets_errors_are_usual_within_100_rounds(burst):
    X, truth = stream(regression=True)
    y = truth.copy()
    y[_CHANGE : _CHANGE + burst] += 50.0 * truth.std()
    assert rounds_until_usual(mistakes(X, y, truth), _CHANGE + burst) <= 100


@pytest.mark.parametrize("burst", [100, 1_000])
def test_after_a_burst_of_wrong_labels_errors_are_usual_within_100_rounds(burst):
    X, truth = stream(regression=False)
    y = truth.copy()
    y[_CHANGE : _CHANGE + burst] *= -1.0
    assert rounds_until_usual(mistakes(X, y, truth), _CHANGE + burst) <= 100


@pytest.mark.parametrize("deviations", [5.0, 1_000.0])
def test_after_a_lasting_change_of_the_target_errors_are_usual_within_300_rounds(deviations):
    X, y = stream(regression=True)
    y[_CHANGE:] += deviations * y.std()
    assert rounds_until_usual(mistakes(X, y, y), _CHANGE) <= 300


@pytest.mark.parametrize(("first", "burst"), [(110, 40), (230, 80)])
def test_an_early_burst_does_not_spoil_the_batch_behind_it(first, burst):
    """Before a few batches were judged, stubborn and agile regressions have not been told apart."""
    X, truth = stream(regression=True)
    y = truth.copy()
    y[first : first + burst] += 50.0 * truth.std()
    replay, keep = hf.Replay(X[:400], y[:400], hf.Absolute()), ("predictions",)
    found = hf.play(recommended(True, delay=50), replay, keep=keep, compiled=False).predictions
    errors = np.abs(found - truth[:400])
    assert errors[first + burst : first + burst + 50].mean() <= 1.5


def test_a_burst_behind_300_rounds_is_withstood_too():
    X, truth = stream(regression=True)
    y = truth.copy()
    y[300:1_200] += 50.0 * truth.std()
    errors = mistakes(X, y, truth)
    assert errors[1_300:1_500].mean() <= 1.5 * errors[2_000:].mean()


@pytest.mark.parametrize(("first", "length"), [(740, 80), (890, 80), (1030, 60)])
def test_the_first_batch_after_a_burst_is_predicted_as_if_there_had_been_none(first, length):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 5))
    truth = X @ [1.0, -1.0, 0.5, 0.0, 0.3] + 0.3 * rng.standard_normal(1500)
    truth += np.cumsum(0.1 * rng.standard_normal(1500))
    y = truth.copy()
    y[first : first + length] += 1_000.0
    game = hf.play(Steady(delay=50), hf.Replay(X, y, hf.Absolute()), keep=("predictions",))
    errors, batch = np.abs(game.predictions - truth), -(-(first + length) // 50) * 50
    assert errors[batch : batch + 50].mean() <= 4.0 * errors[300:first].mean()  # else 100 times
