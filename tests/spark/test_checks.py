"""What a session lacks is said in one sentence, with the remedy."""

import importlib.util
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

from holdfast.runs.files import RunError
from holdfast.spark.checks import EMPTY_BATCHES, PROVIDER, ROCKSDB, check_packages, check_streaming, time_mode


def session(java="17", **settings):
    """A session that runs on this version of Java and has these settings."""
    system = SimpleNamespace(getProperty=lambda name: java)
    jvm = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(System=system)))
    conf = SimpleNamespace(get=lambda name, default: settings.get(name, default))
    return SimpleNamespace(_jvm=jvm, conf=conf)


def test_a_session_with_java_17_and_rocksdb_can_keep_states():
    check_streaming(session(**{PROVIDER: ROCKSDB}))


@pytest.mark.parametrize("java", ["11", "1.8"])
def test_an_old_java_is_named(java):
    with pytest.raises(RunError, match=f"Spark 4 needs Java 17 or newer, and this session runs on {java}"):
        check_streaming(session(java, **{PROVIDER: ROCKSDB}))


def test_another_state_store_is_refused():
    with pytest.raises(RunError, match="streams need the state store RocksDB"):
        check_streaming(session())


@pytest.mark.parametrize("name", ["google.protobuf", "pandas", "safetensors"])
def test_a_missing_package_is_named(name, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda each: None if each == name else found(each))
    with pytest.raises(RunError, match=r"pip install 'holdfast\[spark\]'"):
        check_streaming(session(**{PROVIDER: ROCKSDB}))
    monkeypatch.undo()
    check_packages()


def test_empty_batches_without_end_are_refused():
    assert time_mode(session(), False) == "None"
    assert time_mode(session(**{EMPTY_BATCHES: "false"}), True) == "ProcessingTime"
    with pytest.raises(RunError, match="with ttl= or id= Spark runs empty batches without end"):
        time_mode(session(), True)
