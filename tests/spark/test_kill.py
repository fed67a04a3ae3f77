"""Driver and JVM are killed inside a batch: nothing is lost, nothing is learned twice."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: make test-all installs it")
if shutil.which("java") is None:
    pytest.skip("there is no Java: .ci/run installs one", allow_module_level=True)

import fleets

from holdfast.spark import Fleet

SCRIPT = Path(__file__).with_name("killed.py")


def start(folder, cores, stop, when):
    """Begin the query in a process group of its own, so that the JVM can be killed too."""
    path = os.pathsep.join([str(SCRIPT.parent), str(SCRIPT.parents[2] / "src")])
    settings = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    (folder / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, str(SCRIPT), str(folder), str(cores), str(stop), when]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=settings, start_new_session=True, text=True, **pipes)


def kill_inside_batch(folder, number):
    """Begin the query, and kill it in this batch: before or after its output was written."""
    with start(folder, 2, number, "before" if number % 2 else "after") as process:
        assert "inside\n" in process.stdout, f"the query ended before batch {number}"
        os.killpg(process.pid, signal.SIGKILL)
    assert (folder / "checkpoint" / "offsets" / str(number)).exists()
    assert not (folder / "checkpoint" / "commits" / str(number)).exists()


def check(spark, tmp_path, kills, batches, rows):
    table = fleets.fleet_rows(rows * batches, 8)
    (tmp_path / "in").mkdir()
    for number in range(batches):
        path = tmp_path / "in" / f"{number:03}.parquet"
        pq.write_table(table.slice(number * rows, rows), path)
        os.utime(path, (1e9 + number, 1e9 + number))
    for number in kills:
        kill_inside_batch(tmp_path, number)
    with start(tmp_path, 1, -1, "never") as process:  # with another number of cores
        process.stdout.read()
    assert process.returncode == 0
    run = fleets.one_machine(table, tmp_path)
    assert fleets.states_of(Fleet.models(tmp_path / "checkpoint").toArrow()) == fleets.states(run)
    out = spark.read.parquet(str(tmp_path / "out")).toArrow()
    assert sorted(out["at"].to_pylist()) == list(range(rows * batches))
    assert out.filter(out["kept"]).num_rows == run.metrics()["kept"]


def test_a_killed_query_goes_on_with_the_same_bits(spark, tmp_path):
    check(spark, tmp_path, kills=[0], batches=2, rows=60)


@pytest.mark.exhaustive
def test_twenty_kills_change_nothing(spark, tmp_path):
    check(spark, tmp_path, kills=range(20), batches=22, rows=60)
