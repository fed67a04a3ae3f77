"""The groups of a stream are spread evenly over tasks; garbage collection leaves out what was loaded."""

import gc
import sys
import types

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")

from pyspark.sql import functions

from holdfast.spark.packing import even_numbers, leave_out_loaded_modules, spark_hash


@pytest.mark.parametrize("groups", [1, 2, 7, 16, 100])
def test_every_group_has_a_number_of_its_own_with_its_remainder(groups):
    numbers = even_numbers(groups)
    assert (numbers >= 0).all()
    assert (spark_hash(numbers) % groups == np.arange(groups)).all()


def test_a_task_has_as_many_groups_as_any_other(spark):
    rows = spark.createDataFrame([(number,) for number in even_numbers(16).tolist()], "group int")
    for tasks in (2, 4, 8):
        parts = rows.repartition(tasks, "group").groupBy(functions.spark_partition_id()).count().collect()
        assert sorted(row["count"] for row in parts) == [16 // tasks] * tasks


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
