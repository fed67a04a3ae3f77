"""Spark beside one process: a model for each key of a batch, and of a stream. It needs PySpark and Java.

It is measured only if it is named: `holdfast bench --only spark`.
"""

import importlib.util
import os
import shutil
import statistics
import sys

import numpy as np

from holdfast.lab.bench.race import race, timed
from holdfast.lab.bench.table import Row, Section

_COLUMNS = {"key": "k", "target": "y", "order": "t"}
_FEATURES, _KEYS, _BATCHES, _WARM = 8, 1_000, 8, 3


def measure(run):
    rows = run.amount(1_000_000, 200_000, 200)
    title = f"Spark, two cores: {rows:,} rows of {_KEYS:,} keys, {_FEATURES} features"
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        yield Section(
            title, "rows/s", [Row("holdfast.spark", note="needs pip install 'holdfast[spark]' and Java 17")]
        )
        return
    spark = _session(run.scratch)
    try:
        yield _batch(run, spark, title, rows)
        yield _stream(run, spark, run.amount(200_000, 200_000, 100), _KEYS)
        if run.scale == "full":
            yield _stream(run, spark, 200_000, 1_000_000)
    finally:
        spark.stop()


def _batch(run, spark, title, rows):
    """`holdfast.spark.learn` beside a run on this machine, both compiled, from the same file."""
    from holdfast.runs.learning import begin, learn
    from holdfast.runs.settings import Settings
    from holdfast.spark import learn as learn_on_spark

    path, to = run.scratch / "rows.parquet", run.scratch / "rows.run"
    _write(path, rows, 0, _KEYS)
    df = spark.read.parquet(str(path))

    def alone():
        shutil.rmtree(to, ignore_errors=True)
        settings = Settings(target="y", key="k", drop=("t",), sizes=False, prior=False)
        found, source, pieces = begin([path], settings, to, lambda text: None)
        found.compiled = run.compiled
        learn(found, source, pieces, (float("inf"), 30.0), _Silent(), lambda: False)
        source.close()
        found.folder.close()

    def on_spark():
        found = learn_on_spark(df, **_COLUMNS, partitions=2, compiled=run.compiled, verbose=False)
        found.models.write.format("noop").mode("overwrite").save()
        found.audit.write.format("noop").mode("overwrite").save()
        found.unpersist()

    cases = {"alone": timed(alone), "spark": timed(on_spark)}
    times = race(run, title, cases, run.amount(5, 3, 1))
    return Section(
        title,
        "rows/s",
        [
            Row("as holdfast learn --key, one process", rows / times.median("alone")),
            Row(
                "holdfast.spark.learn", rows / times.median("spark"), times.ratio("alone", "spark"), least=0.5
            ),
        ],
        "of one process",
    )


def _stream(run, spark, rows, keys):
    """Rows a second of batches of a stream, from their start to their commit, without a sink."""
    from holdfast.spark import Fleet

    folder, count = run.scratch / f"stream {keys}", _BATCHES
    folder.mkdir()
    for number in range(count):
        path = folder / f"{number:03}.parquet"
        _write(path, rows, number * rows, keys)
        os.utime(path, (1e9 + number, 1e9 + number))
    schema = spark.read.parquet(str(folder)).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    fleet = Fleet(**_COLUMNS, compiled=run.compiled)
    checkpoint = str(run.scratch / f"checkpoint {keys}")
    writer = fleet.learn(stream).writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    times = [
        batch.durationMs["triggerExecution"] / 1e3 for batch in query.recentProgress if batch.numInputRows
    ]
    title = (
        f"Spark, two cores, a stream: {rows:,} rows a batch, {keys:,} keys, state of up to {keys:,} models"
    )
    speed = rows / statistics.median(times[_WARM:])
    least = 200_000.0 if keys == _KEYS else None
    return Section(
        title, "rows/s", [Row(f"Fleet.learn, median of {len(times) - _WARM} batches", speed, least=least)]
    )


def _session(folder):
    from pyspark.sql import SparkSession

    from holdfast.spark.checks import PROVIDER, ROCKSDB

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "2",
        PROVIDER: ROCKSDB,
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _write(path, rows, first, keys):
    """Rows of these keys, with heavy tails."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(first)
    X, key = rng.normal(size=(rows, _FEATURES)), rng.integers(0, keys, rows)
    y = X @ np.linspace(-2.0, 2.0, _FEATURES) + key % 7 + rng.standard_cauchy(rows)
    columns = {f"x{i}": X[:, i] for i in range(_FEATURES)} | {"y": y, "t": first + np.arange(rows)}
    texts = pa.array([f"key {i}" for i in range(keys)]).take(pa.array(key))
    pq.write_table(pa.table({"k": texts} | columns), path, row_group_size=max(rows // 4, 1))


class _Silent:
    """Shows no progress."""

    def note(self, text):
        pass

    def __call__(self, *ignored):
        pass
