"""The trial of intervals: its methods, its cells and its table."""

import numpy as np
import pytest

from holdfast_lab import interval_picture
from holdfast_lab.trials import intervals
from holdfast_lab.trials.data import Table
from holdfast_lab.trials.intervals import (
    METHODS,
    ORACLE,
    OURS,
    IntervalCell,
    Scored,
    adaptive,
    goals,
    markdown,
)

SCORES = np.random.default_rng(0).exponential(size=1_500)
GOOD = np.ones(1_500, bool)


def rows(scores=SCORES, good=GOOD, other=None):
    return Scored(scores, good, GOOD, other)


def test_each_method_has_a_width_for_every_row_and_covers_about_its_share():
    for name, method in METHODS.items():
        if name in (OURS, "without a filter"):
            continue  # they are compiled; tests/intervals has their tests
        widths = method(rows())
        assert widths.shape == SCORES.shape and (widths >= 0.0).all(), name
        assert (widths >= SCORES)[300:].mean() == pytest.approx(0.9, abs=0.03), name


def test_the_adaptive_level_follows_the_misses():
    scores = SCORES.copy()
    scores[700:] *= 3.0
    assert (scores <= adaptive(rows(scores)))[900:].mean() == pytest.approx(0.9, abs=0.03)


def test_the_oracle_does_not_see_bad_rows():
    scores, good = SCORES.copy(), np.arange(1_500) % 5 != 4
    scores[~good] = 1e9
    assert METHODS[ORACLE](rows(scores, good)).max() == np.inf
    assert METHODS[ORACLE](rows(scores, good))[100:].max() < 10.0


def test_a_cell_counts_good_rows_only(monkeypatch):
    rng = np.random.default_rng(1)
    table = Table(np.zeros((1_500, 1)), rng.exponential(size=1_500), np.zeros(1_500, bool), True)
    monkeypatch.setattr(intervals, "scored", lambda stream, delay: rows(np.abs(stream.table.y), stream.good))
    methods = {OURS: lambda rows: np.full(1_500, np.log(10.0)), ORACLE: METHODS[ORACLE]}
    cell = intervals.measure("made", "targets x -1000", 0.1, 50, [table], methods)
    assert (cell.data, cell.kind, cell.delay) == ("made", "10% targets x -1000", 50)
    assert cell.missed[OURS] == pytest.approx(0.1, abs=0.03)
    assert cell.widths[OURS] == pytest.approx(1.0, abs=0.1)


def test_goals_name_the_cells_that_miss_them():
    fine = IntervalCell("a", "clean", 1, {OURS: 0.1}, {OURS: 0.2}, {OURS: 1.0})
    poor = IntervalCell("b", "clean", 1, {OURS: 0.2}, {OURS: 0.5}, {OURS: 2.0})
    assert all(goal.met() for goal in goals([fine]))
    assert [goal.short for goal in goals([fine, poor])] == [["b, clean, delay 1"]] * 3
    assert "| ours | 0.150 | 50% |" in markdown([fine, poor], "about")


def test_the_picture_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(interval_picture, "METHODS", METHODS | {OURS: METHODS["rolling quantile"]})
    interval_picture.draw(tmp_path / "intervals.png")
    assert (tmp_path / "intervals.png").read_bytes()[:4] == b"\x89PNG"
