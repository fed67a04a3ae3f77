"""Streams in a file: played in pieces, read ahead, and the same game."""

import types

import numpy as np
import pytest
from laws import same

import holdfast as hf
from holdfast import mapped

RULE = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(5))


@pytest.fixture
def rows(tmp_path):
    """A function that writes rows to a file and maps it."""

    def write(count, dim, dtype=np.float32, offset=0):
        X = np.random.default_rng(0).standard_normal((count, dim)).astype(dtype)
        path = tmp_path / "rows"
        path.write_bytes(b"\0" * offset + X.tobytes())
        return X, np.memmap(path, dtype, mode="r", offset=offset, shape=X.shape)

    return write


@pytest.mark.parametrize("offset", [0, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_game_over_a_file_is_the_game_in_memory(rows, monkeypatch, dtype, offset):
    monkeypatch.setattr(mapped, "_PIECE", 10_000)
    X, file = rows(3000, 7, dtype, offset)
    y = np.sign(X[:, 0])
    keep = ("losses", "sizes", "thresholds", "kept", "average", "iterates")
    here = hf.play(RULE, hf.Replay(X, y, hf.Hinge()), keep=keep, compiled=True)
    there = hf.play(RULE, hf.Replay(file, y, hf.Hinge()), keep=keep, compiled=True)
    for name in (*keep, "final"):
        assert same(getattr(here, name), getattr(there, name))
    part = hf.play(RULE, hf.Replay(file, y, hf.Hinge()), rounds=1234, keep=keep, compiled=True)
    rest = hf.play(RULE, part.adversary, keep=keep, after=part, compiled=True)
    assert same(np.concatenate([part.losses, rest.losses]), here.losses)
    assert same(rest.final, here.final)


def test_pieces_cover_all_rounds_and_the_next_is_read_ahead(rows, monkeypatch):
    read = []

    class AtOnce:
        def __init__(self, target, args):
            self.start = lambda: target(*args)

    monkeypatch.setattr(mapped, "_PIECE", 700)
    monkeypatch.setattr(mapped, "_touch", lambda array, first, last: read.append((first, last)))
    monkeypatch.setattr(mapped, "threading", types.SimpleNamespace(Thread=AtOnce))
    X, file = rows(100, 5)
    replay = hf.Replay(file, X[:, 0], hf.Squared())
    handed_out = list(mapped.pieces(replay, 10, 100))
    assert handed_out == [(10, 45), (45, 80), (80, 100)]
    assert read == [(45, 80), (80, 100), (115, 100)]


def test_what_is_in_memory_is_played_in_one_piece():
    replay = hf.Replay(np.ones((50, 2)), np.ones(50), hf.Squared())
    assert list(mapped.pieces(replay, 5, 50)) == [(5, 50)]
    assert list(mapped.pieces(hf.Functions(abs, abs, 7, 1), 0, 7)) == [(0, 7)]


def test_every_page_of_the_rows_is_touched_and_nothing_beyond_the_file(rows):
    _, file = rows(5000, 3)
    mapped._touch(file, 0, 5000)
    mapped._touch(file, 4999, 9999)
    mapped._touch(file, 6000, 7000)
