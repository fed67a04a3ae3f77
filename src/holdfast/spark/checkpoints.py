"""Read the states of a fleet from the checkpoint of its query."""

from holdfast.runs.files import RunError
from holdfast.spark.processor import STATE


def pages_in(spark, checkpoint):
    """The pages in a checkpoint, as of its last complete batch."""
    from pyspark.sql import functions

    reader = spark.read.format("statestore").option("stateVarName", STATE)
    found = reader.load(str(checkpoint))
    expires = "ttlExpirationMs" in found.schema["user_map_value"].dataType.names
    return found.select(
        functions.col(f"user_map_value.{'value.' if expires else ''}content").alias("content")
    )


def first_page(spark, checkpoint):
    """One page of a checkpoint; None if there is no complete batch in it."""
    if getattr(spark, "_jvm", None) is None:
        raise RunError("a checkpoint can be read in a classic session of Spark only, not with Spark Connect")
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{checkpoint}/commits")
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if not files.exists(path) or not len(files.listStatus(path)):
        return None
    found = pages_in(spark, checkpoint).limit(1).collect()
    return found[0].content if found else None
