"""A model for each of 50 machines, on Spark, on a laptop: a batch, a stream, and a run folder.

    pip install 'holdfast[spark,cli]'     # and Java 17
    python examples/spark_fleet.py

The loads of the machines depend on three sensors. 2 % of the rows are wrong by a factor of a million.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers use this Python

from pyspark.sql import SparkSession

import holdfast.spark as hs

COLUMNS = {"key": "machine", "target": "load", "order": "second"}
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def write_rows(folder, files=3, rows=4_000, machines=50):
    """Files with the rows of all machines; the true weights are 1, 2 and -1."""
    rng = np.random.default_rng(0)
    for number in range(files):
        X, machine = rng.normal(size=(rows, 3)), rng.integers(0, machines, rows)
        load = X @ [1.0, 2.0, -1.0] + 10.0 * machine + 0.1 * rng.normal(size=rows)
        X[rng.random(rows) < 0.02] *= 1e6
        columns = {"machine": machine, "second": number * rows + np.arange(rows), "load": load}
        columns |= {f"sensor{i}": X[:, i] for i in range(3)}
        path = folder / f"{number}.parquet"
        pq.write_table(pa.table(columns), path)
        os.utime(path, (1e9 + number, 1e9 + number))  # Spark reads the files of a stream by time


def new_session(scratch):
    """A session on two cores, with all its files in one folder."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.local.dir", scratch)
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    spark = builder.config("spark.sql.streaming.stateStore.providerClass", ROCKSDB).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def show(spark, folder, rows):
    """Learn from a batch and from a stream of the same rows, and write a run folder."""
    df = spark.read.parquet(str(rows))
    learned = hs.learn(df, **COLUMNS)
    print(f"batch: {learned.models.count()} models, {learned.audit.count():,} rows skipped")
    errors = hs.predict(learned.models, df).selectExpr("percentile(abs(load - prediction), 0.5)")
    print(f"median error of the predictions: {errors.first()[0]:.2f}; the loads go from 0 to 500")

    stream = spark.readStream.schema(df.schema).option("maxFilesPerTrigger", 1).parquet(str(rows))
    checkpoint = str(folder / "checkpoint")
    out = hs.Fleet(**COLUMNS).learn(stream, checkpoint=checkpoint)
    query = out.writeStream.format("parquet").option("path", str(folder / "out"))
    query = query.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination()
    models = hs.Fleet.models(checkpoint)
    by_batch, by_stream = (
        {(m.key, bytes(m.state)) for m in found.collect()} for found in (learned.models, models)
    )
    print(f"stream: {models.count()} models, the same bits as the batch: {by_batch == by_stream}")
    late = spark.read.parquet(str(folder / "out")).where("reason = 'late'").count()
    print(f"late or doubled rows: {late}")
    hs.to_run(models, folder / "fleet.run")
    print("the run folder has", *sorted(path.name for path in (folder / "fleet.run").iterdir()))
    learned.unpersist()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        rows = Path(scratch) / "rows"
        rows.mkdir()
        write_rows(rows)
        spark = new_session(scratch)
        show(spark, Path(scratch), rows)
        spark.stop()


if __name__ == "__main__":
    main()
