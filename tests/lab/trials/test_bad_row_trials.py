"""The trials with many kinds of bad rows: what they corrupt, what they score, and what they print."""

import math

import numpy as np
import pytest

from holdfast_lab.trials import bad_row_trials, halves
from holdfast_lab.trials.bad_row_summary import Cell, markdown, summary
from holdfast_lab.trials.bad_row_trials import FOR_LABELS, FOR_NUMBERS, TrialSize, measure, over
from holdfast_lab.trials.bad_rows import BURST, LABEL_KINDS, NUMBER_KINDS, corrupt_rows, first_scored
from holdfast_lab.trials.contestants import RIVER, TUNED, Contestant, by_default, constant_sgd, tuned_sgd
from holdfast_lab.trials.corruptions import SPARED
from holdfast_lab.trials.data import Table
from holdfast_lab.trials.halves import BINS, LABELS, NUMBERS, ORDERS, next_channel, one_hot


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


@pytest.mark.parametrize("both", [NUMBERS, LABELS], ids=["numbers", "labels"])
def test_no_table_is_in_both_halves(both):
    assert not set(both.chosen) & set(both.reported)


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
    for both, name in ((NUMBERS, "diabetes"), (LABELS, "Phishing"), (LABELS, "breast_cancer")):
        streams, again = (both.streams(tmp_path, name, 10**9) for _ in range(2))
        first, second = (np.column_stack([each.X, each.y]) for each in streams[:2])
        assert len(streams) == ORDERS and (first != second).any()
        assert sorted(map(tuple, first)) == sorted(map(tuple, second))
        assert all((one.y == other.y).all() for one, other in zip(streams, again, strict=True))
    assert len(LABELS.streams(tmp_path, "ImageSegments", 300)) == 1


def cell(data, kind, share, ours, peer, delay=1):
    return Cell(data, kind, share, delay, 0.5, ours, {"WoLF": peer}, {"WoLF": peer / ours})


def test_the_summary_counts_the_cells_of_each_half_and_delay():
    cells = [
        cell("diabetes", "ramp", 0.01, 1.01, 2.0),
        cell("covid_deaths", "ramp", 0.01, 1.2, 1.1),
        cell("covid_deaths", "stuck", 0.01, 1.0, 1.0),
        cell("eeg channel", "clean", 0.0, 1.0, 0.9),
        cell("covid_deaths", "ramp", 0.01, 1.3, 1.3, delay=50),
    ]
    chosen, clean, reported, late = summary(cells, NUMBERS)
    assert clean == "reported half, delay 1, clean: a peer more than 3 % ahead in 1 of 1 (eeg channel)"
    assert chosen.startswith("chosen half, delay 1, 1% bad") and "1 of 1" in chosen
    assert "1 of 2 cells, worst 1.20 (covid_deaths, ramp)" in reported and "ahead in 1" in reported
    assert late.startswith("reported half, delay 50, 1% bad") and "ahead in 0" in late
    text = markdown(cells, NUMBERS, "about")
    assert "| ramp | 1 | 0 of 1, worst 1.20, covid_deaths |" in text
    assert "| ramp | 50 | 0 of 1, worst 1.30, covid_deaths |" in text
    assert "| eeg channel | 1 | 0.5 | 1.00 | 0.90 |" in text


@pytest.mark.parametrize("delay", [1, 20])
@pytest.mark.parametrize("regression", [True, False])
def test_a_cell_is_measured_against_the_oracle(regression, delay):
    found = measure({}, "mine", [table(300, regression)], "X x1000", 0.05, seeds=1, delay=delay)
    assert found.ours < 1.2 and found.delay == delay


def test_a_slow_peer_is_compared_on_the_rounds_it_meets():
    slow = {"slow": Contestant(by_default, is_slow=True)}
    tables = [table(200), table(200)]
    found = measure(slow, "mine", tables, "y mirrored", 0.1, seeds=1, slow_rounds=250)
    assert found.to_ours == {"slow": 1.0} and found.peers["slow"] != found.ours


def test_the_tuned_step_is_the_best_on_clean_rows():
    stream = corrupt_rows(table(300), "y x-1000", 0.05, seed=0)
    clean = stream._replace(table=stream.table._replace(y=stream.truth))
    scored = clean.scored
    tuned, constant = (clean.errors(each(clean, 10))[scored].mean() for each in (tuned_sgd, constant_sgd))
    assert tuned < constant
    assert (tuned_sgd(stream, 10) != tuned_sgd(stream, 1)).any()


def test_peers_are_tuned_or_of_river_too():
    for trials in (FOR_NUMBERS, FOR_LABELS):
        assert {TUNED, RIVER} <= set(trials.peers) and trials.peers[RIVER].is_slow


def test_an_oracle_without_mistakes_is_no_division_by_zero():
    assert (over(0.0, 0.0), over(0.1, 0.0), over(3.0, 2.0)) == (1.0, math.inf, 1.5)
    assert over(math.inf, math.inf) == math.inf


def test_the_table_is_written_between_the_markers_of_its_option(tmp_path, monkeypatch):
    monkeypatch.setattr(bad_row_trials, "SHARES", (0.05,))
    monkeypatch.setattr(bad_row_trials, "QUICK", TrialSize(300, 300))
    monkeypatch.setattr(halves, "ORDERS", 2)
    few = FOR_LABELS._replace(kinds={"flips": LABEL_KINDS["flips"]}, peers={})
    few = few._replace(halves=LABELS._replace(reported={"breast_cancer": LABELS.reported["breast_cancer"]}))
    page = tmp_path / "page.md"
    page.write_text("\n".join(["before", *few.markers, "after", *FOR_NUMBERS.markers]))
    bad_row_trials.hold_trials_of(few, tmp_path, quick=True, page=page, reported=True, delays=[1, 30])
    text = page.read_text()
    assert "| flips | 1 | " in text and "| flips | 30 | " in text
    assert "--labels --quick --reported --delay 1 30 --write page.md" in text
    assert text.startswith("before") and text.endswith(FOR_NUMBERS.markers[1])
