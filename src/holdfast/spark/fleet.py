"""A fleet: a model for each key of a stream, exactly once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

from holdfast.fleet.states import KeyStates
from holdfast.runs.config import Config
from holdfast.runs.files import RunError
from holdfast.spark.checks import check_count, check_streaming, milliseconds, quoted_name, time_mode
from holdfast.spark.later import IS_LABEL, LaterProcessor, with_labels
from holdfast.spark.packing import Unpack, arrow_schema, in_even_groups
from holdfast.spark.pages import Places
from holdfast.spark.plan import check_columns, first_rows, plan_from_rows, plan_from_schema, settings_of
from holdfast.spark.processor import LearnRows, Processor
from holdfast.spark.storage import first_states, plan_of_checkpoint, read_models, read_seed


class Fleet:
    """A model for each key of a stream. Every row is predicted, then learned from unless it is an outlier.

    The states are in Spark's state store, so every row is learned from exactly once, also after a crash. A
    row whose order is not after the last one of its key is late or doubled: it is dropped, counted, and has
    the reason "late" in the output.

    Parameters:
        key, target, order, features, drop, compiled: As in `learn`; by default `id` is no feature.
        labels (texts, optional): All labels; needed for classification without a sample.
        sample (DataFrame, optional): Rows to choose the encoding of the columns from. Without them the
            columns must be numbers, truth values and times.
        seed (path, optional): A run folder with keys. The fleet begins with its models and its encoding of
            the columns.
        ttl: A key that had no row for so many seconds is forgotten. Default: never.
        id (name of a column, optional): For labels that come later: the column that rows and labels are
            joined by, within a key.
        wait: With `id`: a row waits for its label for so many seconds.
        most_waiting: With `id`: in each page so many rows wait; the oldest are dropped.
        groups, pages: The keys are divided into groups, which tasks can work on at the same time, and each
            group into pages. The states of a page are read and written together. They cannot be changed in a
            checkpoint.
        **settings: task, loss, outliers, learner, scale, memory, patience, delay, missing: as in `holdfast
            learn --help`.
    """

    def __init__(
        self,
        *,
        key: str,
        target: str,
        order: str,
        features: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        sample: DataFrame | None = None,
        seed: str | Path | None = None,
        ttl: float | None = None,
        id: str | None = None,
        wait: float = 3600.0,
        most_waiting: int = 10_000,
        groups: int = 16,
        pages: int = 4,
        compiled: bool | None = None,
        **settings: Any,
    ) -> None:
        drop = (*(drop or ()), *(() if id is None or features else (id,)))
        self.settings = settings_of(key, target, order, features, drop, labels, settings)
        self.order, self.sample, self.seed, self.compiled, self.id = order, sample, seed, compiled, id
        self.places = Places(check_count(groups, "groups"), check_count(pages, "pages"))
        self.ttl, self.wait = None if ttl is None else milliseconds(ttl, "ttl"), milliseconds(wait, "wait")
        self.most_waiting = check_count(most_waiting, "most_waiting")

    def learn(
        self, stream: DataFrame, labels: DataFrame | None = None, checkpoint: str | Path | None = None
    ) -> DataFrame:
        """A streaming DataFrame with a row for each row of the stream.

        Its columns are key, at (the order), prediction before learning, kept, reason if it was not kept, and
        the size and threshold that were compared. Write it in output mode "append".

        If labels come later, it has a row for each row and for each label. A row is predicted by the model
        before the batch that it is in, and waits. A label is learned from, with the features of the row of
        the same key and id; if there is none, its reason is "unknown id".

        Parameters:
            stream (DataFrame): A stream, such as from `spark.readStream`.
            labels (DataFrame, optional): A stream with the columns key, id, order and target, needed with
                `id`.
            checkpoint (path, optional): The checkpoint that the query will use. If it exists, it is checked
                now, and its encoding of the columns is used.
        """
        spark = stream.sparkSession
        check_streaming(spark)
        if not stream.isStreaming:
            raise ValueError("this DataFrame is no stream: use holdfast.spark.learn")
        if (labels is None) != (self.id is None):
            raise ValueError("labels that come later need both: id= in Fleet, and labels= in learn")
        rows = stream
        if labels is not None and self.id is not None:
            rows = with_labels(stream, labels, self.settings, self.id, self.order)
        plan, states = self._start(spark, rows.drop(IS_LABEL).schema, checkpoint)
        for name in plan.columns():
            if name not in rows.columns:
                raise RunError(f"the stream has no column {name!r}, which the fleet learns from")
        others = [] if self.id is None else [self.id, IS_LABEL]
        schema = self._output(rows.schema, plan)
        job = LearnRows(plan, self.compiled, arrow_schema(schema))
        rows = rows.select(*map(quoted_name, [*plan.columns(), *others]))
        packed = in_even_groups(rows, str(plan.key), self.places)
        processor = Processor(job, self.places, self.ttl)
        if self.id is not None:
            processor = LaterProcessor(job, self.places, self.ttl, self.id, self.wait, self.most_waiting)
        mode = time_mode(spark, self.ttl is not None or labels is not None)
        first = None if states is None else first_states(spark, plan, states, self.places)
        played = packed.transformWithState(processor, "rows binary", "append", mode, first)
        return played.mapInArrow(Unpack(), schema)

    def _start(
        self, spark: SparkSession, schema: StructType, checkpoint: str | Path | None
    ) -> tuple[Config, KeyStates | None]:
        """The plan, and states to begin with; None if there are none."""
        check_columns(schema, self.settings, self.order)
        seed = None if self.seed is None else read_seed(self.seed, self.settings, self.order)
        how = self.settings, self.order, self.places
        known = None if checkpoint is None else plan_of_checkpoint(spark, checkpoint, *how)
        if known is not None:
            return known, None if seed is None else seed[1]
        if seed is not None:
            return seed
        if self.sample is None:
            return plan_from_schema(schema, self.settings, self.order), None
        head = first_rows(self.sample, str(self.settings.key), self.order)
        return plan_from_rows(head, schema, self.settings, self.order, lambda text: None), None

    def _output(self, schema: StructType, plan: Config) -> StructType:
        prediction = DoubleType() if plan.target.regression else StringType()
        columns = {"key": StringType()} | ({} if self.id is None else {"id": schema[self.id].dataType})
        columns |= {"at": schema[plan.order].dataType, "prediction": prediction, "kept": BooleanType()}
        columns |= {"reason": StringType(), "size": DoubleType(), "threshold": DoubleType()}
        return StructType([StructField(name, kind) for name, kind in columns.items()])

    @staticmethod
    def models(checkpoint: str | Path, spark: SparkSession | None = None) -> DataFrame:
        """The models in the checkpoint of a query, as a DataFrame. The query may run, or have crashed."""
        spark = spark or SparkSession.active()
        check_streaming(spark)
        return read_models(spark, checkpoint)
