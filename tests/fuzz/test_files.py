"""Any file leads to a whole run or to one sentence."""

import csv
import io
import shutil

import pytest
from fuzz.asking import CASES, ask, strict_json
from fuzz.odd_files import odd_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

OPTIONS = st.sampled_from(
    [
        *((),) * 6,
        *(("--task", task) for task in ("regression", "classification")),
        *(("--missing", how) for how in ("impute", "skip")),
        *(("--key", column) for column in ("who", "a")),
        *(("--format", form) for form in ("csv", "jsonl", "parquet", "arrow", "svmlight")),
        ("--labels", "0,1"),
        ("--labels", "t0,t1,p"),
        ("--drop", "b"),
        ("--features", "a"),
        ("--no-scale", "--outliers", "2"),
        ("--loss", "huber:2"),
        ("--learner", "auto"),
    ]
)


@pytest.mark.slow
@given(odd_files(), OPTIONS)
@settings(max_examples=CASES * 2 // 5, suppress_health_check=list(HealthCheck))
def test_any_file_leads_to_a_run_or_to_a_sentence(work, file, options):
    check(work, file, options)


@given(odd_files(), OPTIONS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_some_files_lead_to_a_run_or_to_a_sentence(work, file, options):
    check(work, file, options)


def check(work, file, options):
    name, data = file
    path, run = work / name, work / "run"
    shutil.rmtree(run, ignore_errors=True)
    path.write_bytes(data)
    target = "label" if ".svm" in name or "svmlight" in options else "y"
    learner = () if "--learner" in options else ("--learner", "adagrad")
    status, _, learned = ask("learn", path, "--target", target, "--to", run, *options, *learner)
    assert status in (0, 2), learned
    if status == 0:
        metrics = strict_json((run / "metrics.json").read_text())
        assert metrics["kept"] + metrics["skipped"] + metrics["warm_up"] == metrics["rounds"]
        assert sum(metrics["skipped_by_reason"].values()) == metrics["skipped"]
        assert ask("verify", run)[0] == 0
        form = ("--format", options[1]) if "--format" in options else ()
        status, out, said = ask("predict", run, path, *form)
        assert status == 0, said
        answers = sum(1 for _ in csv.reader(io.StringIO(out))) - 1
        # predict answers an unfinished last row, too; after a stray quote it may have several lines
        assert (answers > metrics["rounds"]) == ("no line end" in learned)
        for command in ("audit", "inspect"):
            strict_json(ask(command, run, "--json")[1])
            assert ask(command, run)[0] == 0
        if len(data) % 3 == 0:  # because it takes as long as all others together
            assert ask("report", run, "--to", work / "page.html")[0] == 0
    path.unlink()
