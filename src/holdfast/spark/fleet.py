"""A fleet: a model for each key of a stream, exactly once."""

from holdfast.runs.files import RunError
from holdfast.spark.answers import LearnRows
from holdfast.spark.checkpoints import first_page, pages_in
from holdfast.spark.checks import check_streaming, time_mode
from holdfast.spark.columns import quoted_name
from holdfast.spark.later import IS_LABEL, LaterProcessor
from holdfast.spark.models import describe, from_run, model_schema
from holdfast.spark.packing import PACKED, Pack, Unpack, arrow_schema
from holdfast.spark.pages import Places, plan_text, read_page
from holdfast.spark.plan import Plan, check_columns, first_rows, plan_from_rows, plan_from_schema, settings_of
from holdfast.spark.playing import KeyedRun
from holdfast.spark.processor import Processor
from holdfast.spark.run_folders import read_seed


class Fleet:
    """A model for each key of a stream. Every row is predicted, then learned from unless it is an outlier.

    The states are in Spark's state store, so every row is learned from exactly once, also after a crash. A
    row whose order is not after the last one of its key is late or doubled: it is dropped, counted, and has
    the reason "late" in the output.

    Parameters
    ----------
    key, target, order : names of columns
        A key is text, a whole number, a truth value or a date. An order is a whole number, a date or a
        timestamp.
    features, drop : names of columns, optional
        Predict from these columns, or from all but these. Default: from all but key, target, order and id.
    labels : texts, optional
        All labels; needed for classification without a sample.
    sample : DataFrame, optional
        Rows to choose the encoding of the columns from. Without them the columns must be numbers, truth
        values and times.
    seed : path, optional
        A run folder with keys. The fleet begins with its models and its encoding of the columns.
    ttl : float, optional
        A key that had no row for so many seconds is forgotten. Default: never.
    id : name of a column, optional
        For labels that come later: the column that rows and labels are joined by, within a key.
    wait : float
        With `id`: a row waits for its label for so many seconds.
    most_waiting : int
        With `id`: in each page so many rows wait; the oldest are dropped.
    groups, pages : int
        The keys are divided into groups, which tasks can work on at the same time, and each group into pages.
        The states of a page are read and written together. They cannot be changed in a checkpoint.
    compiled : bool, optional
        Whether to compile. The result is the same. Default: as `holdfast learn`.
    **settings
        task, loss, outliers, learner, scale, memory, patience, missing: as in `holdfast learn --help`.
    """

    def __init__(
        self,
        *,
        key,
        target,
        order,
        features=None,
        drop=None,
        labels=None,
        sample=None,
        seed=None,
        ttl=None,
        id=None,
        wait=3600.0,
        most_waiting=10_000,
        groups=16,
        pages=4,
        compiled=None,
        **settings,
    ):
        drop = (*(drop or ()), *(() if id is None or features else (id,)))
        self.settings = settings_of(key, target, order, features, drop, labels, settings)
        self.order, self.sample, self.seed, self.compiled, self.id = order, sample, seed, compiled, id
        self.places = Places(_count(groups, "groups"), _count(pages, "pages"))
        self.ttl, self.wait = None if ttl is None else _milliseconds(ttl, "ttl"), _milliseconds(wait, "wait")
        self.most_waiting = _count(most_waiting, "most_waiting")

    def learn(self, stream, labels=None, checkpoint=None):
        """A streaming DataFrame with a row for each row of the stream.

        Its columns are key, at (the order), prediction before learning, kept, reason if it was not kept, and
        the size and threshold that were compared. Write it in output mode "append".

        If labels come later, it has a row for each row and for each label. A row is predicted by the model
        before the batch that it is in, and waits. A label is learned from, with the features of the row of
        the same key and id; if there is none, its reason is "unknown id".

        Parameters
        ----------
        stream : DataFrame
            A stream, such as from `spark.readStream`.
        labels : DataFrame, optional
            A stream with the columns key, id, order and target, needed with `id`.
        checkpoint : path, optional
            The checkpoint that the query will use. If it exists, it is checked now, and its encoding of the
            columns is used.
        """
        spark = stream.sparkSession
        check_streaming(spark)
        if not stream.isStreaming:
            raise ValueError("this DataFrame is no stream: use holdfast.spark.learn")
        if (labels is None) != (self.id is None):
            raise ValueError("labels that come later need both: id= in Fleet, and labels= in learn")
        rows = stream if labels is None else self._with_labels(stream, labels)
        plan, page = self._plan(spark, rows.drop(IS_LABEL).schema, checkpoint)
        for name in plan.columns():
            if name not in rows.columns:
                raise RunError(f"the stream has no column {name!r}, which the fleet learns from")
        others = [] if labels is None else [self.id, IS_LABEL]
        schema = self._output(rows.schema, plan)
        job = LearnRows(plan, self.compiled, arrow_schema(schema))
        rows = rows.select(*map(quoted_name, [*plan.columns(), *others]))
        packed = rows.mapInArrow(Pack(plan.key, self.places), PACKED).groupBy("group")
        processor = Processor(job, self.places, self.ttl)
        if labels is not None:
            processor = LaterProcessor(job, self.places, self.ttl, self.id, self.wait, self.most_waiting)
        mode = time_mode(spark, self.ttl is not None or labels is not None)
        start = None if page is None else self._initial(spark, plan, page)
        return packed.transformWithState(processor, "rows binary", "append", mode, start).mapInArrow(
            Unpack(), schema
        )

    def _with_labels(self, stream, labels):
        """Rows and labels as one stream."""
        from pyspark.sql import functions

        own = [self.settings.key, self.id, self.order, self.settings.target]
        for name in own:
            if name not in labels.columns or name not in (*stream.columns, self.settings.target):
                where = "stream of labels" if name not in labels.columns else "stream"
                raise RunError(f"the {where} has no column {name!r}: rows and labels have key, id and order")
        kind = labels.schema[self.settings.target].dataType
        rows = stream.withColumn(self.settings.target, functions.lit(None).cast(kind)).withColumn(
            IS_LABEL, functions.lit(False)
        )
        return rows.unionByName(
            labels.select(*map(quoted_name, own)).withColumn(IS_LABEL, functions.lit(True)),
            allowMissingColumns=True,
        )

    def _plan(self, spark, schema, checkpoint):
        """The plan, and the page to begin with; None if there is none."""
        check_columns(schema, self.settings, self.order)
        plan, page = (None, None) if self.seed is None else read_seed(self.seed, self.settings, self.order)
        found = None if checkpoint is None else first_page(spark, checkpoint)
        if found is not None:
            known = Plan.from_json(plan_text(found, checkpoint))
            if (known.settings, known.order) != (self.settings, self.order):
                change = _difference(known.settings, self.settings)
                raise RunError(f"{checkpoint} was begun with other settings: {change}")
            read_page(found, known.to_json(), KeyedRun(known).state_layout, checkpoint, self.places)
            return known, page
        if plan is not None:
            return plan, page
        if self.sample is None:
            return plan_from_schema(schema, self.settings, self.order), None
        head = first_rows(self.sample, self.settings.key, self.order)
        return plan_from_rows(head, schema, self.settings, self.order, lambda text: None), None

    def _initial(self, spark, plan, page):
        """The states to begin with, by group and page."""
        run = KeyedRun(plan)
        rows = [
            (
                self.places.group_of(number),
                number,
                bytearray(part.to_bytes(plan.to_json(), run.state_layout, self.places)),
            )
            for number, part in page.split(self.places, run.labels)
        ]
        return spark.createDataFrame(rows, "group int, page int, content binary").groupBy("group")

    def _output(self, schema, plan):
        """The columns of the streaming DataFrame."""
        from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

        prediction = DoubleType() if plan.target.regression else StringType()
        columns = {"key": StringType()} | ({} if self.id is None else {"id": schema[self.id].dataType})
        columns |= {"at": schema[plan.order].dataType, "prediction": prediction, "kept": BooleanType()}
        columns |= {"reason": StringType(), "size": DoubleType(), "threshold": DoubleType()}
        return StructType([StructField(name, kind) for name, kind in columns.items()])

    @staticmethod
    def models(checkpoint, spark=None):
        """The models in the checkpoint of a query, as a DataFrame. The query may run, or have crashed."""
        from pyspark.sql import SparkSession

        spark = spark or SparkSession.active()
        check_streaming(spark)
        found = first_page(spark, checkpoint)
        if found is None:
            raise RunError(f"{checkpoint} has no models: the query has completed no batch, or is no fleet")
        plan = Plan.from_json(plan_text(found, checkpoint))
        models = pages_in(spark, checkpoint).mapInArrow(_Models(plan, str(checkpoint)), model_schema())
        return describe(models, plan)


class _Models:
    """For mapInArrow: the models in pages."""

    def __init__(self, plan, where):
        self.plan, self.where = plan.to_json(), where

    def __call__(self, batches):
        run = KeyedRun(Plan.from_json(self.plan))
        for batch in batches:
            for data in batch.column(0).to_pylist():
                run.load(read_page(data, self.plan, run.state_layout, self.where), self.where)
                if run.games.keys:
                    yield from from_run(run)


def _count(value, name):
    if not (isinstance(value, int) and 1 <= value <= 1 << 20):
        raise ValueError(f"{name} is a count from 1 to {1 << 20:,}: got {value!r}")
    return value


def _milliseconds(value, name):
    if not value > 0:
        raise ValueError(f"{name} is a number of seconds above 0: got {value!r}")
    return max(1, int(1000 * value))


def _difference(found, asked):
    for name, value in found.to_json().items():
        if value != getattr(asked, name):
            return f"{name} was {value!r}, and is now {getattr(asked, name)!r}"
    return "the order was another column"
