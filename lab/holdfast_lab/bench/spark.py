"""Spark beside one process: a model for each key of a batch, and of a stream. It needs PySpark and Java.

It is measured only if it is named: `holdfast bench --only spark`.
"""

import importlib.util
import shutil
import statistics
from typing import Any

from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.table import Row, Section

_COLUMNS: dict[str, Any] = {"key": "k", "target": "y", "order": "t"}
_KEYS, _MANY = 1_000, 1_000_000
_ROWS = 200_000  # a batch of a stream


def measure(run):
    rows = run.amount(1_000_000, 1_000_000, 200)
    title = f"Spark, two cores: {rows:,} rows of {_KEYS:,} keys, 8 features"
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        yield Section(
            title, "rows/s", [Row("holdfast.spark", note="needs pip install 'holdfast[spark]' and Java 17")]
        )
        return
    from holdfast_lab.bench.spark_session import session

    spark = session(run.scratch)
    try:
        yield _batch(run, spark, title, rows)
        yield from _stream(run, spark, run.amount(_ROWS, _ROWS, 100), _KEYS, run.amount(30, 12, 3), 200_000.0)
        if run.scale == "full":
            yield from _stream(run, spark, _ROWS, _MANY, 10, None)
    finally:
        spark.stop()


def _batch(run, spark, title, rows):
    """`holdfast.spark.learn` beside a run on this machine, both compiled, from the same file."""
    from holdfast.runs.beginning import begin
    from holdfast.runs.config import Settings
    from holdfast.runs.learning import learn
    from holdfast.spark import learn as learn_on_spark
    from holdfast_lab.bench.spark_session import write_rows

    path, to = run.scratch / "rows.parquet", run.scratch / "rows.run"
    write_rows(path, rows, 0, _KEYS)
    df = spark.read.parquet(str(path))

    def alone():
        shutil.rmtree(to, ignore_errors=True)
        settings = Settings(target="y", key="k", drop=("t",), sizes=False, prior=False)
        found, inputs, items = begin([path], settings, to, lambda text: None)
        found.compiling.compiled = run.compiled
        learn(found, inputs, items, (float("inf"), 30.0), _Silent(), lambda: False)
        inputs.close()
        found.folder.close()

    def on_spark():
        found = learn_on_spark(df, **_COLUMNS, partitions=2, compiled=run.compiled, verbose=False)
        found.models.write.format("noop").mode("overwrite").save()
        found.audit.write.format("noop").mode("overwrite").save()
        found.unpersist()

    times = race(run, title, {"alone": timed(alone), "spark": timed(on_spark)}, run.amount(5, 2, 1))
    ratio = times.ratio("alone", "spark")
    figures = [
        Row("as holdfast learn --key --no-prior, one process", rows / times.median("alone")),
        Row("holdfast.spark.learn", rows / times.median("spark"), ratio, least=0.5),
    ]
    return Section(title, "rows/s", figures, "of one process")


def _stream(run, spark, rows, keys, batches, least):
    """Batches of a stream from their start to their commit, without a sink; the first third warms up."""
    from holdfast.spark import Fleet
    from holdfast_lab.bench.spark_session import Processes, stream_of

    stream = stream_of(spark, run.scratch / f"stream-{keys}", rows, keys, batches)
    fleet, processes = Fleet(**_COLUMNS, compiled=run.compiled), Processes(spark)
    checkpoint = str(run.scratch / f"checkpoint-{keys}")
    writer = fleet.learn(stream).writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    warm, counting = batches // 3, False
    while query.isActive:
        query.awaitTermination(1.0 if counting else 0.1)  # a look takes time of the JVM
        if not counting and len(_seconds(query)) >= warm:
            processes.begin()
            counting = True
        processes.look()
    seconds = _seconds(query)[warm:]
    title = f"Spark, two cores, a stream: {rows:,} rows a batch, {keys:,} keys, the default learner"
    speed = rows / statistics.median(seconds)
    yield Section(
        title, "rows/s", [Row(f"Fleet.learn, median of {len(seconds)} batches", speed, least=least)]
    )
    figures = {name: value / len(seconds) for name, value in processes.seconds().items()}
    yield Section(f"{title}: CPU time", "seconds a batch", [Row(*each) for each in figures.items()])
    yield Section(f"{title}: memory", "MB at most", [Row(*each) for each in processes.memory().items()])


def _seconds(query):
    """How long each batch with rows took."""
    return [
        batch.durationMs["triggerExecution"] / 1e3 for batch in query.recentProgress if batch.numInputRows
    ]


class _Silent:
    """Shows no progress."""

    def note(self, text):
        pass

    def __call__(self, *ignored):
        pass
