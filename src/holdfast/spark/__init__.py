"""Spark: a model for each key of a DataFrame or a stream, with the bits of `holdfast learn --key --no-prior`.

>>> learned = learn(df, key="machine", target="load", order="time")  # doctest: +SKIP
>>> predict(learned.models, df, coverage=0.9).show()  # doctest: +SKIP
"""

try:
    import pyspark  # noqa: F401
except ImportError as problem:
    raise ImportError("holdfast.spark needs PySpark 4: pip install 'holdfast[spark]'") from problem

from holdfast.spark.batch import Learned, learn
from holdfast.spark.fleet import Fleet
from holdfast.spark.gating import gate
from holdfast.spark.models import predict
from holdfast.spark.storage import to_run

__all__ = ["Fleet", "Learned", "gate", "learn", "predict", "to_run"]
