"""Skipped rounds with their reasons, and the factor by which they exceed a threshold."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from runs.small import called

from holdfast.checks import first_refusal
from holdfast.runs.audit import MEASURES, RoundLog, by_measure, with_times
from holdfast.runs.run import open_run

NAN = math.nan


def played(*sizes, thresholds=None):
    """Columns of rounds as games return them, from sizes by check; NaN: it is not readable.

    All thresholds are 1, unless those of each check are given.
    """
    found = np.array(sizes, float).T
    bounds = np.ones(found.shape) * (1.0 if thresholds is None else np.array(thresholds))
    refused_by = np.array([first_refusal(*pair) for pair in zip(~(found > bounds), bounds, strict=True)])
    unreadable = np.isnan(found).any(axis=1)
    bounds[unreadable], refused_by[unreadable] = NAN, -1
    kept = ~unreadable & (refused_by < 0)
    return SimpleNamespace(sizes=found, thresholds=bounds, refused_by=refused_by, kept=kept)


def nothing(reasons, skipped):
    """No columns to blame."""
    return np.full(len(skipped), "", object), np.full(len(skipped), NAN)


def test_the_first_filter_that_refuses_a_round_is_the_reason():
    log = RoundLog(("",), MEASURES, True, True, False)
    rounds = played([0.5, 8.0, 0.5, NAN, 0.5, NAN], [0.5, 9.0, 7.0, 0.5, 0.5, 0.5], [0.5] * 4 + [6.0, NAN])
    log.add(rounds, np.arange(1, 7), np.arange(11, 17), np.ones(6), {3: "2 cells"}, {}, 0, None, nothing)
    skipped, sizes = log.tables().values()
    assert skipped.column("reason").to_pylist() == [
        *("features", "target", "not readable", "gradient", "not readable")
    ]
    assert skipped.column_names == [
        *("round", "row", "reason", "check", "size", "threshold", "column", "value", "detail", "learned")
    ]
    assert skipped.column("row").to_pylist() == [12, 13, 14, 15, 16]
    for name, expected in (("size", [8.0, 7.0, NAN, 6.0, NAN]), ("threshold", [1.0, 1.0, NAN, 1.0, NAN])):
        assert np.array_equal(skipped.column(name).to_numpy(), expected, equal_nan=True)
    assert skipped.column("detail").to_pylist()[:4] == ["", "", "2 cells", ""]
    assert skipped.column("learned").to_pylist() == ["nothing"] * 5
    assert log.counts == {"features": 1, "target": 1, "not readable": 2, "gradient": 1}
    assert sizes.column_names == ["row", "features", "target"] and sizes.num_rows == log.waiting == 6
    log.clear()
    assert log.tables() == {} and log.counts["target"] == 1


def test_rounds_of_several_labels_are_in_the_order_of_the_source():
    log = RoundLog(("x", "z"), MEASURES, False, True, False)
    for place in (1, 0):
        log.add(
            played([0.5, 9.0], [0.0] * 2, [0.5] * 2),
            np.arange(2),
            np.arange(2),
            np.ones(2),
            {},
            {},
            place,
            None,
            nothing,
        )
    skipped, sizes = log.tables().values()
    assert list(zip(sizes.column("row").to_pylist(), sizes.column("label").to_pylist(), strict=True)) == [
        *((0, "x"), (0, "z"), (1, "x"), (1, "z"))
    ]
    assert skipped.column("label").to_pylist() == ["x", "z"]


def test_times_is_the_size_over_the_threshold_and_unknown_without_one():
    sizes = {"size": [3.0, 8.0, NAN, 9.0, NAN], "threshold": [1.0, 2.0, NAN, 0.0, NAN]}
    table = pa.table(sizes | {"value": [1.0, 2.0, NAN, 4.0, -math.inf]})
    found = with_times(table).column("times").to_numpy()
    assert np.array_equal(found, [3.0, 4.0, NAN, NAN, math.inf], equal_nan=True)


def test_measures_without_a_check_are_unknown():
    found = by_measure(np.array([[1.0, 2.0], [3.0, 4.0]]), ("gradient", "features"))
    assert np.array_equal(found, [[2.0, 4.0], [NAN, NAN], [1.0, 3.0]], equal_nan=True)


def test_a_refused_target_teaches_a_little_if_the_player_says_so():
    log = RoundLog(("",), ("features", "target"), True, False, False, little=True)
    rounds = played([0.5, 9.0], [9.0, 0.5])
    log.add(rounds, np.arange(2), np.arange(2), np.ones(2), {}, {}, 0, None, nothing)
    (skipped,) = log.tables().values()
    assert skipped.column("reason").to_pylist() == ["target", "features"]
    assert skipped.column("learned").to_pylist() == ["little", "nothing"]


def test_a_threshold_of_zero_is_the_warm_up():
    log = RoundLog(("",), MEASURES, True, False, False)
    rounds = played([0.5, 9.0], [9.0, 9.0], [0.5, 0.5], thresholds=[1.0, 0.0, 1.0])
    warm = log.add(rounds, np.arange(2), np.arange(2), np.ones(2), {}, {}, 0, None, nothing)
    assert warm.tolist() == [0] and log.counts == {"warm-up": 1, "features": 1}


def test_a_skipped_row_without_a_time_has_an_empty_one(tmp_path):
    """Such as a row that cannot be read: the audit can still be."""
    days = [f"2026-03-{1 + i // 24:02d} {i % 24:02d}:00:00" for i in range(90)]
    lines = [f"{i % 7},{2 * (i % 7)},{day}\n" for i, day in enumerate(days)]
    (tmp_path / "rows.csv").write_text("a,y,day\n" + "".join(lines) + "7\n")
    args = (tmp_path / "rows.csv", "--target", "y", "--to", tmp_path / "run", "--quiet")
    assert called("learn", *args)[0] == 0
    assert called("audit", tmp_path / "run")[0] == called("verify", tmp_path / "run")[0] == 0
    assert pa.concat_tables(open_run(tmp_path / "run").read("audit")).column("time")[-1].as_py() == ""
