"""A process of its own compiles, stores the code and ends."""

import os
import subprocess
import sys

import pytest

import holdfast as hf
from holdfast._compiled import background
from holdfast.losses import slope_at

ARGS = (hf.Logistic(), 0.5, 1.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_BACKGROUND", "1")
    for name in ("_asked", "_elsewhere"):
        monkeypatch.setattr(background, name, set())
    monkeypatch.setattr(background, "_running", None)
    yield tmp_path
    background._end()


def names(folder):
    return sorted(path.suffix for path in folder.iterdir())


def test_it_compiles_once_and_leaves_only_the_code(folder):
    assert background.is_possible(ARGS)
    assert not background.compile_soon("call", slope_at, ARGS)
    assert ".lock" in names(folder)
    background._running.process.wait()
    assert background.compile_soon("call", slope_at, ARGS)
    assert names(folder) == [".nbc"]
    assert not background.compile_soon("call", slope_at, ARGS) and background._running is None


def test_one_process_compiles_for_all(folder, monkeypatch):
    background.compile_soon("call", slope_at, ARGS)
    other = background._running
    monkeypatch.setattr(background, "_asked", set())
    monkeypatch.setattr(background, "_running", None)  # as in another process
    assert not background.compile_soon("call", slope_at, ARGS) and background._running is None
    other.end()
    assert background.compile_soon("call", slope_at, ARGS)


def test_its_end_removes_the_lock(folder):
    background.compile_soon("call", slope_at, ARGS)
    background._end()
    assert background._running.process.returncode is not None and names(folder) == []


def test_it_ends_when_its_standard_input_does(folder):
    background.compile_soon("call", slope_at, ARGS)
    background._running.process.stdin.close()  # as when this process is killed
    assert background._running.process.wait() is not None
    assert ".lock" not in names(folder) or ".nbc" in names(folder)


class Unsent(hf.TopK):
    __module__ = "__main__"


@pytest.mark.parametrize(
    "args, variables",
    [
        (ARGS, {"HOLDFAST_BACKGROUND": "0"}),
        (ARGS, {"HOLDFAST_PUBLIC_NUMBA": "1"}),
        (ARGS, {"HOLDFAST_CACHE_DIR": os.devnull}),
        ((Unsent(1),), {}),
        ((len,), {}),
    ],
)
def test_it_is_not_started_where_it_could_not_help(folder, monkeypatch, args, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert not background.is_possible(args)


def test_a_process_of_a_pool_starts_none(folder):
    code = (
        "import multiprocessing, numpy\nfrom holdfast._compiled import background\n"
        "def ask(x):\n    return background.is_possible((numpy.ones(1),))\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "        print(ask(0), pool.map(ask, [0]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "[False]"]
