"""What a Spark session needs, checked before anything runs: one sentence for each thing that is missing."""

import importlib.util

from holdfast.runs.files import RunError

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
EMPTY_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"
_JAVA = 17


def check_packages():
    """Raise if a Python package is missing that the workers need."""
    for name in ("pandas", "pyarrow", "safetensors"):
        if not importlib.util.find_spec(name):
            raise RunError(f"holdfast.spark needs {name}: pip install 'holdfast[spark]'")


def check_java(spark):
    """Raise if the JVM is too old for Spark 4."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:  # Spark Connect: the server has its own
        return
    version = str(jvm.java.lang.System.getProperty("java.specification.version"))
    if float(version) < _JAVA:
        raise RunError(
            f"Spark 4 needs Java {_JAVA} or newer, and this session runs on {version}: set JAVA_HOME"
        )


def check_streaming(spark):
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


def time_mode(spark, expires):
    """The time mode of transformWithState; raises if Spark would run empty batches without end."""
    if not expires:
        return "None"
    if spark.conf.get(EMPTY_BATCHES, "true").lower() != "false":
        raise RunError(
            "with ttl= or id= Spark runs empty batches without end, also with the trigger availableNow: "
            f"spark.conf.set({EMPTY_BATCHES!r}, False)"
        )
    return "ProcessingTime"


def milliseconds(value, name):
    """A number of seconds in milliseconds."""
    if not value > 0:
        raise ValueError(f"{name} is a number of seconds above 0: got {value!r}")
    return max(1, int(1000 * value))
