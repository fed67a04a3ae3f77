"""holdfast warm: what it compiles, and where."""

import importlib.util
import math
import sys

import pytest

import holdfast.sklearn  # noqa: F401
from holdfast._compiled import compiling
from holdfast.cli import warm
from holdfast.cli.main import main
from holdfast.cli.parser import new_parser
from holdfast.continuing import play_batch


@pytest.fixture
def done(monkeypatch, tmp_path):
    """The jobs, which here do nothing."""
    jobs = []
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "new"))
    monkeypatch.setattr(warm, "_fit", lambda model, rows, options: jobs.append((model, rows)))
    monkeypatch.setattr(warm, "_learn", lambda model: jobs.append((model, "learn")))
    return jobs


def test_it_compiles_the_default_estimators_and_prints_where(done, capsys, tmp_path):
    assert main(["warm"]) == 0
    expected = [(model, how) for model in ("regressor", "classifier") for how in ("dense", "sparse")]
    assert done == expected
    printed = capsys.readouterr().out
    assert str(tmp_path / "new") in printed and printed.count(" s\n") == 4


def test_it_compiles_less_or_more(done):
    assert main(["warm", "--only", "classifier", "--rows", "dense", "--learn"]) == 0
    assert done == [("classifier", "dense"), ("classifier", "learn")]


def test_without_scikit_learn_it_compiles_what_learn_needs(done, monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sklearn" else found(name))
    assert main(["warm"]) == 0
    assert done == [("regressor", "learn"), ("classifier", "learn")]
    assert main(["warm", "--rows", "dense"]) == 2
    assert "pip install 'holdfast[sklearn]'" in capsys.readouterr().err


def test_a_loss_needs_an_estimator(done, capsys):
    assert main(["warm", "--loss", "log_loss"]) == 2
    assert "--only" in capsys.readouterr().err and done == []


def test_a_folder_that_cannot_be_written_to_is_an_error(done, capsys, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "file"))
    assert main(["warm"]) == 2
    assert "HOLDFAST_CACHE_DIR" in capsys.readouterr().err


def test_without_numba_it_says_what_to_install(done, capsys, monkeypatch):
    monkeypatch.setattr(warm, "has_numba", lambda: False)
    assert main(["warm"]) == 2
    assert "pip install 'holdfast[compile]'" in capsys.readouterr().err and done == []


@pytest.mark.parametrize("model", ["regressor", "classifier"])
def test_it_compiles_what_fit_and_partial_fit_play(model, monkeypatch):
    chosen = []

    def choose(kind, function, *rest):
        chosen.append((kind, function, compiling._expected.get()[0]))
        return False

    monkeypatch.setattr(sys.modules["holdfast.continuing"], "choose", choose)
    monkeypatch.setattr(sys.modules["holdfast.play"], "choose", None)
    options = new_parser().parse_args(["warm"])
    for rows in ("dense", "sparse"):
        warm._fit(model, rows, options)
    assert chosen == [("state", play_batch, math.inf)] * 2
