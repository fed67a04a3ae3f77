"""A fleet: a model for each key of a stream, exactly once."""

from holdfast.runs.files import RunError
from holdfast.spark.answers import LearnRows
from holdfast.spark.checkpoints import first_states, read_models, read_plan
from holdfast.spark.checks import check_streaming, milliseconds, time_mode
from holdfast.spark.columns import check_count, quoted_name
from holdfast.spark.guess_plan import check_columns, first_rows, plan_from_rows, plan_from_schema
from holdfast.spark.later import IS_LABEL, LaterProcessor, with_labels
from holdfast.spark.packing import Unpack, arrow_schema, in_even_groups
from holdfast.spark.pages import Places
from holdfast.spark.plan import settings_of
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
        task, loss, outliers, learner, scale, memory, patience, delay, missing: as in `holdfast learn --help`.
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
        self.places = Places(check_count(groups, "groups"), check_count(pages, "pages"))
        self.ttl, self.wait = None if ttl is None else milliseconds(ttl, "ttl"), milliseconds(wait, "wait")
        self.most_waiting = check_count(most_waiting, "most_waiting")

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
        rows = stream if labels is None else with_labels(stream, labels, self.settings, self.id, self.order)
        plan, page = self._start(spark, rows.drop(IS_LABEL).schema, checkpoint)
        for name in plan.columns():
            if name not in rows.columns:
                raise RunError(f"the stream has no column {name!r}, which the fleet learns from")
        others = [] if labels is None else [self.id, IS_LABEL]
        schema = self._output(rows.schema, plan)
        job = LearnRows(plan, self.compiled, arrow_schema(schema))
        rows = rows.select(*map(quoted_name, [*plan.columns(), *others]))
        packed = in_even_groups(rows, plan.key, self.places)
        processor = Processor(job, self.places, self.ttl)
        if labels is not None:
            processor = LaterProcessor(job, self.places, self.ttl, self.id, self.wait, self.most_waiting)
        mode = time_mode(spark, self.ttl is not None or labels is not None)
        first = None if page is None else first_states(spark, plan, page, self.places)
        played = packed.transformWithState(processor, "rows binary", "append", mode, first)
        return played.mapInArrow(Unpack(), schema)

    def _start(self, spark, schema, checkpoint):
        """The plan, and a page of models to begin with; None if there are none."""
        check_columns(schema, self.settings, self.order)
        plan, page = (None, None) if self.seed is None else read_seed(self.seed, self.settings, self.order)
        how = self.settings, self.order, self.places
        known = None if checkpoint is None else read_plan(spark, checkpoint, *how)
        if known is not None:
            return known, page
        if plan is not None:
            return plan, page
        if self.sample is None:
            return plan_from_schema(schema, self.settings, self.order), None
        head = first_rows(self.sample, self.settings.key, self.order)
        return plan_from_rows(head, schema, self.settings, self.order, lambda text: None), None

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
        return read_models(spark, checkpoint)
