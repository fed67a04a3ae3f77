"""A stream: exactly the models of one machine, whatever the batches and restarts are."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

import fleets

from holdfast.runs.files import RunError
from holdfast.runs.run import open_run
from holdfast.spark import Fleet, to_run
from holdfast.spark.checks import PROVIDER, ROCKSDB


def stream_of(spark, folder, files=1):
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", files).parquet(str(folder))


def run_through(df, folder):
    """Process all there is."""
    writer = df.writeStream.format("parquet").option("path", str(folder / "out"))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()


def write(table, folder, number):
    """A file of the stream. Spark reads files in the order of their times."""
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{number:03}.parquet")
    os.utime(folder / f"{number:03}.parquet", (1e9 + number, 1e9 + number))


def test_a_stream_with_a_restart_learns_what_one_machine_learns(spark, tmp_path):
    table, rows = fleets.fleet_rows(300, 8), tmp_path / "in"
    fleet = Fleet(**fleets.COLUMNS, groups=2, pages=2)
    write(table.slice(0, 100), rows, 0)
    write(table.slice(100, 50), rows, 1)
    run_through(fleet.learn(stream_of(spark, rows), checkpoint=tmp_path / "checkpoint"), tmp_path)
    write(table.slice(150, 150), rows, 2)
    run_through(fleet.learn(stream_of(spark, rows), checkpoint=tmp_path / "checkpoint"), tmp_path)
    run = fleets.one_machine(table, tmp_path)
    models = Fleet.models(tmp_path / "checkpoint")
    assert fleets.states_of(models.toArrow()) == fleets.states(run)
    out = spark.read.parquet(str(tmp_path / "out")).toArrow()
    assert sorted(out["at"].to_pylist()) == list(range(300))
    known = {row: reason for row, reason, *_ in fleets.audit_of(run)}
    skipped = out.filter(pa.compute.invert(out["kept"])).to_pylist()
    assert {row["at"]: row["reason"] for row in skipped} == known

    to_run(models, tmp_path / "fleet.run")
    written = open_run(tmp_path / "fleet.run")
    assert fleets.states(written) == fleets.states(run)
    assert written.metrics()["rounds"] == run.metrics()["kept"]  # it has no audit
    with pytest.raises(RunError, match="begun with other settings: learner was 'auto', and is now 'ogd:1'"):
        Fleet(**fleets.COLUMNS, learner="ogd:1").learn(
            stream_of(spark, rows), checkpoint=tmp_path / "checkpoint"
        )


@pytest.mark.exhaustive
def test_streams_of_many_rows_learn_what_one_machine_learns(spark, tmp_path):
    table = fleets.fleet_rows(200_000, 1_000)
    run = fleets.one_machine(table, tmp_path)
    known = {row: reason for row, reason, *_ in fleets.audit_of(run)}
    for partitions, size in ((1, 200_000), (2, 70_000), (7, 30_000)):
        folder = tmp_path / str(partitions)
        folder.mkdir()
        for i in range(0, len(table), size):
            write(table.slice(i, size), folder / "in", i // size)
        spark.conf.set("spark.sql.shuffle.partitions", partitions)
        run_through(Fleet(**fleets.COLUMNS).learn(stream_of(spark, folder / "in")), folder)
        spark.conf.set("spark.sql.shuffle.partitions", 2)
        assert fleets.states_of(Fleet.models(folder / "checkpoint").toArrow()) == fleets.states(run)
        out = spark.read.parquet(str(folder / "out")).where("not kept").toArrow()
        assert dict(zip(out["at"].to_pylist(), out["reason"].to_pylist(), strict=True)) == known


def test_a_run_folder_can_begin_a_fleet(spark, tmp_path):
    table, rows = fleets.fleet_rows(200, 5), tmp_path / "in"
    (tmp_path / "whole").mkdir()
    whole = fleets.one_machine(table, tmp_path / "whole", missing="skip")
    fleets.one_machine(table.slice(0, 120), tmp_path, missing="skip")
    write(table.slice(120, 80), rows, 0)
    fleet = Fleet(**fleets.COLUMNS, missing="skip", seed=tmp_path / "one.run")
    run_through(fleet.learn(stream_of(spark, rows)), tmp_path)
    assert fleets.states_of(Fleet.models(tmp_path / "checkpoint").toArrow()) == fleets.states(whole)
    with pytest.raises(RunError, match="was learned with outliers='auto': give the fleet the same"):
        Fleet(**fleets.COLUMNS, outliers=5, seed=tmp_path / "one.run").learn(stream_of(spark, rows))


def test_labels_that_come_later_are_joined_by_id(spark, tmp_path):
    table = fleets.fleet_rows(60, 3).append_column("id", pa.array(range(60)))
    write(table.drop_columns(["y"]), tmp_path / "in", 0)
    fleet = Fleet(**fleets.COLUMNS, id="id", ttl=1e6, wait=1e6)
    labels = table.select(["k", "t", "id", "y"])
    write(labels.slice(0, 0), tmp_path / "labels", 0)

    def joined():
        return fleet.learn(stream_of(spark, tmp_path / "in"), stream_of(spark, tmp_path / "labels"))

    run_through(joined(), tmp_path)
    write(labels, tmp_path / "labels", 1)
    run_through(joined(), tmp_path)
    run = fleets.one_machine(table.drop_columns(["id"]), tmp_path, missing="skip")
    assert fleets.states_of(Fleet.models(tmp_path / "checkpoint").toArrow()) == fleets.states(run)


def test_what_a_session_lacks_is_said_before_the_query_starts(spark, tmp_path):
    write(fleets.fleet_rows(10, 2), tmp_path / "in", 0)
    stream, fleet = stream_of(spark, tmp_path / "in"), Fleet(**fleets.COLUMNS)
    spark.conf.unset(PROVIDER)
    try:
        with pytest.raises(RunError, match="streams need the state store RocksDB"):
            fleet.learn(stream)
    finally:
        spark.conf.set(PROVIDER, ROCKSDB)
    with pytest.raises(ValueError, match="this DataFrame is no stream"):
        fleet.learn(spark.read.parquet(str(tmp_path / "in")))
    with pytest.raises(RunError, match="has no models: the query has completed no batch"):
        Fleet.models(tmp_path / "nothing")
    with pytest.raises(ValueError, match="need both: id= in Fleet, and labels= in learn"):
        fleet.learn(stream, labels=stream)


def test_a_path_with_a_space_is_refused(spark, tmp_path):
    with pytest.raises(RunError, match="Spark cannot read states from a path with a space"):
        Fleet.models(tmp_path / "my checkpoint")
