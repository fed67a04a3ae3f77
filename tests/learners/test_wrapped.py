"""`Scaled` and the guard work around each learner, in both worlds and on sparse rows."""

import copy

import numpy as np
import pytest
from guards import guarded
from laws import like, same
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.learners import ENTRIES

KEEP = ("losses", "sizes", "thresholds", "kept", "predictions")
COLUMNS = ("losses", "sizes", "thresholds", "kept", "predictions", "final")
every_learner = pytest.mark.parametrize("name", ENTRIES)


def stream(sparse=False):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 3)) * [1.0, 50.0, 0.02]
    X[rng.random(X.shape) < (0.5 if sparse else 0.0)] = 0.0
    y = X @ [1.0, 0.02, -50.0] + 0.1 * rng.standard_normal(300)
    X[200], y[215], X[220, 1], y[221] = 1e9, -1e9, np.nan, np.inf
    return hf.Replay(csr_array(X) if sparse else X, y, hf.Squared())


def behind_a_guard(name, target=True):
    learner = hf.Scaled(ENTRIES[name].learner, target=target, clip=1e3)
    return guarded(learner, hf.TopK(25), hf.TopK(25), hf.Everything())


@pytest.mark.exhaustive  # compiling takes 10 s each, and test_checks.py has one of them
@every_learner
def test_the_guard_around_a_scaled_learner_gives_the_same_bits_in_both_worlds(name):
    worlds = [
        hf.play(behind_a_guard(name), stream(), keep=KEEP, compiled=compiled) for compiled in (False, True)
    ]
    for column in COLUMNS:
        assert same(*(getattr(record, column) for record in worlds)), column
    assert like(worlds[0].state, worlds[1].state)


@every_learner
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_what_the_guard_skips_leaves_every_bit_of_the_learner(name, sparse):
    player, replay = behind_a_guard(name), stream(sparse)
    record = hf.play(player, replay, keep=KEEP, compiled=False)
    assert not record.kept[[200, 215, 220, 221]].any() and record.kept[100:].mean() > 0.9
    state = hf.play(player, replay, 200, keep=(), compiled=False).state[0]
    before = copy.deepcopy(state.learner.inner)
    x = np.full(3, 1e9)
    player.observe(state, Round(1.0, x, 1.0))
    assert same(before, state.learner.inner)


@every_learner
def test_the_guard_goes_around_the_learner_itself(name):
    entry = ENTRIES[name]
    player = guarded(entry.learner, hf.TopK(2), hf.TopK(2), hf.TopK(2), on=entry.on)
    record = hf.play(player, stream(), keep=KEEP, compiled=False)
    assert not record.kept[[200, 220, 221]].any() and record.kept.mean() > 0.5
    assert np.isfinite(record.final).all()
