"""play(progress=True): a bar on terminals and in notebooks, and the same result."""

import io
import sys

import numpy as np
import pytest
from laws import same

import holdfast as hf

PLAYER = hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopK(5))


def game(rounds=2_600):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, 5))
    X[::50] *= 1e4
    return hf.Replay(X, np.sign(X[:, 0]), hf.Logistic())


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_terminal(monkeypatch, has_tqdm=True):
    monkeypatch.setattr(sys, "stderr", Terminal())
    if not has_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    return sys.stderr


@pytest.mark.parametrize("compiled", [False, True, None])
def test_a_game_with_a_bar_has_the_same_bits(compiled):
    bare = hf.play(PLAYER, game(), compiled=compiled)
    shown = hf.play(PLAYER, game(), compiled=compiled, progress=True)
    for name in ("losses", "sizes", "thresholds", "kept", "final", "average"):
        assert same(getattr(shown, name), getattr(bare, name))
    assert (shown.rounds, shown.kept_count) == (bare.rounds, bare.kept_count)


def test_a_game_with_a_bar_can_be_continued(monkeypatch):
    on_terminal(monkeypatch)
    replay = game()
    first = hf.play(PLAYER, replay, 2_200, progress=True)
    assert same(hf.play(PLAYER, replay, after=first, progress=True).final, hf.play(PLAYER, replay).final)


def test_the_bar_is_that_of_tqdm(capsys, monkeypatch):
    screen = on_terminal(monkeypatch)
    hf.play(PLAYER, game(), progress=True)
    assert "2.60k/2.60k" in screen.getvalue() and "rounds/s" in screen.getvalue()
    assert capsys.readouterr().out == ""


def test_without_tqdm_it_is_a_line_that_is_removed_at_the_end(monkeypatch):
    screen = on_terminal(monkeypatch, has_tqdm=False)
    hf.play(PLAYER, game(), progress=True)
    shown = [text.removeprefix("\033[K") for text in screen.getvalue().split("\r") if text]
    assert shown == [f"{percent} % of 2,600 rounds" for percent in (77, 100)] + [""]


@pytest.mark.parametrize("rounds", [0, 1])
def test_a_short_game_may_have_a_bar(monkeypatch, rounds):
    on_terminal(monkeypatch, has_tqdm=False)
    assert hf.play(PLAYER, game(), rounds, progress=True).rounds == rounds


def test_nothing_is_shown_elsewhere_or_by_default(capsys, monkeypatch):
    hf.play(PLAYER, game(), progress=True)
    assert capsys.readouterr() == ("", "")
    screen = on_terminal(monkeypatch)
    hf.play(PLAYER, game())
    assert screen.getvalue() == ""
