"""When the rounds of a run are compiled."""

from types import SimpleNamespace

import numpy as np
import pytest
from runs.small import write_source

from holdfast.io.rows import DenseRows
from holdfast.io.sources import Piece
from holdfast.runs import compile_choice
from holdfast.runs.beginning import begin
from holdfast.runs.config import Settings


@pytest.fixture
def choice(tmp_path, monkeypatch):
    """The choice of a run, if the compiled game is on disk."""
    source, settings = write_source(tmp_path / "rows.csv"), Settings("y", learner="adagrad", drop=("who",))
    run, inputs, _ = begin([str(source)], settings, tmp_path / "run", lambda text: None)
    inputs.close()
    run.folder.close()
    monkeypatch.setattr(compile_choice, "_is_stored", lambda args: True)
    return run.compiling


def piece_of(rows):
    return Piece(DenseRows(np.ones((rows, 2))), np.ones(rows), None, np.arange(rows), {}, None, 0, None, {})


@pytest.mark.parametrize(
    ("rows", "before", "expected", "compiled"),
    [(10, 0, 0, False), (10, 0, 9_000, True), (10, 9_000, 0, True), (9_000, 0, 0, True)],
)
def test_a_stored_game_is_used_if_many_rounds_come_or_came(choice, rows, before, expected, compiled):
    choice.expected = expected  # 0 if the source is a pipe, or is followed
    choice.decide(piece_of(rows), before, None)
    assert choice.compiled == compiled


def test_the_seconds_of_the_compiler_are_not_those_of_learning(choice, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(compile_choice, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(compile_choice, "_is_stored", lambda args: False)
    monkeypatch.setattr(compile_choice, "can_compile", lambda is_long: True)
    monkeypatch.setattr(compile_choice, "prepare", lambda function, *args: clock.__setitem__(0, 60.0))
    choice.expected = 1_000_000
    choice.decide(piece_of(10), 0, lambda text: None)
    choice.decide(piece_of(10), 10, lambda text: None)
    assert (choice.compiled, choice.seconds) == (True, 60.0)
