"""When a game is compiled: counted in calls, with a disk that is not there."""

import math
import sys

import numpy as np
import pytest
from laws import WITH_AVERAGE

import holdfast as hf
from holdfast import _compiled
from holdfast._compiled import calls, compiling
from holdfast._compiled.compiling import FEW, LOADING, WORTH_COMPILING, choose, expecting

ARGS = (hf.TopK(1), np.zeros(3))


class Disk:
    """Counts the looks at a disk; `has` says whether the game is on it."""

    def __init__(self):
        self.has, self.ready, self.others, self.looks = False, False, True, 0

    def has_others(self):
        return self.others

    def is_stored(self, *args):
        self.looks += 1
        return self.has

    def is_ready(self, *args):
        return self.ready


@pytest.fixture
def disk(monkeypatch):
    found = Disk()
    monkeypatch.setattr(compiling, "_on_disk", {})
    monkeypatch.setattr(compiling, "_interpreted", [0])
    for name in ("has_others", "is_ready", "is_stored"):
        monkeypatch.setattr(calls, name, getattr(found, name))
    monkeypatch.setattr(compiling, "is_empty", lambda: False)
    return found


def chosen(rounds, before=0, args=ARGS):
    return choose("call", max, args, rounds, before)


def test_a_game_on_disk_is_used_from_a_few_rounds_on(disk):
    disk.has = True
    assert not chosen(FEW - 1) and disk.looks == 0
    assert chosen(FEW) and chosen(100, before=FEW) and disk.looks == 1


def test_fewer_rounds_are_enough_if_a_round_takes_long_in_python(disk):
    disk.has = True
    disk.others = False
    with expecting(LOADING // 10, cost=10):
        assert chosen(100)
    disk.has = False
    with expecting(WORTH_COMPILING - 1, cost=10):
        assert not chosen(100, args=(hf.TopK(2), 1.0))  # compiling takes long too


def test_the_disk_is_looked_at_once(disk):
    assert not any(chosen(WORTH_COMPILING - 1) for _ in range(5))
    assert disk.looks == 1


def test_the_disk_is_looked_at_only_if_the_process_plays_many_rounds(disk):
    disk.has = True
    disk.others = False
    assert not chosen(LOADING - 1) and disk.looks == 0
    compiling.count_interpreted(LOADING)
    assert chosen(100)


def test_what_this_process_has_compiled_is_used(disk):
    assert not chosen(FEW)
    disk.ready = True
    assert chosen(FEW) and disk.looks == 1


def test_a_function_of_the_user_is_compiled_only_for_long_games(disk):
    assert not chosen(WORTH_COMPILING - 1, args=(len,)) and chosen(WORTH_COMPILING, args=(len,))
    assert disk.looks == 0


def test_an_empty_cache_is_not_looked_at(disk, monkeypatch):
    disk.others = False
    monkeypatch.setattr(compiling, "is_empty", lambda: True)
    assert not chosen(WORTH_COMPILING - 1) and disk.looks == 0


def test_long_games_are_compiled(disk):
    assert not chosen(WORTH_COMPILING - 1) and chosen(WORTH_COMPILING)
    with expecting(WORTH_COMPILING):
        assert chosen(100)


def test_all_is_compiled_at_once_where_that_is_wanted(disk):
    with expecting(math.inf):
        assert chosen(1) and disk.looks == 0


def test_without_numba_nothing_is_compiled_and_the_log_says_so_once(disk, monkeypatch, caplog):
    monkeypatch.setattr(calls, "has_numba", lambda: False)
    calls._say_once.cache_clear()
    assert not chosen(FEW) and caplog.messages == []
    assert not chosen(WORTH_COMPILING) and not chosen(WORTH_COMPILING)
    (message,) = caplog.messages
    assert "pip install 'holdfast[compile]'" in message


def test_a_game_goes_over_to_compiled_rounds_with_the_same_bits(monkeypatch):
    answers = iter([False, False, True])
    monkeypatch.setattr(sys.modules["holdfast.play"], "choose", lambda *args: next(answers))
    monkeypatch.setattr(sys.modules["holdfast.play"], "_PIECE", 300)
    made, call = [], _compiled.call
    monkeypatch.setattr(
        _compiled, "call", lambda function, *args: made.append(args[-2:]) or call(function, *args)
    )
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, 3)), np.sign(rng.standard_normal(1000))
    player, replay = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(5)), hf.Replay(X, y, hf.Logistic())
    changed, whole = (hf.play(player, replay, keep=WITH_AVERAGE, compiled=c) for c in (None, False))
    assert made == [(600, 1000)]
    for name in (*WITH_AVERAGE, "final"):
        assert getattr(changed, name).tobytes() == getattr(whole, name).tobytes()
