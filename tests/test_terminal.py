"""Printed text is printable and of a bounded length; JSON keeps its values."""

import io
import json
import math
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


def test_long_text_is_cut_also_if_only_its_escapes_are_long():
    assert visible("x" * 80, 80) == "x" * 80
    assert visible("x" * 81, 80) == "x" * 79 + "…"
    assert visible("\x1b" * 30, 80) == (r"\x1b" * 30)[:79] + "…"
    assert quoted("x" * 100_000) == f"'{'x' * 79}…'"


def test_a_printed_line_is_one_line_of_a_bounded_length(capsys):
    terminal.tell("a\nb", "c")
    assert capsys.readouterr().out == "a\\nb\nc\n"
    terminal.print_error(f"{'x' * 100_000}: give it another name")
    error = capsys.readouterr().err
    assert len(error) < 5_000
    assert error.startswith("holdfast: xxx") and error.endswith("xxx: give it another name\n")


def test_json_keeps_the_value_and_is_printable_ascii(capsys):
    found = {"\x1b[2J\x7f\x9b": ["\u202e", "é", "x" * 100_000, "\udcff", 17]}
    terminal.print_json(found)
    out = capsys.readouterr().out
    assert json.loads(out) == found
    assert out.isascii() and out.removesuffix("\n").isprintable()


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, "\r\033[Khalf\r"), (False, "")])
def test_progress_is_shown_on_terminals_only(is_terminal, shown, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    terminal.overwrite("half")
    assert capsys.readouterr().err == shown


def test_the_progress_line_has_a_bar_and_the_time_left(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    seconds = iter([100.0, 100.0, 105.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(seconds))
    line = terminal.ProgressLine()
    line.show("one of {four}\x1b", 1, 4)
    line.show("two", 2, 4)
    line.show("many")  # of an unknown total
    _, first, second, third = capsys.readouterr().err.split("\r\033[K")
    assert first == "███░░░░░░░░░  25 %  one of {four}\\x1b\r"
    assert second == "██████░░░░░░  50 %  00:10 left, two\r"
    assert third == "many\r"


def test_the_progress_line_is_not_wider_than_the_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(terminal, "_columns", lambda stream: 40)
    terminal.ProgressLine().show("x" * 100, 1, 2)
    assert len(capsys.readouterr().err.strip("\r").removeprefix("\033[K")) == 39


def test_in_a_cell_of_a_notebook_a_shorter_line_covers_a_longer_one(monkeypatch):
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    cell = OutStream()
    monkeypatch.setattr(sys, "stderr", cell)
    assert terminal.is_live(cell) and not terminal.is_live(io.StringIO())
    for text in ("a long line", "short"):
        terminal.overwrite(text)
    lines = [line for line in cell.getvalue().split("\r") if line]
    assert [line.rstrip() for line in lines] == ["a long line", "short"]
    assert len(lines[0]) == len(lines[1]) and "\033" not in cell.getvalue()


def test_on_a_terminal_lines_end_between_words_and_paths_stay_whole(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "_columns", lambda stream: 20)
    text, path = "  one two three four five six", "The run: /a/long/path/of/a/run"
    terminal.tell(text, path)
    assert capsys.readouterr().out == f"{text}\n{path}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    terminal.tell(text, path, "short")
    expected = "  one two three four\n    five six\nThe run:\n  /a/long/path/of/a/run\nshort\n"
    assert capsys.readouterr().out == expected


def test_a_progress_line_that_is_too_long_loses_whole_figures(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "_columns", lambda stream: 20)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for text, shown in (("12,000 rounds, 15 % skipped", "12,000 rounds"), ("x" * 30, "x" * 19)):
        terminal.overwrite(text)
        assert capsys.readouterr().err == f"\r\033[K{shown}\r"


@pytest.mark.parametrize(
    ("value", "text"),
    [(236900.0, "236,900"), (1013.26, "1,013.3"), (0.1207, "0.1207"), (12.5, "12.5"), (math.inf, "inf")],
)
def test_numbers_are_shown_as_people_write_them(value, text):
    assert terminal.shown(value) == text
