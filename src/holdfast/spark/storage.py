"""Where the models of a fleet are stored: in the checkpoint of a query, or in a run folder."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, GroupedData, SparkSession, functions

from holdfast.fleet.states import KeyStates
from holdfast.runs.config import CONFIG, Config, Settings
from holdfast.runs.files import RunError, to_json
from holdfast.runs.folder import Folder
from holdfast.runs.run import Run, open_run
from holdfast.spark.key_widths import KeyWidths, with_widths, without_widths
from holdfast.spark.models import describe, from_run, model_schema, plan_of, states_of
from holdfast.spark.orders import FIRST
from holdfast.spark.packing import even_numbers
from holdfast.spark.pages import Places, page_text, plan_in, read_page, split
from holdfast.spark.plan import read_plan
from holdfast.spark.playing import KeyedRun, load_games
from holdfast.spark.processor import STATE

_OF_LEARNER = ("loss", "outliers", "learner", "scale", "memory", "patience")


# -- the checkpoint of a query


def plan_of_checkpoint(
    spark: SparkSession, checkpoint: str | Path, settings: Settings, order: str, places: Places
) -> Config | None:
    """The plan of a checkpoint; None if it has no complete batch. Raises if it was begun differently."""
    found = _first_page(spark, checkpoint)
    if found is None:
        return None
    plan = read_plan(plan_in(found, checkpoint))
    _check_same(plan, settings, order, checkpoint)
    read_page(found, plan.to_text(), KeyedRun(plan), checkpoint, places)
    return plan


def _check_same(plan: Config, settings: Settings, order: str, checkpoint: str | Path) -> None:
    if (plan.settings, plan.order) == (settings, order):
        return
    change = "the order was another column"
    for name, value in plan.settings.to_json().items():
        if value != getattr(settings, name):
            change = f"{name} was {value!r}, and is now {getattr(settings, name)!r}"
            break
    raise RunError(f"{checkpoint} was begun with other settings: {change}")


def read_models(spark: SparkSession, checkpoint: str | Path) -> DataFrame:
    """The models in a checkpoint as a DataFrame, as of its last complete batch."""
    found = _first_page(spark, checkpoint)
    if found is None:
        raise RunError(f"{checkpoint} has no models: the query has completed no batch, or is no fleet")
    plan = read_plan(plan_in(found, checkpoint))
    models = _pages_in(spark, checkpoint).mapInArrow(_Models(plan, str(checkpoint)), model_schema())
    return describe(models, plan)


def first_states(spark: SparkSession, plan: Config, states: KeyStates, places: Places) -> GroupedData:
    """These states as the first ones of a query, by group and page."""
    run, groups = KeyedRun(plan), even_numbers(places.groups).tolist()
    rows = [
        (groups[places.group_of(number)], number, page_text(part, plan.to_text(), run.state_layout, places))
        for number, part in split(states, places, run.labels)
    ]
    return spark.createDataFrame(rows, "group int, page int, content string").groupBy("group")


class _Models:
    """For mapInArrow: the models in pages."""

    def __init__(self, plan: Config, where: str) -> None:
        self.plan, self.where = plan.to_text(), where

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        run = KeyedRun(read_plan(self.plan))
        for batch in batches:
            for text in batch.column(0).to_pylist():
                run.load(read_page(text, self.plan, run, self.where), self.where)
                yield from from_run(run) if run.games.keys else ()


def _pages_in(spark: SparkSession, checkpoint: str | Path) -> DataFrame:
    """The pages in a checkpoint, as of its last complete batch."""
    found = spark.read.format("statestore").option("stateVarName", STATE).load(str(checkpoint))
    expires = "ttlExpirationMs" in found.schema["user_map_value"].dataType.names
    content = f"user_map_value.{'value.' if expires else ''}content"
    return found.select(functions.col(content).alias("content"))


def _first_page(spark: SparkSession, checkpoint: str | Path) -> str | None:
    """One page of a checkpoint; None if there is no complete batch in it."""
    if " " in str(checkpoint):
        raise RunError(f"Spark cannot read states from a path with a space: rename {str(checkpoint)!r}")
    if getattr(spark, "_jvm", None) is None:
        raise RunError("a checkpoint can be read in a classic session of Spark only, not with Spark Connect")
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{checkpoint}/commits")
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if not files.exists(path) or not len(files.listStatus(path)):
        return None
    found = _pages_in(spark, checkpoint).limit(1).collect()
    return found[0].content if found else None


# -- a run folder


def to_run(models: DataFrame, folder: str | Path) -> None:
    """Write a run folder with the models of a fleet, for `holdfast predict`, `inspect` and `learn --into`.

    The models are collected to the driver. The folder has no audit, and its metrics count the rows that were
    learned from. `keys.parquet` has all rows and the error of each key.

    Parameters:
        models (DataFrame): From `learn` or `Fleet.models`.
        folder (path): A new folder.
    """
    write_run(plan_of(models), models.toArrow(), folder)


def write_run(plan: Config, table: pa.Table, folder: str | Path) -> None:
    """Write a run folder with the models in a table of Arrow."""
    if not table.num_rows:
        raise RunError("there are no models to write")
    labels = len(plan.target.model_names())
    states, _ = without_widths(states_of(KeyedRun(plan), table), labels)
    place = Folder(folder)
    place.create()
    try:
        run = Run(place, plan)
        load_games(run, states, folder)
        run.games.check()
        run.trace.rounds = int(states.columns["sums"][:, 1].sum())  # kept: there is no audit
        run.finished = True
        place.write([(CONFIG, to_json(plan.to_json()))])
        run.save()
    finally:
        place.close()


def read_seed(folder: str | Path, settings: Settings, order: str) -> tuple[Config, KeyStates]:
    """The plan and the states of a run folder; raises if the run has other settings than the fleet."""
    run = open_run(folder)
    for name in ("key", "target"):
        if getattr(run.settings, name) != getattr(settings, name):
            raise RunError(
                f"{folder} was learned with {name} {getattr(run.settings, name)!r}, and the fleet has "
                f"{getattr(settings, name)!r}"
            )
    for name in _OF_LEARNER:
        if getattr(run.settings, name) != getattr(settings, name):
            raise RunError(
                f"{folder} was learned with {name}={getattr(run.settings, name)!r}: give the fleet the same"
            )
    if order in [column.name for column in run.layout.columns]:
        raise RunError(
            f"{folder} has learned from the column {order!r}: the order of a fleet is another column"
        )
    run.games.check()
    counters = np.tile(np.array([[FIRST, 0, 0]]), (len(run.games.keys), 1))
    columns = {"counters": counters, "sums": run.keys.sums}
    states = run.games.packed(np.arange(len(run.games.keys)), columns)
    new = KeyWidths(len(run.target.labels)).stored(len(states.keys))
    states = with_widths(states, new, len(run.games.labels))
    return Config.new(settings, run.layout, run.target, order=order), states
