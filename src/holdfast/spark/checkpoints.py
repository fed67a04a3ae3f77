"""Read the states of a fleet from the checkpoint of its query, and give a query its first states."""

from pyspark.sql import functions

from holdfast.runs.files import RunError
from holdfast.spark.even_groups import even_numbers
from holdfast.spark.models import describe, from_run, model_schema
from holdfast.spark.pages import plan_in, read_page
from holdfast.spark.plan import Plan
from holdfast.spark.playing import KeyedRun
from holdfast.spark.processor import STATE


def read_plan(spark, checkpoint, settings, order, places):
    """The plan of a checkpoint; None if it has no complete batch. Raises if it was begun differently."""
    found = _first_page(spark, checkpoint)
    if found is None:
        return None
    plan = Plan.from_json(plan_in(found, checkpoint))
    _check_same(plan, settings, order, checkpoint)
    read_page(found, plan.to_json(), KeyedRun(plan).state_layout, checkpoint, places)
    return plan


def _check_same(plan, settings, order, checkpoint):
    """Raise if the plan of a checkpoint has other settings."""
    if (plan.settings, plan.order) == (settings, order):
        return
    change = "the order was another column"
    for name, value in plan.settings.to_json().items():
        if value != getattr(settings, name):
            change = f"{name} was {value!r}, and is now {getattr(settings, name)!r}"
            break
    raise RunError(f"{checkpoint} was begun with other settings: {change}")


def read_models(spark, checkpoint):
    """The models in a checkpoint as a DataFrame, as of its last complete batch."""
    found = _first_page(spark, checkpoint)
    if found is None:
        raise RunError(f"{checkpoint} has no models: the query has completed no batch, or is no fleet")
    plan = Plan.from_json(plan_in(found, checkpoint))
    models = _pages_in(spark, checkpoint).mapInArrow(_Models(plan, str(checkpoint)), model_schema())
    return describe(models, plan)


def first_states(spark, plan, page, places):
    """The models of a page as the first states of a query, by group and page."""
    run, groups = KeyedRun(plan), even_numbers(places.groups).tolist()
    rows = [
        (groups[places.group_of(number)], number, part.to_text(plan.to_json(), run.state_layout, places))
        for number, part in page.split(places, run.labels)
    ]
    return spark.createDataFrame(rows, "group int, page int, content string").groupBy("group")


class _Models:
    """For mapInArrow: the models in pages."""

    def __init__(self, plan, where):
        self.plan, self.where = plan.to_json(), where

    def __call__(self, batches):
        run = KeyedRun(Plan.from_json(self.plan))
        for batch in batches:
            for text in batch.column(0).to_pylist():
                run.load(read_page(text, self.plan, run.state_layout, self.where), self.where)
                yield from from_run(run) if run.games.keys else ()


def _pages_in(spark, checkpoint):
    """The pages in a checkpoint, as of its last complete batch."""
    found = spark.read.format("statestore").option("stateVarName", STATE).load(str(checkpoint))
    expires = "ttlExpirationMs" in found.schema["user_map_value"].dataType.names
    content = f"user_map_value.{'value.' if expires else ''}content"
    return found.select(functions.col(content).alias("content"))


def _first_page(spark, checkpoint):
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
