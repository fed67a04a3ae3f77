"""Models as rows of a DataFrame: one for each key and label, with the flat form of its state."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.runs.files import RunError
from holdfast.runs.games import TENSORS
from holdfast.runs.trace import KEY_COLUMNS
from holdfast.spark.orders import COUNTERS
from holdfast.spark.pages import Page, another_layout
from holdfast.spark.plan import Plan

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
            "these models have lost the description of their columns, the metadata of the column 'state': "
            "store them as Parquet, and do not compute that column again"
        )
    return Plan.from_json(text)


def from_run(run):
    """The models of a run in this process, in record batches."""
    page, labels, p = run.page(), list(run.games.labels), run.games.parameters()
    starts = np.concatenate([[0], np.cumsum(page.sizes)])
    with np.errstate(all="ignore"):
        weights = p["weights"] * p["factors"] * p["y_spread"][:, None]
    of_key = np.repeat(np.arange(len(page.keys)), len(labels))
    names, texts = pa.array(page.keys, pa.string()), pa.array(labels * len(page.keys), pa.string())
    for first in range(0, len(of_key), _STEP):
        some = slice(first, min(first + _STEP, len(of_key)))
        keys, cut = of_key[some], starts[first : some.stop + 1]
        offsets = ((cut - cut[0]) * 8).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(page.words[cut[0] : cut[-1]].tobytes())]
        arrays = [
            names.take(pa.array(keys)),
            texts.slice(first, len(keys)),
            *map(pa.array, page.counts[some].T),
            *map(pa.array, page.counters[keys].T),
            *map(pa.array, page.sums[keys][:, 2:].T),
            pa.array(list(weights[some]), pa.list_(pa.float64())),
            pa.array([run.state_layout] * len(keys)),
            pa.BinaryArray.from_buffers(pa.binary(), len(keys), buffers),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def page_of(run, table, where="these models"):
    """The models of a table as a page for this run. The table has one row for each key and label."""
    labels = list(run.games.labels)
    place = pc.index_in(table.column("label"), pa.array(labels, pa.string()))
    if place.null_count:
        raise RunError(f"{where}: a label is none of {', '.join(labels)}; learn again")
    table = table.append_column("_label", pc.cast(place, pa.int64()))
    table = table.sort_by([("key", "ascending"), ("_label", "ascending")])
    keys = table.column("key").to_pylist()[:: len(labels)]
    every = np.tile(np.arange(len(labels)), len(keys))
    if len(set(keys)) < len(keys) or not np.array_equal(table.column("_label").to_numpy(), every):
        raise RunError(f"{where}: a key is there twice, or lacks a label; give the models of one fleet")
    if any(layout != run.state_layout for layout in pc.unique(table.column("layout")).to_pylist()):
        raise another_layout(where)
    states = table.column("state").to_pylist()
    sizes = np.array([len(state) // 8 for state in states], np.int64)
    words = np.frombuffer(b"".join(states), np.int64)
    counts, first = _numbers(table, COUNTS, np.int64), slice(None, None, len(labels))
    counters = _numbers(table, COUNTERS, np.int64)[first]
    # Each game has all rounds of the key. If there are several, this is at least the number that all kept.
    kept = counts[:, 1].reshape(-1, len(labels)).min(axis=1)
    sums = np.column_stack([counts[first, 0], kept, _numbers(table, SUMS, np.float64)[first]])
    return Page(keys, words, sizes, counts, counters, sums)


def _numbers(table, names, kind):
    return np.column_stack([table.column(name).to_numpy().astype(kind) for name in names])
