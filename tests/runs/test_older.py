"""A run folder of an earlier version: predict, inspect and audit read it; --resume says why it cannot."""

import json
import zipfile
from pathlib import Path

import pytest
from runs.small import called, refused

OLD = Path(__file__).with_name("run_of_0_1.zip")  # 80 rows, --learner adagrad --outliers 5 --checkpoint 40


@pytest.fixture
def old(tmp_path):
    with zipfile.ZipFile(OLD) as file:
        file.extractall(tmp_path)
    return tmp_path / "old.run", tmp_path / "rows.csv"


def test_an_older_run_is_predicted_with_inspected_and_audited(old):
    run, rows = old
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["rounds"] == 80
    status, said, _ = called("predict", run, rows)
    assert status == 0
    # As the version that wrote the run has answered.
    assert said.splitlines()[1].startswith("1,1.2026084250115203,")
    status, said, _ = called("inspect", run, "--json")
    assert status == 0
    found = json.loads(said)
    assert {name: found["metrics"][name] for name in metrics} == metrics
    assert set(found["weights"][""]) == {"a", "b"}
    status, said, _ = called("audit", run, "--json", "--worst", "80")
    assert status == 0
    assert json.loads(said)["skipped_by_reason"] == metrics["skipped_by_reason"]
    assert any(row["detail"] == "column 'a': 'x' is not a number" for row in json.loads(said)["worst"])
    assert not refused(called("audit", run, "--replay", "k=2"))
    assert not refused(called("audit", run, "--skipped", rows.with_name("quarantine.csv"), "--source", rows))
    assert called("verify", run)[0] == 0


def test_an_older_run_is_resumed_or_refused_in_a_sentence(old):
    run, rows = old
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    answer = called(
        "learn", rows, "--target", "y", "--learner", "adagrad", "--outliers", "5", "--to", run, "--resume"
    )
    assert refused(answer)
    assert "have another layout than in this version of holdfast" in answer[2]
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
