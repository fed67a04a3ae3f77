"""Columns of Spark: names, keys as text, and the order of rows that are alike."""

from pyspark.sql import functions
from pyspark.sql.types import ArrayType, MapType, StructType


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
