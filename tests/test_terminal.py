"""Output is printable and of limited length, and JSON keeps its values."""

import json
import sys

import pytest

from holdfast import terminal
from holdfast.terminal import quoted, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode 数", "plain, ünïcode 数"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("two\nlines\r\tand a tab", r"two\nlines\r\tand a tab"),
        ("\x7f\x9b31m", r"\x7f\x9b31m"),
        ("\u202egnp.exe\u2066", r"\u202egnp.exe\u2066"),
        ("\u2028\u200b\ufeff", r"\u2028\u200b\ufeff"),
        ("name-\udcff.csv", r"name-\xff.csv"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
    ],
)
def test_invisible_characters_are_escaped(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown


def test_long_text_is_cut_after_escaping():
    assert visible("x" * 80, 80) == "x" * 80
    assert visible("x" * 81, 80) == "x" * 79 + "…"
    assert visible("\x1b" * 30, 80) == (r"\x1b" * 30)[:79] + "…"
    assert quoted("x" * 100_000) == f"'{'x' * 79}…'"


def test_a_line_is_one_line_and_not_longer_than_a_screen(capsys):
    terminal.tell("a\nb", "c")
    assert capsys.readouterr().out == "a\\nb\nc\n"
    terminal.complain(f"{'x' * 100_000}: give it another name")
    said = capsys.readouterr().err
    assert len(said) < 5_000
    assert said.startswith("holdfast: xxx") and said.endswith("xxx: give it another name\n")


def test_json_has_the_value_and_no_control_characters(capsys):
    found = {"\x1b[2J\x7f\x9b": ["\u202e", "é", "x" * 100_000, "\udcff", 17]}
    terminal.show(found)
    out = capsys.readouterr().out
    assert json.loads(out) == found
    assert out.isascii() and out.removesuffix("\n").isprintable()


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, "\r\033[Khalf\r"), (False, "")])
def test_progress_is_written_only_to_terminals(is_terminal, shown, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    terminal.overwrite("half")
    assert capsys.readouterr().err == shown
