"""The gate on a DataFrame: a filter for each key, or one threshold for all rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

from holdfast import Gate, Level
from holdfast.runs.files import RunError
from holdfast.spark import gate
from holdfast.spark.gating import filter_for


def rows(spark, tmp_path):
    rng = np.random.default_rng(0)
    values = np.abs(rng.standard_cauchy(400))
    values[7] = np.nan
    table = pa.table({"k": rng.integers(0, 4, 400), "v": values, "t": np.arange(400)})
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "rows.parquet")
    return spark.read.parquet(str(tmp_path / "in")), table


def expected(table):
    gates = {key: Gate(filter_for("5%", 100)) for key in range(4)}
    columns = (table.column(name).to_pylist() for name in ("t", "k", "v"))
    return {t: gates[key].keep(value) for t, key, value in zip(*columns, strict=True)}


def test_a_batch_and_a_stream_decide_as_gates_do(spark, tmp_path):
    df, table = rows(spark, tmp_path)
    options = {"value": "v", "by": "k", "order": "t", "outliers": "5%", "window": 100}
    found = gate(df, partitions=3, **options).toArrow()
    assert dict(zip(found["t"].to_pylist(), found["kept"].to_pylist(), strict=True)) == expected(table)
    stream = gate(
        spark.readStream.schema(df.schema).parquet(str(tmp_path / "in")), groups=2, pages=1, **options
    )
    writer = stream.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).toArrow()
    assert dict(zip(found["t"].to_pylist(), found["kept"].to_pylist(), strict=True)) == expected(table)


def test_a_level_for_each_key_in_a_batch_and_a_stream(spark, tmp_path):
    df, _ = rows(spark, tmp_path)
    options = {"value": "v", "by": "k", "order": "t", "level": True, "season": 2}
    found = gate(df, partitions=3, **options).toArrow().sort_by("t")
    keys, values = np.array(found["k"].to_pylist()), found["v"].to_numpy()
    for key in range(4):
        own = (keys == key) & np.isfinite(values)
        expected = Level(season=2).update_many(values[own])
        assert found["kept"].to_numpy(zero_copy_only=False)[own].tolist() == expected.kept.tolist()
        assert np.array_equal(found["high"].to_numpy()[own][16:], expected.high[16:])
    stream = gate(
        spark.readStream.schema(df.schema).parquet(str(tmp_path / "in")), groups=2, pages=1, **options
    )
    writer = stream.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()
    streamed = spark.read.parquet(str(tmp_path / "out")).toArrow().sort_by("t")
    for name in ("level", "spread", "low", "high"):
        assert np.array_equal(streamed[name].to_numpy(), found[name].to_numpy(), equal_nan=True)


def test_one_threshold_for_all_rows_drops_the_largest_values(spark, tmp_path):
    df, _ = rows(spark, tmp_path)
    found = gate(df.repartition(5), value="v", outliers=20).toArrow()
    kept, values = found["kept"].to_numpy(zero_copy_only=False), found["v"].to_numpy()
    assert np.isnan(values[~kept]).sum() == 1
    dropped = np.sort(values[~kept & np.isfinite(values)])
    assert 15 <= len(dropped) <= 20
    assert np.array_equal(dropped, np.sort(values[np.isfinite(values)])[-len(dropped) :])


def test_what_cannot_be_gated_is_refused_with_a_sentence(spark, tmp_path):
    df, _ = rows(spark, tmp_path)
    with pytest.raises(RunError, match="a filter for each key needs the order of its rows"):
        gate(df, value="v", by="k")
    with pytest.raises(RunError, match="a level is that of the values of a key"):
        gate(df, value="v", level=True)
    with pytest.raises(RunError, match="add level=True, or leave out season=24"):
        gate(df, value="v", season=24)
    with pytest.raises(RunError, match="value must be a column of numbers: got 'x'"):
        gate(df, value="x")
    stream = spark.readStream.schema(df.schema).parquet(str(tmp_path / "in"))
    with pytest.raises(RunError, match="a stream has no last row"):
        gate(stream, value="v")
