"""Columns of Spark: their names and types, and which can be a key or an order."""

from pyspark.sql import functions
from pyspark.sql.types import ArrayType, MapType, StructType

from holdfast.runs.files import RunError

WHERE = "the DataFrame"
_WHOLE = ("byte", "short", "integer", "long")
NUMBERS = (*_WHOLE, "float", "double", "decimal")
TIMES = ("timestamp", "timestamp_ntz", "date")
_KEYS = ("string", "boolean", "date", *_WHOLE)


def quoted_name(column):
    """The name of a column as Spark's functions read it, also if there is a dot in it."""
    return "`" + column.replace("`", "``") + "`"


def key_text(key):
    """The key as text, as in the models; a missing key is the empty text."""
    return functions.coalesce(functions.col(quoted_name(key)).cast("string"), functions.lit(""))


def tie_breakers(schema):
    """The columns to sort by after the order, so that rows of the same order are always sorted alike."""
    nested = (ArrayType, MapType, StructType)
    return [quoted_name(field.name) for field in schema if not isinstance(field.dataType, nested)]


def check_key(schema, key):
    """Raise if there is no such column, or it cannot be a key."""
    kind = _kind_in(schema, key)
    if kind not in _KEYS:
        raise RunError(f"{WHERE}, column {key!r}: {kind} cannot be a key; cast it to string")


def check_order(schema, order):
    """Raise if there is no such column, or it cannot be an order."""
    kind = _kind_in(schema, order)
    if kind not in (*_WHOLE, *TIMES):
        raise RunError(
            f"{WHERE}, column {order!r}: {kind} cannot be an order; whole numbers, dates and timestamps can"
        )


def _kind_in(schema, name):
    if name not in schema.names:
        raise RunError(f"{WHERE} has no column {name!r}; it has {', '.join(schema.names[:20])}")
    return kind_of(schema[name])


def kind_of(field):
    """The type of a column of Spark in one word, such as long or decimal."""
    return field.dataType.typeName()


def check_count(value, name):
    """The value; raises if it is not a count."""
    if not (isinstance(value, int) and 1 <= value <= 1 << 20):
        raise ValueError(f"{name} is a count from 1 to {1 << 20:,}: got {value!r}")
    return value


def partition_count(partitions, spark):
    """So many partitions; by default as many as a shuffle of this session makes."""
    if partitions is None:
        return int(spark.conf.get("spark.sql.shuffle.partitions"))
    return check_count(partitions, "partitions")
