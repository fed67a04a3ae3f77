"""The trials with many kinds of bad rows: what they corrupt, what they score, and what they print."""

import numpy as np
import pytest

from holdfast.lab.trials import number_trials
from holdfast.lab.trials.corruptions import SPARED
from holdfast.lab.trials.data import Table
from holdfast.lab.trials.number_kinds import BURST, NUMBER_KINDS, corrupt_numbers, first_scored
from holdfast.lab.trials.number_tables import BINS, CHOSEN, REPORTED, next_channel, number_tables, one_hot
from holdfast.lab.trials.number_trials import NumberCell, markdown, summary


def table(rounds=2000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, 3))
    return Table(X, X.sum(axis=1), np.zeros(rounds, bool), True)


@pytest.mark.parametrize("kind", NUMBER_KINDS)
def test_each_kind_changes_only_the_rows_it_marks_and_about_as_many_as_it_says(kind):
    given = table()
    stream = corrupt_numbers(given, kind, 0.1, seed=1)
    changed = (stream.table.X != given.X).any(axis=1) | (stream.table.y != given.y)
    assert (changed == stream.corrupted).all()
    assert stream.truth is given.y
    count = 100 if kind.startswith("start") else 200
    assert 0.6 * count < stream.corrupted.sum() < 1.3 * count
    assert kind.startswith("start") or not stream.corrupted[:SPARED].any()


def test_a_burst_is_one_block_that_is_not_too_long():
    bad = corrupt_numbers(table(30_000), "burst y +50 sd", 0.1, seed=0).corrupted
    assert bad.sum() == BURST and np.ptp(np.flatnonzero(bad)) == BURST - 1


def test_bad_first_rows_are_not_scored_at_once():
    assert first_scored(table(), "start X x1000") == 500
    assert first_scored(table(), "ramp") == SPARED


def test_no_table_is_in_both_halves():
    assert not set(CHOSEN) & set(REPORTED)


def test_tables_are_made_of_others():
    given = table()
    hot = one_hot(given, 1)
    assert hot.X.shape[1] == 2 + BINS and (hot.X[:, 2:].sum(axis=1) == 1.0).all()
    channel = next_channel(given)
    assert (channel.y == given.X[:, 2]).all() and channel.X.shape[1] == 2


def test_a_table_of_scikit_learn_needs_no_folder(tmp_path):
    (tmp_path / "eeg_eye").mkdir()
    (tmp_path / "eeg_eye" / "data.csv.gz").touch()
    assert number_tables(tmp_path, "diabetes", 400)[0].rounds == 400
    assert number_tables(tmp_path, "metro_traffic", 400) == []


def test_the_summary_counts_the_cells_of_each_half():
    cells = [
        NumberCell("diabetes", "ramp", 0.01, 1.01, {"WoLF": 2.0}),
        NumberCell("covid_deaths", "ramp", 0.01, 1.2, {"WoLF": 1.1}),
        NumberCell("covid_deaths", "stuck", 0.01, 1.0, {"WoLF": 1.0}),
    ]
    chosen, reported = summary(cells)
    assert "1 of 1" in chosen
    assert "1 of 2 cells, worst 1.20 (covid_deaths, ramp)" in reported and "ahead in 1" in reported
    assert "| ramp | 0 of 1, worst 1.20 |" in markdown(cells, "about")


def test_a_cell_is_measured_against_the_oracle(monkeypatch):
    monkeypatch.setattr(number_trials, "PEERS", {})
    cell = number_trials.measure("diabetes", [table(300)], "X x1000", 0.05, seeds=1)
    assert cell.ours < 1.2
