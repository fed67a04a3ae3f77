"""Models as rows of a DataFrame: one for each key and label, with the flat form of its state."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.runs.files import RunError
from holdfast.runs.games import TENSORS
from holdfast.runs.trace import KEY_COLUMNS
from holdfast.spark.plan import Plan
from holdfast.spark.playing import COUNTERS, KeyedRun

COUNTS = TENSORS["counts"]
SUMS = KEY_COLUMNS[2:]  # the sum of the errors of a key, and how many there are
DESCRIPTION = "holdfast"  # in the metadata of the column `state`
_STEP = 10_000  # models in one record batch
_SCHEMA = pa.schema(
    {"key": pa.string(), "label": pa.string()}
    | dict.fromkeys(COUNTS, pa.int64())
    | dict.fromkeys(COUNTERS, pa.int64())
    | dict.fromkeys(SUMS, pa.float64())
    | {"weights": pa.list_(pa.float64()), "layout": pa.string(), "state": pa.binary()}
)


def model_schema():
    """The columns of a DataFrame of models."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(_SCHEMA)


def describe(models, plan):
    """The DataFrame, with the plan in the metadata of its last column."""
    return models.withMetadata("state", {DESCRIPTION: plan.to_json()})


def plan_of(models):
    """The plan of a DataFrame of models; raises if its columns are not those of models."""
    missing = [name for name in _SCHEMA.names if name not in models.columns]
    if missing:
        raise RunError(f"these are no models of holdfast.spark: there is no column {missing[0]!r}")
    text = models.schema["state"].metadata.get(DESCRIPTION)
    if text is None:
        raise RunError(
            "these models have lost the description of their columns, which is metadata of the column 'state': "
            "store them as Parquet, and do not compute that column again"
        )
    return Plan.from_json(text)


def from_run(run):
    """The models of a run in this process, in record batches."""
    keys, labels, games = list(run.games.keys), list(run.games.labels), run.games
    state, p = games.state(), games.parameters()
    starts = np.concatenate([[0], np.cumsum(state["lengths"])])
    with np.errstate(all="ignore"):
        weights = p["weights"] * p["factors"] * p["y_spread"][:, None]
    of_key = np.repeat(np.arange(len(keys)), len(labels))
    whole = np.column_stack([games.counts, run.counters[of_key]])
    sums = run.keys.sums[of_key][:, 2:]
    names = pa.array(keys, pa.string())
    for first in range(0, len(of_key), _STEP):
        some = slice(first, min(first + _STEP, len(of_key)))
        count, cut = some.stop - first, starts[first : some.stop + 1]
        numbers = state["tape"][cut[0] : cut[-1]]
        offsets = ((cut - cut[0]) * 8).astype(np.int32)
        texts = [names.take(pa.array(of_key[some])), pa.array([labels[i % len(labels)] for i in range(first, some.stop)])]
        yield pa.RecordBatch.from_arrays(
            [
                *texts,
                *(pa.array(column) for column in whole[some].T),
                *(pa.array(column) for column in sums[some].T),
                pa.array(list(weights[some]), pa.list_(pa.float64())),
                pa.array([games.layout] * count),
                pa.BinaryArray.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(numbers.tobytes())]),
            ],
            schema=_SCHEMA,
        )


def to_run(plan, table, where="these models", compiled=None):
    """A run in this process with the models of a table, one row for each key and label."""
    run = KeyedRun(plan, compiled)
    labels = list(run.games.labels)
    place = pc.index_in(table.column("label"), pa.array(labels, pa.string()))
    if place.null_count:
        raise RunError(f"{where}: a label is none of {', '.join(labels)}; learn again")
    table = table.append_column("_label", pc.cast(place, pa.int64())).sort_by([("key", "ascending"), ("_label", "ascending")])
    keys = table.column("key").to_pylist()[:: len(labels)]
    whole = np.tile(np.arange(len(labels)), len(keys))
    if len(set(keys)) < len(keys) or not np.array_equal(table.column("_label").to_numpy(), whole):
        raise RunError(f"{where}: a key is there twice, or lacks a label; give the models of one fleet")
    layouts = pc.unique(table.column("layout")).to_pylist()
    if any(layout != run.games.layout for layout in layouts):
        raise another_layout(where)
    states = table.column("state").to_pylist()
    lengths = np.array([len(state) // 8 for state in states], np.int64)
    tape = np.frombuffer(b"".join(states), np.float64)
    counts = _numbers(table, COUNTS, np.int64)
    first = slice(None, None, len(labels))
    counters = np.ascontiguousarray(_numbers(table, COUNTERS, np.int64)[first])
    sums = np.column_stack([counts[first, :2].astype(float), _numbers(table, SUMS, np.float64)[first]])
    try:
        run.load(keys, {"tape": tape, "lengths": lengths, "counts": counts}, counters, sums, run.games.layout, where)
    except ValueError as problem:
        raise problem if isinstance(problem, RunError) else RunError(f"{where}: damaged: {problem}") from None
    return run


def another_layout(where):
    return RunError(
        f"{where}: the states have another layout than in this version of holdfast with these settings; use the version "
        "and the settings that wrote them, or learn again into a new checkpoint"
    )


def _numbers(table, names, kind):
    return np.column_stack([table.column(name).to_numpy().astype(kind) for name in names])
