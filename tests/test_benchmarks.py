"""The benchmarks run, and leave their figures behind. How fast anything is, no test says."""

import json
import math
import runpy
from pathlib import Path

import pytest

RUN = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "run.py"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("benchmarks") / "results.json"
    RUN["main"](["--tiny", "--to", str(path)])
    return json.loads(path.read_text())


def test_every_figure_is_a_number_with_a_unit(results):
    assert {"holdfast", "python", "numpy", "numba", "machine"} == results["machine"].keys()
    for section in results["sections"]:
        assert section["title"] and section["unit"] and section["rows"]
        assert all(math.isfinite(row["value"]) for row in section["rows"])


def test_every_measure_takes_part(results):
    titles = " / ".join(section["title"] for section in results["sections"])
    for word in ("import", "a process", "a filter alone", "the histogram", "a game", "an interpreted game"):
        assert word in titles


def test_a_goal_is_met_from_below():
    Row = RUN["Row"]
    assert [Row("", value, goal=30.0).met() for value in (29.0, 31.0)] == [True, False]
    assert Row("", 29.0).met() is None


def test_cases_take_turns():
    said = []
    cases = {name: lambda name=name: said.append(name) or 0.0 for name in "ab"}
    assert RUN["take_turns"](cases, repeats=2) == {"a": [0.0, 0.0], "b": [0.0, 0.0]}
    assert "".join(said) == "ab" + "ab" * 2  # a warm-up, then the repeats
