"""Streams that change, and the table of errors when the change is over."""

import math

import numpy as np
import pytest

from holdfast.cli.main import main
from holdfast_lab.trials import drift
from holdfast_lab.trials import drift_streams as streams
from holdfast_lab.trials.contestants import FADING, OURS, Contestant
from holdfast_lab.trials.drift_streams import CHANGE, OF_RIVER, OWN, ROUNDS, make


def constant(value):
    return Contestant(lambda stream, delay: np.full(stream.table.rounds, value))


FEW = {FADING: constant(0.0), OURS: constant(1.0), "broken": constant(math.nan)}


@pytest.mark.parametrize("kind", [*OWN, *OF_RIVER])
def test_a_stream_is_complete_and_decided_by_its_seed(kind, monkeypatch):
    if kind in OF_RIVER:
        pytest.importorskip("river")
        monkeypatch.setattr(streams, "ROUNDS", 300)
    one, same, other = make(kind, 0), make(kind, 0), make(kind, 1)
    assert one.rounds == streams.ROUNDS and np.isfinite(one.X).all() and np.isfinite(one.y).all()
    assert np.array_equal(one.X, same.X) and np.array_equal(one.y, same.y)
    assert not np.array_equal(one.y, other.y)
    assert one.regression == (kind not in ("Hyperplane", "SEA"))


def test_a_change_leaves_what_came_before():
    for kind in ("y + 50 sd", "y x 100", "y / 100", "y x -1"):
        before, after = make("y + 1000 sd", 3), make(kind, 3)
        assert np.array_equal(before.y[:CHANGE], after.y[:CHANGE])
        assert not np.isclose(before.y[CHANGE:], after.y[CHANGE:]).any()
    ratio = make("one column x 1000", 3).X / make("y x -1", 3).X
    assert np.allclose(ratio[CHANGE:], [1000.0, *[1.0] * 7]) and np.allclose(ratio[:CHANGE], 1.0)


def test_errors_count_from_some_time_after_the_change_on():
    table = make("y x 100", 0)
    row = drift.measure("y x 100", 1, FEW)
    late = table.y[CHANGE + drift.SETTLED :]
    assert len(late) == ROUNDS - 12_500
    assert row.error == pytest.approx(np.abs(late).mean())
    assert row.ratios[OURS] == pytest.approx(np.abs(late - 1.0).mean() / row.error)
    assert math.isnan(row.ratios["broken"])


def test_those_for_numbers_do_not_play_with_labels():
    pytest.importorskip("river")
    few = {**FEW, "numbers": constant(2.0)._replace(needs_numbers=True)}
    assert "numbers" not in drift.measure("SEA", 1, few).ratios


def test_the_goal_names_the_rows_that_miss_it():
    rows = [drift.DriftRow("a", 1, 1.0, {OURS: 1.04}), drift.DriftRow("b", 1, 1.0, {OURS: 7.0})]
    assert [str(goal) for goal in drift.goals(rows)] == [
        "MISSED: delay 1, default: at most 5 % behind SGD with a fading scale (1 of 2): all but b (7.00)"
    ]


def test_the_table_is_written_between_its_markers(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("before\n{}\nstale\n{}\nafter\n".format(*drift.MARKERS), encoding="utf-8")
    drift.hold_drift_trials(quick=True, page=page, kinds=["y x -1"], contestants=FEW, delays=[1, 50])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "stale" not in text
    assert "| y x -1 | 1 | " in text and "| y x -1 | 50 | " in text and "| fails |" in text
    assert "- MISSED: delay 50, default" in text
    assert "`holdfast trials --drift --quick --delay 1 50 --write page.md`" in text
    assert "y x -1" in capsys.readouterr().out


def test_data_or_drift_must_be_named(capsys):
    with pytest.raises(SystemExit):
        main(["trials"])
    assert "--drift" in capsys.readouterr().err
