"""Scaled(missing=share): a missing cell counts as the mean of its column, interpreted and compiled."""

import numpy as np
import pytest
from guards import guarded
from laws import like, same
from samples import slow
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.rounds import Round

LEARNER = hf.AdaGrad(hf.Box(-10.0, 10.0), rate=0.008, ballast=1.0)


def table(rows=400, dim=4, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(100.0, 1.0 + np.arange(dim), (rows, dim))
    y = (X - 100.0).sum(axis=1)
    full = X.copy()
    X[rng.random(X.shape) < share] = np.nan
    return X, y, full


def play(X, y, missing=0.5, compiled=False):
    scaled = hf.Scaled(LEARNER, target=True, missing=missing)
    player = guarded(scaled, hf.TopShare(0.1, slack=4.5))
    return hf.play(player, hf.Replay(X, y, hf.Absolute()), compiled=compiled)


@pytest.mark.parametrize("rows", [slow(np.asarray), slow(np.float32), slow(csr_array)])
def test_filled_games_have_the_same_bits_compiled(rows):
    X, y, _ = table()
    X[7] = np.nan
    X[200, 1] = np.inf
    games = [play(rows(X), y, compiled=compiled) for compiled in (False, True)]
    assert like(games[0].state[0], games[1].state[0])
    assert (games[0].kept == games[1].kept).all()
    assert games[0].unmeasured_count >= 2


def test_missing_cells_do_not_move_a_center():
    X, y, full = table(4000)
    some, all_ = (play(rows, y).state[0].learner for rows in (X, full))
    np.testing.assert_allclose(some.center, all_.center, atol=1.0)
    np.testing.assert_allclose(some.factors, all_.factors, rtol=0.3)


def test_a_missing_cell_is_at_the_center_and_an_infinite_one_is_a_bad_row():
    X, y, _ = table()
    record = play(X, y)
    scaled, state = record.player.learner, record.state[0].learner
    row = scaled.in_units(state, Round(0.0, np.array([np.nan, 101.0, 102.0, 99.0]))).row
    assert row[0] == 0.0 and np.isfinite(row).all()
    assert np.isnan(scaled.in_units(state, Round(0.0, np.array([np.nan, np.nan, np.nan, 99.0]))).row).any()
    assert np.isnan(scaled.in_units(state, Round(0.0, np.array([np.inf, np.nan, 102.0, 99.0]))).row).any()


def test_without_missing_cells_nothing_changes():
    _, y, full = table()
    filled, skipped = (play(full, y, missing=share).state[0].learner for share in (0.5, 0.0))
    assert same(filled._replace(row=skipped.row), skipped)  # `row` is a buffer


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan])
def test_the_share_is_checked(share):
    with pytest.raises(ValueError, match="share of the cells"):
        hf.Scaled(LEARNER, missing=share)
