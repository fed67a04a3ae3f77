"""What the tests of Spark share: rows, a small session, and the same fleet on one machine."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from holdfast.runs.beginning import begin
from holdfast.runs.config import Settings
from holdfast.runs.learning import learn
from holdfast.runs.run import open_run
from holdfast.spark.checks import EMPTY_BATCHES, PROVIDER, ROCKSDB

COLUMNS = {"key": "k", "target": "y", "order": "t"}
AUDIT = ("reason", "check", "size", "threshold", "column", "value", "detail", "learned")


def session(folder, cores=2):
    from pyspark.sql import SparkSession

    java = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder}"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": java,
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        PROVIDER: ROCKSDB,
        EMPTY_BATCHES: "false",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def fleet_rows(rows=400, keys=12, seed=0):
    """Rows of many keys, some of them outliers, some with a missing cell."""
    rng = np.random.default_rng(seed)
    X, key = rng.normal(size=(rows, 3)), rng.integers(0, keys, rows)
    y = X @ [1.0, 2.0, -1.0] + key + rng.standard_cauchy(rows)
    X[rng.random(rows) < 0.02, 0] = np.nan
    y[rng.random(rows) < 0.02] = 1e9
    columns = {
        "k": [f"key {i}" for i in key],
        "t": np.arange(rows),
        "a": X[:, 0],
        "b": X[:, 1],
        "c": X[:, 2],
        "y": y,
    }
    return pa.table(columns)


def labelled(table):
    """The rows with one of four labels as target."""
    y = np.array(["low", "middle", "high", "top"])[np.digitize(table["y"].to_numpy(), [0.0, 2.0, 4.0])]
    return table.set_column(table.column_names.index("y"), "y", pa.array(y))


def one_machine(table, folder, **settings):
    """What `holdfast learn --key` makes of the rows: the states by key and label, and the audit by row."""
    pq.write_table(table, folder / "rows.parquet")
    chosen = Settings(target="y", key="k", drop=("t",), sizes=False, prior=False, **settings)
    run, inputs, items = begin([folder / "rows.parquet"], chosen, folder / "one.run", lambda text: None)
    learn(run, inputs, items, (float("inf"), float("inf")), lambda *all: None, lambda: False)
    inputs.close()
    run.folder.close()
    return open_run(folder / "one.run")


def states(run):
    """The bytes of the state of each key and label of a run."""
    names, labels = list(run.games.keys), run.games.labels
    found = {}
    for key, label in run.games.names():
        found[names[key], labels[label]] = run.games._states.rows[key * len(labels) + label]
    return found


def states_of(models):
    """The same from a table of models."""
    columns = (models.column(name).to_pylist() for name in ("key", "label", "state"))
    return {(key, label): bytes(state) for key, label, state in zip(*columns, strict=True)}


def audit_of(run):
    """The skipped rows, sorted, each as its place and texts."""
    found = pa.concat_tables(run.read("audit")).to_pylist()
    return sorted((row["row"] - 1, *(str(row[name]) for name in AUDIT)) for row in found)
