"""A fleet: a model for each key of a stream, exactly once."""

from holdfast.runs.files import RunError
from holdfast.spark.batch import with_order
from holdfast.spark.checks import check_streaming
from holdfast.spark.models import describe, from_run, model_schema
from holdfast.spark.packing import PACKED, Pack, Unpack
from holdfast.spark.pages import Places, load_into, plan_in, read_page
from holdfast.spark.plan import Plan, check_columns, first_rows, plan_from_rows, plan_from_schema, settings_of
from holdfast.spark.playing import ORDER, KeyedRun
from holdfast.spark.processor import STATE, FleetProcessor


class Fleet:
    """A model for each key of a stream. Every row is predicted, then learned from unless it is an outlier.

    The states are in Spark's state store, so every row is learned from exactly once, also after a crash. A row
    whose order is not after the last one of its key is late or doubled: it is dropped, counted, and has the
    reason "late" in the output.

    Parameters
    ----------
    key, target, order : names of columns
        A key is text, a whole number, a truth value or a date. An order is a whole number, a date or a timestamp.
    features, drop : names of columns, optional
        Predict from these columns, or from all but these. Default: from all but key, target and order.
    labels : texts, optional
        All labels; needed for classification without a sample.
    sample : DataFrame, optional
        Rows to choose the encoding of the columns from. Without them the columns must be numbers, truth values
        and times.
    ttl : float, optional
        A key that had no row for so many seconds is forgotten. Default: never.
    groups, pages : int
        The keys are divided into groups, which tasks can work on at the same time, and each group into pages.
        The states of a page are read and written together. They cannot be changed in a checkpoint.
    compiled : bool, optional
        Whether to compile. The result is the same. Default: as `holdfast learn`.
    **settings
        task, loss, outliers, learner, scale, memory, patience, missing: as in `holdfast learn --help`.
    """

    def __init__(
        self, *, key, target, order, features=None, drop=None, labels=None, sample=None, ttl=None, groups=32, pages=32,
        compiled=None, **settings,
    ):  # fmt: skip
        self.settings = settings_of(key, target, order, features, drop, labels, settings)
        self.order, self.sample, self.compiled = order, sample, compiled
        self.places = Places(_count(groups, "groups"), _count(pages, "pages"))
        if ttl is not None and not ttl > 0:
            raise ValueError(f"ttl is a number of seconds above 0: got {ttl!r}")
        self.ttl = None if ttl is None else max(1, int(1000 * ttl))

    def learn(self, stream, checkpoint=None):
        """A streaming DataFrame with a row for each row of the stream.

        Its columns are key, at (the order), prediction before learning, kept, reason if it was not kept, and the
        size and threshold that were compared. Write it in output mode "append".

        Parameters
        ----------
        stream : DataFrame
            A stream, such as from `spark.readStream`.
        checkpoint : path, optional
            The checkpoint that the query will use. If it exists, it is checked now, and its encoding of the
            columns is used.
        """
        spark = stream.sparkSession
        check_streaming(spark)
        if not stream.isStreaming:
            raise ValueError("this DataFrame is no stream: use holdfast.spark.learn")
        check_columns(stream.schema, self.settings, self.order)
        plan = self._plan(spark, stream.schema, checkpoint)
        rows = with_order(stream.select(*plan.columns()), self.order)
        schema = _output(stream.schema, plan)
        packed = rows.mapInArrow(Pack(plan.key, self.places), PACKED).groupBy("group")
        mode = "None" if self.ttl is None else "ProcessingTime"
        processor = FleetProcessor(plan, self.places, self.ttl, self.compiled, _arrow(schema))
        return packed.transformWithState(processor, "rows binary", "append", mode).mapInArrow(Unpack(), schema)

    def _plan(self, spark, schema, checkpoint):
        found = None if checkpoint is None else _first_page(spark, checkpoint)
        if found is not None:
            plan = plan_in(found, checkpoint)
            if (plan.settings, plan.order) != (self.settings, self.order):
                raise RunError(f"{checkpoint} was begun with other settings: {_difference(plan.settings, self.settings)}")
            read_page(found, plan.to_json(), KeyedRun(plan).games.layout, checkpoint)
            return plan
        if self.sample is None:
            return plan_from_schema(schema, self.settings, self.order)
        head = first_rows(self.sample, self.settings.key, self.order)
        return plan_from_rows(head, schema, self.settings, self.order, lambda text: None)

    @staticmethod
    def models(checkpoint, spark=None):
        """The models in the checkpoint of a query, as a DataFrame. The query may run, or have crashed."""
        from pyspark.sql import SparkSession

        spark = spark or SparkSession.active()
        check_streaming(spark)
        found = _first_page(spark, checkpoint)
        if found is None:
            raise RunError(f"{checkpoint} has no models: the query has completed no batch, or is no fleet")
        plan = plan_in(found, checkpoint)
        models = _pages(spark, checkpoint).mapInArrow(_Models(plan, str(checkpoint)), model_schema())
        return describe(models, plan)


class _Models:
    """For mapInArrow: the models in pages."""

    def __init__(self, plan, where):
        self.plan, self.where = plan.to_json(), where

    def __call__(self, batches):
        run = KeyedRun(Plan.from_json(self.plan))
        for batch in batches:
            for data in batch.column(0).to_pylist():
                load_into(run, read_page(data, self.plan, run.games.layout, self.where), self.where)
                if run.games.keys:
                    yield from from_run(run)


def _pages(spark, checkpoint):
    """The pages in a checkpoint, as of its last complete batch."""
    from pyspark.sql import functions as F

    reader = spark.read.format("statestore").option("stateVarName", STATE)
    return reader.load(str(checkpoint)).select(F.col("user_map_value.content").alias("content"))


def _first_page(spark, checkpoint):
    """One page of a checkpoint; None if there is no complete batch in it."""
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{checkpoint}/commits")
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if not files.exists(path) or not len(files.listStatus(path)):
        return None
    found = _pages(spark, checkpoint).limit(1).collect()
    return found[0].content if found else None


def _output(schema, plan):
    """The columns of the streaming DataFrame."""
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

    prediction = DoubleType() if plan.target.regression else StringType()
    columns = {"key": StringType(), "at": schema[plan.order].dataType, "prediction": prediction}
    columns |= {"kept": BooleanType(), "reason": StringType(), "size": DoubleType(), "threshold": DoubleType()}
    return StructType([StructField(name, kind) for name, kind in columns.items()])


def _arrow(schema):
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")


def _count(value, name):
    if not (isinstance(value, int) and 1 <= value <= 1 << 20):
        raise ValueError(f"{name} is a count from 1 to {1 << 20:,}: got {value!r}")
    return value


def _difference(found, asked):
    for name, value in found.to_json().items():
        if value != getattr(asked, name):
            return f"{name} was {value!r}, and is now {getattr(asked, name)!r}"
    return "the order was another column"
