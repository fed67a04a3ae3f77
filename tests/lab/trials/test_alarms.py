"""The trial of alarms: its faults, its counts and its tables."""

import numpy as np
import pandas as pd

from holdfast_lab.trials.alarms import (
    MARKERS,
    Stream,
    every_column,
    hold_alarm_trials,
    markdown,
    measure,
    of_columns,
    standing,
    stretches,
)


def usual(rows=1_000, seed=0):
    return np.random.default_rng(seed).normal(size=rows)


def test_stretches_are_joined_over_gaps():
    marked = np.zeros(20, bool)
    marked[[2, 3, 5, 12]] = True
    assert stretches(marked) == [(3, 4, 3), (6, 6, 6), (13, 13, 13)]
    assert stretches(marked, gap=1) == [(3, 6, 3), (13, 13, 13)]
    assert stretches(np.zeros(3, bool)) == []


def test_a_feed_stands_still_where_no_column_changes():
    columns = np.column_stack([usual(100), usual(100, 1)])
    columns[10:40] = columns[10]
    columns[60:90, 0] = columns[60, 0]
    assert stretches(standing(columns)) == [(11, 40, 11)]


def test_faults_are_found_with_their_delay_and_other_events_are_false():
    values = usual()
    values[300], values[800] = 50.0, 50.0
    values[500:505] += 50.0
    cell = measure(Stream("made", values, [(301, 301, 301), (498, 510, 501), (600, 610, 600)], "some"))
    assert cell.found == [("glitch", 1), ("glitch", 9)]
    assert cell.others == {"glitch": 1, "change": 0, "frozen": 0} and cell.false_alarms() == 1.0
    assert cell.odd == 1 / (1_000 - 21 - 33 - 31)


def test_a_frozen_stream_is_counted_once_and_the_way_back_is_no_false_alarm():
    values = usual()
    values[500:540], values[700:] = 3.0, values[700:] + 40.0
    cell = measure(Stream("made", values, [(501, 540, 501), (701, 720, 701)]))
    assert [kind for kind, _ in cell.found] == ["frozen", "change"] and cell.false_alarms() == 0.0


def test_the_tables_have_a_line_for_each_stream(tmp_path):
    lines = markdown(
        [measure(Stream("clean", usual(), [])), measure(Stream("bad", usual(), [(5, 6, 5)], "it"))]
    )
    assert "| bad | 1,000 | it | 0 of 1 | – | – | – | 0 |" in lines
    assert "| clean | 1,000 | 0 | 0 | 0 | 0 | 0 |" in lines


def test_every_column_of_numbers_is_a_stream(tmp_path):
    folder = tmp_path / "some"
    folder.mkdir()
    some = {"y": usual(2_000), "x_a": usual(2_000, 1), "x_b": [1.0, 2.0] * 1_000, "x_c": ["a", "b"] * 1_000}
    pd.DataFrame(some | {"outlier": usual(2_000, 2)}).to_csv(folder / "data.csv.gz", index=False)
    columns = list(every_column(tmp_path))
    assert [column.data for column in columns] == ["some", "some"]
    assert all(0.85 < column.covered < 0.95 and column.begun < 0.01 for column in columns)
    assert "All 2 columns of numbers of 1 data sets" in of_columns(columns)


def test_streams_are_read_from_a_folder_and_the_page_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast_lab.trials.alarms._CLEAN_ROWS", 200)
    folder = tmp_path / "air_quality"
    folder.mkdir()
    names = ("x_T", "x_RH", "x_AH", "x_PT08_S1_CO", "x_PT08_S4_NO2")
    table = pd.DataFrame({name: usual(400, i) for i, name in enumerate(names)})
    table.loc[200:204] = -200.0
    table.to_csv(folder / "data.csv.gz", index=False)
    page = tmp_path / "page.md"
    page.write_text("\n".join(MARKERS))
    hold_alarm_trials(tmp_path, page)
    assert "| air quality: AH | 400 | runs of -200 | 1 of 1 | 1 frozen |" in page.read_text()
    assert "| random walk | 200 |" in page.read_text()
