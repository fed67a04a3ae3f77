"""Experiments are deterministic, can be continued, and run on any number of cores."""

import json

import pytest

from holdfast_lab.reproduce.runner import NAMES, experiment, run


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_has_a_title_and_a_statement(name):
    module = experiment(name)
    assert module.__doc__
    assert min(len(module.TITLE), len(module.RESULT), len(module.STATEMENT)) > 5
    quick, full = module.cases(True), module.cases(False)
    assert len(quick) < len(full)
    assert all("seed" in case for case in quick + full)


@pytest.mark.slow  # starts many processes
def test_the_same_seed_gives_the_same_rows_however_many_cores(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = run("certificates", tmp_path / "one", quick=True, seed=3, jobs=1)
    two = run("certificates", tmp_path / "two", quick=True, seed=3, jobs=2)
    assert one.rows == two.rows
    assert run("certificates", tmp_path / "one", quick=True, seed=4, jobs=1).rows != one.rows


def test_a_run_that_was_killed_continues_where_it_was(tmp_path, monkeypatch):
    whole = run("outlier_count", tmp_path, quick=True, jobs=1)
    path = tmp_path / "outlier_count.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1] + lines[2][:20])  # killed while it wrote the third
    seen = []
    again = run("outlier_count", tmp_path, quick=True, jobs=1, progress=lambda done, total: seen.append(done))
    assert again.rows == whole.rows
    assert seen[0] == 2
    assert seen[-1] == len(whole.rows)


def test_a_stored_result_is_not_measured_again(tmp_path):
    run("outlier_count", tmp_path, quick=True, jobs=1)
    path = tmp_path / "outlier_count.jsonl"
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    entries[0]["row"]["regret"] = -1.0
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert run("outlier_count", tmp_path, quick=True, jobs=1).rows[0]["regret"] == -1.0


def test_an_unknown_experiment_is_refused_with_the_known_names():
    with pytest.raises(ValueError, match="outlier_size"):
        experiment("nonsense")
