"""Commands that read or write runs do not import packages that they do not need."""

import json
import subprocess
import sys

import pytest
from runs.small import write_source

from holdfast.serve import Client

PROGRAM = """
import sys
from holdfast.cli.main import main
status = main()
import numba.np.arraymath
some = {"cffi", "pandas", "scipy", "pyarrow", "numba"}
print("\\nloaded:", status, *(sys.modules.keys() & some), file=sys.stderr)
"""


def loaded_after(*args):
    call = [sys.executable, "-c", PROGRAM, *map(str, args)]
    printed = subprocess.run(call, capture_output=True, text=True, check=True).stderr
    return printed.partition("\nloaded:")[2].split()


def test_learn_and_predict_load_neither_pandas_nor_scipy_nor_cffi(tmp_path):
    source, run = write_source(tmp_path / "rows.csv"), tmp_path / "run"
    learn = ("learn", source, "--target", "y", "--learner", "adagrad", "--to", run, "--quiet")
    for command in (learn, ("predict", run, source, "--to", tmp_path / "out.csv")):
        assert {*loaded_after(*command)} == {"0", "pyarrow", "numba"}


def test_a_server_that_predicts_and_learns_does_not_load_pandas(tmp_path):
    """To load it takes a second, in which predictions wait."""
    pytest.importorskip("pandas")
    source, run = write_source(tmp_path / "rows.csv"), tmp_path / "run"
    loaded_after("learn", source, "--target", "y", "--to", run, "--quiet")
    command = ["-X", "importtime", "-m", "holdfast.cli.main", "serve", run, "--port", "0", "--json"]
    with (tmp_path / "said").open("w+") as said:
        server = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=said)
        assert server.stdout is not None
        with Client(json.loads(server.stdout.readline())["address"]) as client:
            client.predict_many([{"a": 1.0, "b": 2.0, "who": "p"}, {"a": 1e9, "b": None, "who": "q"}])
            client.learn([{"a": 1.0, "b": 2.0, "who": "p", "y": 1.0}])
        server.terminate()
        server.communicate(timeout=120.0)
        said.seek(0)
        loaded = {line.rpartition("|")[2].strip() for line in said}
    assert "pyarrow.compute" in loaded and not any(name.startswith("pandas.") for name in loaded)


def test_other_commands_load_them_as_usual():
    pytest.importorskip("scipy")
    assert "scipy" in loaded_after("completion", "bash")


FOR_LEARNING = """
import sys
from holdfast.cli.main import main
status = main()
some = {"numba", "pyarrow.parquet", "ssl", "holdfast.runs.run", "holdfast.steady"}
print("\\nloaded:", status, *(sys.modules.keys() & some), file=sys.stderr)
"""


def test_predict_of_csv_imports_nothing_that_learns_or_that_reads_parquet(tmp_path):
    source, run = write_source(tmp_path / "rows.csv"), tmp_path / "run"
    loaded_after("learn", source, "--target", "y", "--to", run, "--quiet")
    command = ("predict", run, source, "--to", tmp_path / "out.csv")
    call = [sys.executable, "-c", FOR_LEARNING, *map(str, command)]
    printed = subprocess.run(call, capture_output=True, text=True, check=True).stderr
    assert printed.partition("\nloaded:")[2].split() == ["0"]
