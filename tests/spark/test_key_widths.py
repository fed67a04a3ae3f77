"""The widths of a key are those of one local run with its rows, whatever batches and partitions are."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

import fleets
from test_later import Stream as LaterStream
from test_later import table_of
from test_processor import Stream

from holdfast.intervals.widths import GRID, LABELS, NUMBERS, Widths, label_scores
from holdfast.io.sources import open_source, pieces
from holdfast.runs.answers import label_margins
from holdfast.runs.files import RunError
from holdfast.runs.model import read_model
from holdfast.runs.predicting import answers
from holdfast.spark import learn, predict
from holdfast.spark.key_widths import KeyWidths
from holdfast.spark.models import from_run, predict_table
from holdfast.spark.pages import Places

ASKED = (*GRID, 0.7, 0.97)


def of_key(table, key):
    return table.filter(pc.equal(table["k"], key))


def local_runs(table, folder, **settings):
    """One run on one machine for the rows of each key."""
    found = {}
    for key in sorted(set(table["k"].to_pylist())):
        (folder / key).mkdir(parents=True)
        found[key] = fleets.one_machine(of_key(table, key), folder / key, missing="skip", **settings)
    return found


def local_answers(run, path, coverage, names):
    """What `holdfast predict` answers about the rows in a file, by their order `t`."""
    model, found = read_model(run.folder), {}
    source, orders = open_source(str(path)), pq.read_table(path)["t"].to_pylist()
    for piece in pieces(source, source.blocks(), model.layout, None, model.key):
        table, _ = answers(model, model.key_indices(), piece, coverage)
        columns = [table[name].to_pylist() for name in names]
        if "labels" in names:  # JSON in a file, an array on Spark
            columns[1] = [each and json.loads(each) for each in columns[1]]
        found |= {
            orders[row - 1]: each for row, *each in zip(table["row"].to_pylist(), *columns, strict=True)
        }
    return found


@pytest.mark.parametrize("labels", [0, 2, 3])
@pytest.mark.parametrize("compiled", [False, True])
def test_they_have_the_bits_of_one_object_for_each_key(labels, compiled):
    rng = np.random.default_rng(labels)
    keys, margins = rng.integers(0, 4, 3_000), 1 if labels < 3 else labels
    outcomes = rng.standard_cauchy((3_000, margins)) * (np.arange(3_000)[:, None] > 40)
    y = rng.integers(0, labels, 3_000).astype(float) if labels else outcomes[:, 0] + rng.normal(size=3_000)
    y[rng.random(3_000) < 0.05] = math.nan
    outcomes[7], y[5], y[900:910] = math.nan, 0.0, 1e9 if not labels else 0.0
    widths = KeyWidths(labels)
    for first in range(0, 3_000, 700):
        some = slice(first, first + 700)
        widths.follow(keys[some], outcomes[some], y[some], compiled)
        stored, widths = widths.stored(4), KeyWidths(labels)
        widths.load(stored, "here")
    for key in range(4):
        own, one = keys == key, Widths(LABELS if labels else NUMBERS)
        if labels:
            of_label = label_margins(outcomes)[np.arange(3_000), np.nan_to_num(y).astype(int)]
            one.add(label_scores(np.where(np.isnan(y), math.nan, of_label))[own])
        else:
            one.add_forecasts(outcomes[own, 0], y[own])
        assert [widths.at(each)[key] for each in ASKED] == [one.at(each) for each in ASKED]
        assert math.isfinite(one.at(0.9))


@pytest.mark.parametrize(("batch", "places"), [(400, Places(3, 4)), (37, Places(3, 4)), (150, Places(1, 1))])
@pytest.mark.parametrize("settings", [{}, {"delay": 7}], ids=str)
def test_a_stream_has_those_of_one_machine_for_each_key(tmp_path, batch, places, settings):
    table = fleets.fleet_rows(400, 4)
    stream = Stream(table, places=places, missing="skip", **settings)
    for first in range(0, 400, batch):
        stream.send(table.slice(first, batch))
    packed = stream.widths()
    widths = KeyWidths(0)
    widths.load(list(packed.values()), "here")
    runs = local_runs(table, tmp_path, **settings)
    for i, key in enumerate(packed):
        assert [widths.at(each)[i] for each in ASKED] == [runs[key].answers.widths.at(each) for each in ASKED]
        assert math.isfinite(widths.at(0.9)[i])


def test_labels_that_come_later_are_compared_with_the_answers_that_were_given():
    table, stream = table_of(300), LaterStream(most=1_000)
    given, expected = [], {}
    for first in range(0, 300, 50):
        given += stream.send(table.slice(first, 50), False)["prediction"].to_pylist()
        if first:
            stream.send(table.slice(first - 50, 50), True)
    for key in set(table["k"].to_pylist()):
        own = np.array(table["k"].to_pylist()[:250]) == key
        expected[key] = Widths(NUMBERS)
        asked = np.array([math.nan if each is None else each for each in given[:250]])
        expected[key].add_forecasts(asked[own], table["y"].to_numpy()[:250][own])
    keys, packed = stream.widths()
    widths = KeyWidths(0)
    widths.load(packed, "here")
    assert sorted(keys) == sorted(expected)
    for i, key in enumerate(keys):
        assert math.isfinite(widths.at(0.9)[i])
        assert widths.at(0.9)[i] == expected[key].at(0.9)


@pytest.mark.parametrize("labelled", [False, True])
def test_predictions_have_the_intervals_of_one_machine_for_any_partitions(spark, tmp_path, labelled):
    table = fleets.fleet_rows(480, 3)
    table = fleets.labelled(table) if labelled else table
    names = ("prediction", "labels") if labelled else ("prediction", "low", "high")
    pq.write_table(table, tmp_path / "rows.parquet")
    df, expected = spark.read.parquet(str(tmp_path / "rows.parquet")), {}
    for key, run in local_runs(table, tmp_path).items():
        expected |= local_answers(run, tmp_path / key / "rows.parquet", 0.8, names)
    for partitions in (1, 2, 7):
        learned = learn(
            df.repartition(3), **fleets.COLUMNS, partitions=partitions, missing="skip", verbose=False
        )
        path = str(tmp_path / f"models {partitions}")
        learned.models.write.parquet(path)
        found = predict(spark.read.parquet(path), df, buckets=partitions, coverage=0.8).toArrow()
        columns = [found[name].to_pylist() for name in names]
        assert (
            dict(zip(found["t"].to_pylist(), map(list, zip(*columns, strict=True)), strict=True)) == expected
        )
        learned.unpersist()
    assert sum(None in row[1:] for row in expected.values()) < 50


def test_a_key_with_few_rows_and_a_key_without_a_model_have_no_interval(spark):
    table = fleets.fleet_rows(20, 1)
    stream = Stream(table, missing="skip")
    run = stream.job.new_run()
    run.play(table, table["k"].combine_chunks())
    models = pa.Table.from_batches(list(from_run(run)))
    found = predict_table(
        stream.plan, table.set_column(0, "k", pa.array(["key 0"] * 19 + ["new"])), models, 0.9
    )
    assert found["low"].null_count == found["high"].null_count == 20
    assert found["prediction"].null_count < 20


def test_damaged_widths_are_refused_with_a_sentence():
    widths = KeyWidths(0)
    widths.follow(np.zeros(100, int), np.ones((100, 1)), np.arange(100.0))
    (packed,) = widths.stored(1)
    with pytest.raises(RunError, match="here is damaged"):
        widths.load([packed[:4] + b"\xff" * 20], "here")
    with pytest.raises(RunError, match="here is damaged"):
        widths.load(KeyWidths(2).stored(1), "here")


def test_a_coverage_that_is_not_tracked_is_refused_before_anything_runs(spark):
    with pytest.raises(ValueError, match=r"tracked for coverages from 0.5 to 0.99: got 0.3"):
        predict(spark.range(3), spark.range(3), coverage=0.3)
