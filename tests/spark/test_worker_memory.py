"""Garbage collection in the workers leaves out what was loaded."""

import gc
import sys
import types

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

from holdfast.spark.worker_memory import leave_out_loaded_modules


@pytest.fixture
def collector():
    yield gc
    gc.unfreeze()


def test_what_exists_is_left_out_once_for_all_modules_that_were_loaded(collector, monkeypatch):
    monkeypatch.setitem(sys.modules, "one more module", types.ModuleType("one more module"))
    leave_out_loaded_modules()
    frozen = gc.get_freeze_count()
    assert frozen > 10_000
    more = [[i] for i in range(1_000)]
    leave_out_loaded_modules()
    assert gc.get_freeze_count() < frozen + len(more)
    monkeypatch.setitem(sys.modules, "another module", types.ModuleType("another module"))
    leave_out_loaded_modules()
    assert gc.get_freeze_count() > frozen + len(more) // 2
