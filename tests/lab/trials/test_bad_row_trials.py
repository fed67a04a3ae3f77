"""The trials with many kinds of bad rows: what they corrupt, what they score, and what they print."""

import math

import numpy as np
import pytest

from holdfast.lab.trials import bad_row_trials
from holdfast.lab.trials.bad_row_trials import FOR_LABELS, FOR_NUMBERS, Cell, markdown, measure, over, summary
from holdfast.lab.trials.bad_rows import BURST, LABEL_KINDS, NUMBER_KINDS, corrupt_rows, first_scored
from holdfast.lab.trials.corruptions import SPARED
from holdfast.lab.trials.data import Table
from holdfast.lab.trials.halves import BINS, LABELS, NUMBERS, ORDERS, next_channel, one_hot


def table(rounds=2000, regression=True):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, 3))
    y = X.sum(axis=1)
    return Table(X, y if regression else np.where(y > 0.0, 1.0, -1.0), np.zeros(rounds, bool), regression)


@pytest.mark.parametrize(
    ("kind", "regression"),
    [*((kind, True) for kind in NUMBER_KINDS), *((kind, False) for kind in LABEL_KINDS)],
)
def test_each_kind_changes_only_the_rows_it_marks_and_about_as_many_as_it_says(kind, regression):
    given = table(regression=regression)
    stream = corrupt_rows(given, kind, 0.1, seed=1)
    changed = (stream.table.X != given.X).any(axis=1) | (stream.table.y != given.y)
    assert (changed == stream.corrupted).all()
    assert stream.truth is given.y
    count = 100 if kind.startswith("start") else 200
    assert 0.6 * count < stream.corrupted.sum() < 1.3 * count
    assert kind.startswith("start") or not stream.corrupted[:SPARED].any()
    assert regression or set(stream.table.y) == {-1.0, 1.0}


def test_a_burst_is_one_block_that_is_not_too_long():
    bad = corrupt_rows(table(30_000), "burst y +50 sd", 0.1, seed=0).corrupted
    assert bad.sum() == BURST and np.ptp(np.flatnonzero(bad)) == BURST - 1


def test_bad_first_rows_are_not_scored_at_once():
    assert first_scored(table(), "start X x1000") == 500
    assert first_scored(table(), "ramp") == SPARED


@pytest.mark.parametrize("halves", [NUMBERS, LABELS], ids=["numbers", "labels"])
def test_no_table_is_in_both_halves(halves):
    assert not set(halves.chosen) & set(halves.reported)


def test_tables_are_made_of_others():
    given = table()
    hot = one_hot(given, 1)
    assert hot.X.shape[1] == 2 + BINS and (hot.X[:, 2:].sum(axis=1) == 1.0).all()
    channel = next_channel(given)
    assert (channel.y == given.X[:, 2]).all() and channel.X.shape[1] == 2


def test_a_table_of_scikit_learn_or_river_needs_no_folder(tmp_path):
    (tmp_path / "eeg_eye").mkdir()
    (tmp_path / "eeg_eye" / "data.csv.gz").touch()
    assert NUMBERS.streams(tmp_path, "diabetes", 400)[0].rounds == 400
    assert NUMBERS.streams(tmp_path, "metro_traffic", 400) == []
    for name in ("Phishing", "ImageSegments", "breast_cancer", "digits", "Bananas, one-hot"):
        found, *_ = LABELS.streams(tmp_path, name, 300)
        assert set(found.y) == {-1.0, 1.0} and found.rounds == 300 and not found.regression


def test_a_short_table_without_an_order_in_time_is_played_in_many_orders(tmp_path):
    (tmp_path / "eeg_eye").mkdir()
    (tmp_path / "eeg_eye" / "data.csv.gz").touch()
    for halves, name in ((NUMBERS, "diabetes"), (LABELS, "Phishing"), (LABELS, "breast_cancer")):
        streams, again = (halves.streams(tmp_path, name, 10**9) for _ in range(2))
        first, second = (np.column_stack([each.X, each.y]) for each in streams[:2])
        assert len(streams) == ORDERS and (first != second).any()
        assert sorted(map(tuple, first)) == sorted(map(tuple, second))
        assert all((one.y == other.y).all() for one, other in zip(streams, again, strict=True))
    assert len(LABELS.streams(tmp_path, "ImageSegments", 300)) == 1


def test_the_summary_counts_the_cells_of_each_half():
    cells = [
        Cell("diabetes", "ramp", 0.01, 0.5, 1.01, {"WoLF": 2.0}),
        Cell("covid_deaths", "ramp", 0.01, 0.5, 1.2, {"WoLF": 1.1}),
        Cell("covid_deaths", "stuck", 0.01, 0.5, 1.0, {"WoLF": 1.0}),
        Cell("eeg channel", "clean", 0.0, 0.5, 1.0, {"WoLF": 0.9}),
    ]
    chosen, clean, reported = summary(cells, NUMBERS)
    assert clean == "reported half, clean: a peer more than 3 % ahead in 1 of 1 (eeg channel)"
    assert "1 of 1" in chosen
    assert "1 of 2 cells, worst 1.20 (covid_deaths, ramp)" in reported and "ahead in 1" in reported
    text = markdown(cells, NUMBERS, "about")
    assert (
        "| ramp | 0 of 1, worst 1.20, covid_deaths |" in text
        and "| eeg channel | 0.5 | 1.00 | 0.90 |" in text
    )


@pytest.mark.parametrize("regression", [True, False])
def test_a_cell_is_measured_against_the_oracle(regression):
    cell = measure({}, "mine", [table(300, regression)], "X x1000", 0.05, seeds=1)
    assert cell.ours < 1.2


def test_an_oracle_without_mistakes_is_no_division_by_zero():
    assert (over(0.0, 0.0), over(0.1, 0.0), over(3.0, 2.0)) == (1.0, math.inf, 1.5)


def test_the_table_is_written_between_the_markers_of_its_option(tmp_path, monkeypatch):
    monkeypatch.setattr(bad_row_trials, "SHARES", (0.05,))
    monkeypatch.setattr(bad_row_trials, "_FEW", 300)
    few = FOR_LABELS._replace(kinds={"flips": LABEL_KINDS["flips"]}, peers={})
    few = few._replace(halves=LABELS._replace(reported={"breast_cancer": LABELS.reported["breast_cancer"]}))
    page = tmp_path / "page.md"
    page.write_text("\n".join(["before", *few.markers, "after", *FOR_NUMBERS.markers]))
    bad_row_trials.hold_trials_of(few, tmp_path, quick=True, page=page, reported=True)
    assert (
        "| flips | " in page.read_text() and "--labels --quick --reported --write page.md" in page.read_text()
    )
    assert page.read_text().startswith("before") and page.read_text().endswith(FOR_NUMBERS.markers[1])
