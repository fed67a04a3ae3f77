"""Games that go on in place, a few rows at a time."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from laws import same
from scipy.sparse import csr_array

import holdfast as hf
from holdfast._compiled.compiling import expecting
from holdfast.continuing import Game
from holdfast.defaults import recommended

PLAYER = hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopK(5))
EXACT = hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.Quantile(0.9, exact=True))
WINDOWED = hf.Filtered(hf.AdaGrad(hf.Box(-1.0, 1.0)), hf.TopShare(0.1, window=30))
KEEP = ("sizes", "thresholds", "kept", "refused_by", "farthest")


def rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.sign(rng.standard_normal(60))
    X[7], X[20, 1] = 1e9, math.nan
    return X, y


def part(first, last):
    X, y = rows()
    return hf.Replay(X[first:last], y[first:last], hf.Logistic())


def game_after(last):
    game = Game(PLAYER, part(0, last))
    game.play(part(0, last), KEEP)
    return game


both = pytest.mark.parametrize("expected", [0, math.inf], ids=["interpreted", "compiled"])


@both
def test_rows_one_by_one_are_one_game(expected):
    whole, game, given = hf.play(PLAYER, part(0, 60), keep=KEEP), Game(PLAYER, part(0, 60)), []
    with expecting(expected):
        for first, last in itertools.pairwise([0, 10, *range(11, 40), 45, 60]):
            given.append(game.play(part(first, last), KEEP))
            assert game.is_native == (expected > 0)
    for name in KEEP:  # no call has written into the columns of an earlier one
        assert same(np.concatenate([getattr(columns, name) for columns in given]), getattr(whole, name))
    assert same(game.state, whole.state[0])
    counts = (game.rounds, game.kept_count, game.unmeasured_count)
    assert counts == (60, whole.kept_count, whole.unmeasured_count)


def test_compiled_rows_convert_no_state(monkeypatch):
    with expecting(math.inf):
        game = game_after(10)
    monkeypatch.setattr("holdfast._compiled.bind_state", None)
    monkeypatch.setattr("holdfast._compiled.programs.State.first", None)
    for first, last in itertools.pairwise([10, 11, 12, 40, 60]):
        game.play(part(first, last), KEEP)
    assert game.rounds == 60


@both
@pytest.mark.parametrize("copied", [Game.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_a_copy_goes_on_by_itself(expected, copied):
    with expecting(expected):
        first = game_after(30)
        w = first.state.learner.w.copy()
        one, other = copied(first), copied(first)
        one.play(part(30, 60), KEEP)
        assert same(first.state.learner.w, w) and not same(one.state.learner.w, w)
        assert same(other.state.learner.w, w) and first.rounds == other.rounds == 30
        for game in (first, other):
            game.play(part(30, 60), KEEP)
            assert same(one.state, game.state) and game.kept_count == one.kept_count


def test_an_interrupted_game_cannot_go_on(monkeypatch):
    game = game_after(30)

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("holdfast.continuing.play_batch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            game.play(part(30, 60), KEEP)
    with pytest.raises(ValueError, match="interrupted: play again from the start"):
        game.play(part(30, 60), KEEP)


@both
def test_weights_and_sparse_rows_go_on_too(expected):
    X, y = rows()
    X[X < 0.0] = 0.0
    weighted = hf.adversaries.Weighted(hf.Replay(X, y, hf.Logistic()), np.full(60, 2.0))
    sparse, again = (hf.Replay(csr_array(X), y, hf.Logistic()) for _ in range(2))
    for second in (weighted, sparse):
        start = weighted.inner if second is weighted else second
        with expecting(expected):
            game = Game(PLAYER, start)
            game.play(start, KEEP)
            columns = game.play(second, KEEP)
        half = hf.play(PLAYER, start, keep=KEEP)
        whole = hf.play(PLAYER, second if second is weighted else again, keep=KEEP, after=half)
        assert same(game.state, whole.state[0]) and same(columns.sizes, whole.sizes)


def counts_in(value, path=()):
    """The paths of all whole numbers in a state, and in its arrays."""
    if isinstance(value, tuple):
        return [found for i, item in enumerate(value) for found in counts_in(item, (*path, i))]
    if isinstance(value, np.ndarray):
        return [(*path, i) for i in range(min(value.size, 3)) if value.flat[i] == np.floor(value.flat[i])]
    return [path] if isinstance(value, int) and not isinstance(value, bool) else []


def damaged(value, path, number):
    if not path:
        return number
    i, *rest = path
    if isinstance(value, np.ndarray):
        changed = value.copy()
        changed.flat[i] = number
        return changed
    items = [damaged(item, rest, number) if j == i else item for j, item in enumerate(value)]
    return tuple.__new__(type(value), items)


@pytest.mark.parametrize("make", [recommended(True), recommended(False), EXACT, WINDOWED], ids=range(4))
def test_a_damaged_count_is_refused_or_no_later_round_notices(make):
    replay = part(0, 40)
    game = Game(make, replay)
    game.play(replay, KEEP)
    stored, refused = game.__getstate__(), 0
    for path in counts_in(game.state):
        for number in (-3, 2**40):
            other = object.__new__(Game)
            state = damaged(game.state, path, number)
            try:
                other.__setstate__(copy.deepcopy(stored | {"_state": state}))
            except ValueError as problem:
                assert "damaged" in str(problem)
                refused += 1
            else:
                other.play(part(0, 20), KEEP)
    assert refused > 0
