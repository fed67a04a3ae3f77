"""A Spark session on two cores, rows for it, and what its processes take."""

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_FEATURES = 8


def session(folder):
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
        "spark.shuffle.compress": "false",
        "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming."
        "checkpointing.FileSystemBasedCheckpointFileManager",
        PROVIDER: ROCKSDB,
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def write_rows(path, rows, first, keys):
    """Rows with heavy tails. With more keys than rows, all keys have as many rows in the long run."""
    rng = np.random.default_rng(first)
    X = rng.normal(size=(rows, _FEATURES))
    key = rng.integers(0, keys, rows) if keys <= rows else (first + np.arange(rows)) % keys
    y = X @ np.linspace(-2.0, 2.0, _FEATURES) + key % 7 + rng.standard_cauchy(rows)
    columns = {f"x{i}": X[:, i] for i in range(_FEATURES)} | {"y": y, "t": first + np.arange(rows)}
    texts = pa.array([f"key {i}" for i in range(keys)]).take(pa.array(key))
    pq.write_table(pa.table({"k": texts} | columns), path, row_group_size=max(rows // 4, 1))


def stream_of(spark, folder, rows, keys, batches):
    """A stream of files, one a batch."""
    folder.mkdir()
    for number in range(batches):
        path = folder / f"{number:03}.parquet"
        write_rows(path, rows, number * rows, keys)
        os.utime(path, (1e9 + number, 1e9 + number))
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


class Processes:
    """CPU time and memory of the JVM and of the Python processes that it has started."""

    def __init__(self, spark):
        self._jvm = spark._jvm.java.lang.ProcessHandle.current()
        self._first: dict[int, float] = {}
        self._last: dict[int, float] = {}
        self._most: dict[int, float] = {}

    def begin(self):
        """Count from here."""
        self.look()
        self._first = dict(self._last)

    def look(self):
        """Look what they have taken so far. Processes that have ended since the last look are not seen."""
        for handle in [self._jvm, *self._jvm.descendants().toList()]:
            duration, pid = handle.info().totalCpuDuration(), int(handle.pid())
            if duration.isPresent():
                self._last[pid] = duration.get().toMillis() / 1e3
            self._most[pid] = max(self._most.get(pid, 0.0), _megabytes(pid))

    def seconds(self):
        """CPU seconds since `begin`."""
        spent = {pid: last - self._first.get(pid, 0.0) for pid, last in self._last.items()}
        jvm = spent.pop(int(self._jvm.pid()))
        return {"JVM": jvm, "Python": sum(spent.values())}

    def memory(self):
        """The most that the JVM, and any Python process, had in memory."""
        most = dict(self._most)
        return {"JVM": most.pop(int(self._jvm.pid())), "the largest Python process": max(most.values())}


def _megabytes(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1e3
    except (OSError, StopIteration):
        return 0.0
