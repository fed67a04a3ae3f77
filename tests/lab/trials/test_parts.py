"""The player made of parts: it follows a change, and withstands single wild rows and targets."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.lab.trials.parts import forgetful

ROUNDS, CHANGE = 1_200, 600


def errors(change):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROUNDS, 2))
    y = X @ [1.0, -1.0] + 0.1 * rng.standard_normal(ROUNDS)
    X, y = change(X, y)
    player = forgetful(memory=60, patience=50, window=200)
    replay = hf.Replay(X, y, hf.Absolute())
    return np.abs(hf.play(player, replay, keep=("predictions",), compiled=False).predictions - y)


def shifted(X, y):
    y[CHANGE:] += 50.0
    return X, y


def in_other_units(X, y):
    X[CHANGE:] *= 100.0
    return X, y


def turned(X, y):
    return X, np.where(np.arange(ROUNDS) < CHANGE, y, -y)


@pytest.mark.parametrize("change", [shifted, in_other_units, turned])
def test_it_follows_a_change(change):
    assert errors(change)[-200:].mean() < 0.15


def test_it_withstands_wild_rows_and_targets():
    wild = np.arange(300, ROUNDS, 20)

    def corrupt(X, y):
        X[wild[::2]] *= 1e6
        y[wild[1::2]] -= 1e6
        return X, y

    kept = np.ones(ROUNDS, bool)
    kept[:300], kept[wild] = False, False
    assert errors(corrupt)[kept].mean() < 0.15
