"""What a Spark session and its columns need, checked before anything runs: one sentence for each mistake."""

import importlib.util
from typing import Any

from pyspark.sql import Column, SparkSession, functions
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from holdfast.runs.files import RunError

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
EMPTY_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"
_JAVA = 17
WHERE = "the DataFrame"
_WHOLE = ("byte", "short", "integer", "long")
NUMBERS = (*_WHOLE, "float", "double", "decimal")
TIMES = ("timestamp", "timestamp_ntz", "date")
_KEYS = ("string", "boolean", "date", *_WHOLE)


def check_packages() -> None:
    """Raise if a Python package is missing that the workers need."""
    for name in ("pandas", "pyarrow", "safetensors"):
        if not importlib.util.find_spec(name):
            raise RunError(f"holdfast.spark needs {name}: pip install 'holdfast[spark]'")


def check_java(spark: SparkSession) -> None:
    """Raise if the JVM is too old for Spark 4."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:  # Spark Connect: the server has its own
        return
    version = str(jvm.java.lang.System.getProperty("java.specification.version"))
    if float(version) < _JAVA:
        raise RunError(
            f"Spark 4 needs Java {_JAVA} or newer, and this session runs on {version}: set JAVA_HOME"
        )


def check_streaming(spark: SparkSession) -> None:
    """Raise if this session cannot keep states: transformWithState needs protobuf and RocksDB."""
    check_packages()
    check_java(spark)
    if not importlib.util.find_spec("google") or not importlib.util.find_spec("google.protobuf"):
        raise RunError(
            "streams need the package protobuf, which pyspark does not bring: pip install 'holdfast[spark]'"
        )
    found = spark.conf.get(PROVIDER, None)
    if found is None or "RocksDB" not in found:
        raise RunError(f"streams need the state store RocksDB: spark.conf.set({PROVIDER!r}, {ROCKSDB!r})")


def time_mode(spark: SparkSession, expires: bool) -> str:
    """The time mode of transformWithState; raises if Spark would run empty batches without end."""
    if not expires:
        return "None"
    if spark.conf.get(EMPTY_BATCHES, "true").lower() != "false":
        raise RunError(
            "with ttl= or id= Spark runs empty batches without end, also with the trigger availableNow: "
            f"spark.conf.set({EMPTY_BATCHES!r}, False)"
        )
    return "ProcessingTime"


def milliseconds(value: float, name: str) -> int:
    """A number of seconds in milliseconds."""
    if not value > 0:
        raise ValueError(f"{name} is a number of seconds above 0: got {value!r}")
    return max(1, int(1000 * value))


# -- columns


def quoted_name(column: str) -> str:
    """The name of a column as Spark's functions read it, also if there is a dot in it."""
    return "`" + column.replace("`", "``") + "`"


def key_text(key: str) -> Column:
    """The key as text, as in the models; a missing key is the empty text."""
    return functions.coalesce(functions.col(quoted_name(key)).cast("string"), functions.lit(""))


def tie_breakers(schema: StructType) -> list[str]:
    """The columns to sort by after the order, so that rows of the same order are always sorted alike."""
    nested = (ArrayType, MapType, StructType)
    return [quoted_name(field.name) for field in schema if not isinstance(field.dataType, nested)]


def check_key(schema: StructType, key: str) -> None:
    """Raise if there is no such column, or it cannot be a key."""
    kind = _kind_in(schema, key)
    if kind not in _KEYS:
        raise RunError(f"{WHERE}, column {key!r}: {kind} cannot be a key; cast it to string")


def check_order(schema: StructType, order: str) -> None:
    """Raise if there is no such column, or it cannot be an order."""
    kind = _kind_in(schema, order)
    if kind not in (*_WHOLE, *TIMES):
        raise RunError(
            f"{WHERE}, column {order!r}: {kind} cannot be an order; whole numbers, dates and timestamps can"
        )


def _kind_in(schema: StructType, name: str) -> str:
    if name not in schema.names:
        raise RunError(f"{WHERE} has no column {name!r}; it has {', '.join(schema.names[:20])}")
    return kind_of(schema[name])


def kind_of(field: StructField) -> str:
    """The type of a column of Spark in one word, such as long or decimal."""
    return field.dataType.typeName()


def check_count(value: Any, name: str) -> int:
    """The value; raises if it is not a count."""
    if not (isinstance(value, int) and 1 <= value <= 1 << 20):
        raise ValueError(f"{name} is a count from 1 to {1 << 20:,}: got {value!r}")
    return value


def partition_count(partitions: int | None, spark: SparkSession) -> int:
    """So many partitions; by default as many as a shuffle of this session makes."""
    if partitions is None:
        return int(spark.conf.get("spark.sql.shuffle.partitions"))
    return check_count(partitions, "partitions")
