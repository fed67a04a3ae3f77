"""A filter for each key decides as a `Gate` for each key does."""

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

from holdfast import Gate, Level
from holdfast.levels.baseline import Baseline
from holdfast.runs.files import RunError
from holdfast.spark.gate_run import GatePlan, GateRun
from holdfast.spark.gating import filter_for, threshold

PLAN = GatePlan("v", "k", "t")


def values(rows=300, keys=5):
    rng = np.random.default_rng(0)
    sizes = np.abs(rng.standard_cauchy(rows))
    sizes[::50] = np.nan
    columns = {"k": [f"key {i}" for i in rng.integers(0, keys, rows)], "v": sizes, "t": np.arange(rows)}
    return pa.table(columns)


@pytest.mark.parametrize("outliers", ["1%", 3, "quantile:0.9"])
def test_decisions_are_those_of_a_gate_also_across_batches_and_pages(outliers):
    table, filter = values(), filter_for(outliers, None)
    gates = {key: Gate(filter) for key in table["k"].unique().to_pylist()}
    rows = zip(table["k"].to_pylist(), table["v"].to_pylist(), strict=True)
    expected = [gates[key].decide(size) for key, size in rows]
    run, kept, thresholds = GateRun(PLAN, filter, False), [], []
    for first in range(0, 300, 75):
        again = GateRun(PLAN, filter, False)
        again.load(run.stored(), "here")
        run, part = again, table.slice(first, 75)
        good, _, (some, bounds) = run.play(part, part["k"].combine_chunks())
        assert len(good) == 75
        kept, thresholds = [*kept, *some], [*thresholds, *bounds[:, 0]]
    assert kept == [decision.kept for decision in expected]
    assert np.array_equal(thresholds, [decision.threshold for decision in expected], equal_nan=True)


@pytest.mark.parametrize("compiled", [False, True])
def test_levels_are_those_of_a_level_for_each_key_also_across_batches(compiled):
    table = values()
    levels = {key: Level(season=3) for key in table["k"].unique().to_pylist()}
    run, numbers, kept = GateRun(PLAN, Baseline(season=3), compiled), [], []
    for first in range(0, 300, 60):
        again = GateRun(PLAN, Baseline(season=3), compiled)
        again.load(run.stored(), "here")
        run, part = again, table.slice(first, 60)
        _, _, (some, found) = run.play(part, part["k"].combine_chunks())
        kept, numbers = [*kept, *some], [*numbers, *found]
    sizes, keys, numbers = table["v"].to_numpy(), np.array(table["k"].to_pylist()), np.array(numbers)
    for key, level in levels.items():
        own = keys == key
        found = level.update_many(sizes[own])
        assert np.array(kept)[own].tolist() == found.kept.tolist()
        finite = np.flatnonzero(np.isfinite(sizes[own]))[16:]
        expected = np.column_stack([found.level, found.spread, found.low, found.high])[finite]
        assert np.array_equal(numbers[own][finite], expected)


def test_a_damaged_state_is_refused_with_a_sentence():
    run = GateRun(PLAN, filter_for("1%", None), False)
    table = values(50)
    run.play(table, table["k"].combine_chunks())
    page = run.stored()
    page.states[1] = page.states[1][:4] + b"\xff" * 20
    with pytest.raises(RunError, match="here is damaged"):
        run.load(page, "here")


def test_the_threshold_of_all_rows_loses_at_most_the_outliers():
    buckets, counts = [10, 20, 30], [5, 4, 1]
    assert threshold(buckets, counts, 0.1) == np.int64(21 << 45).view(np.float64)
    assert threshold(buckets, counts, 0) == np.int64(31 << 45).view(np.float64)
    assert threshold(buckets, counts, 100) == 0.0


def test_a_window_needs_a_share():
    with pytest.raises(RunError, match="window is a number of rows, and needs a share"):
        filter_for(50, 1000)
