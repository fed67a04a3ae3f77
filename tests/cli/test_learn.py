"""What learn makes of its options, and what it prints."""

import json
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import ROWS, bits, holdfast, output
from safetensors.numpy import load_file

from holdfast.cli.main import main
from holdfast.options import LEARNERS


def test_without_scales_a_count_of_outliers_gives_a_certificate(source, learn, capsys):
    run, _, _ = learn(source, "--target", "y", "--no-scale", "--outliers", "30")
    words = json.loads((run / "certificate.json").read_text())["words"]
    assert "every set of at most 30 outliers" in words
    assert words in " ".join(output(capsys, "inspect", run).split())  # it is in lines of 80 columns
    run, _, _ = learn(source, "--target", "y", to="scaled")
    shown = " ".join(output(capsys, "inspect", run).split())
    assert "There is no certificate: features have a running scale" in shown


def test_each_key_has_the_model_that_it_would_have_alone(table, learn, tmp_path):
    who = np.array(["p", "q", "r", "s"])[np.arange(ROWS) % 4]
    pacsv.write_csv(pa.table(table | {"who": who}), tmp_path / "rows.csv")
    run, status, printed = learn(
        tmp_path / "rows.csv", "--target", "y", "--key", "who", "--checkpoint", "100"
    )
    assert status == 0
    assert "4 keys" in printed

    together = load_file(run / "model.safetensors")
    of_all = together.pop("widths")  # those of intervals are the same for all keys: a line for each coverage
    for i, name in enumerate("pqrs"):
        mine = {column: values[who == name] for column, values in (table | {"who": who}).items()}
        pacsv.write_csv(pa.table(mine), tmp_path / "mine.csv")
        alone, _, _ = learn(tmp_path / "mine.csv", "--target", "y", "--key", "who", to=name)
        found = load_file(alone / "model.safetensors")
        assert found.pop("widths")[:, 0].tolist() == of_all[:, 0].tolist()
        assert found.keys() == together.keys()
        for parameter, value in found.items():
            assert np.array_equal(together[parameter][i], value[0])
    main(["predict", str(run), str(tmp_path / "rows.csv"), "--to", str(tmp_path / "out.csv"), "--quiet"])
    assert pacsv.read_csv(tmp_path / "out.csv").column("prediction").null_count == 0
    again, status, _ = learn(tmp_path / "rows.csv", "--target", "y", "--key", "who", "--resume")
    assert status == 0
    assert load_file(again / "model.safetensors")["weights"].tolist() == together["weights"].tolist()


@pytest.mark.slow  # compiles for half a minute
@pytest.mark.parametrize(
    "more", [("--no-scale", "--learner", "ogd:5", "--outliers", "5%"), ("--delay", "3"), ()]
)
def test_many_keys_are_played_compiled_with_the_same_bits(table, learn, tmp_path, monkeypatch, more):
    who = np.array([f"s{i}" for i in range(40)])[np.arange(ROWS) * 7 % 41 % 40]
    pacsv.write_csv(pa.table(table | {"who": who}), tmp_path / "rows.csv")
    args = ("--target", "y", "--key", "who", *more)
    plain, _, _ = learn(tmp_path / "rows.csv", *args, to="plain")
    monkeypatch.setattr("holdfast.runs.compile_choice._MANY_KEYS", 5)
    monkeypatch.setattr("holdfast.fleet.games._MANY", 5)
    monkeypatch.setattr("holdfast.io.sources._ENTRIES", 300)  # so that each key is played many times
    compiled, _, printed = learn(tmp_path / "rows.csv", *args, "--checkpoint", "100", to="compiled")
    assert bits(compiled) == bits(plain)
    _, counts = np.unique(who, return_counts=True)
    assert f"40 keys, {counts.min()} to {counts.max()} rows each; error from" in printed
    keys = pq.read_table(compiled / "keys.parquet")
    assert keys.column("key").to_pylist() == list(dict.fromkeys(who))
    assert sum(keys.column("rounds").to_pylist()) == ROWS
    metrics = json.loads((compiled / "metrics.json").read_text())["keys"]
    assert (metrics["count"], metrics["rounds"]["most"]) == (40, counts.max())
    assert metrics["most_skipped"][0]["key"] in who


def test_with_json_every_line_is_an_object(source, tmp_path):
    done = holdfast("learn", source, "--target", "y", "--to", tmp_path / "run", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["event"] for event in events[:-1]} <= {"progress", "note"}
    assert (events[-1]["event"], events[-1]["rounds"]) == ("end", ROWS)
    assert done.stderr == ""


def test_progress_is_reported_as_json_or_as_a_bar_on_a_terminal(source, learn, monkeypatch):
    monkeypatch.setattr("holdfast.cli.progress.Events.interval", 0.0)
    _, _, printed = learn(source, "--target", "y", "--json")
    first = json.loads(printed.splitlines()[0])
    assert (first["event"], first["rounds"], first["done_share"]) == (
        "progress",
        64,
        pytest.approx(64 / ROWS, rel=0.05),
    )
    monkeypatch.setattr("holdfast.cli.progress.Progress.interval", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _, _, printed = learn(source, "--target", "y", to="other")
    assert re.search(
        r"\r\x1b\[K█{12} 100 %  [\d:]+ left, 600 rows, [\d,]+/s, 4.3 % skipped, error [\d.]+\r", printed
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--outliers", "many"), "--outliers must be auto, a share such as 1%"),
        (("--loss", "cubic"), "--loss must be one of"),
        (("--loss", "hinge"), "--loss hinge is for labels"),
        (("--loss", "huber:x"), "'x' is not a number"),
        (("--learner", "newton"), "--learner must be adagrad"),
        (("--drop", "z"), "has no column 'z'"),
        (("--key", "z"), "has no column 'z'"),
        (("--labels", "1,1"), "--labels must be at least two"),
    ],
)
def test_a_wrong_option_is_one_sentence_with_the_right_values(source, learn, args, words):
    run, status, printed = learn(source, "--target", "y", *args)
    assert status == 2
    assert words in printed
    assert not run.exists()


def test_a_folder_that_is_no_run_is_one_sentence(tmp_path, capsys):
    for command in (["audit"], ["inspect"], ["report"]):
        assert main([*command, str(tmp_path)]) == 2
        assert "is no run of holdfast" in capsys.readouterr().err
    assert main(["predict", str(tmp_path), "-"]) == 2
    (tmp_path / "file").touch()
    for path in ("file", "file/run"):
        assert main(["inspect", str(tmp_path / path)]) == 2
        assert f"{path} is or is in a file, and a run is a folder" in capsys.readouterr().err
    (tmp_path / "model.safetensors").write_bytes(b"\x05\0\0\0\0\0\0\0junk!")
    assert main(["predict", str(tmp_path), "-"]) == 2
    assert "is no run of holdfast" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*LEARNERS, "adagrad:0.01", "ogd:3"])
def test_every_learner_has_a_name_on_the_command_line(tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr("holdfast.cli.progress.Events.interval", 0.0)  # as if it took long
    path = tmp_path / "a.csv"
    rows = ((i % 7, i % 5) for i in range(300))
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{a - b}\n" for a, b in rows))
    to, loss = tmp_path / "run", "squared" if name in ("ons", "onlineridge", "vaw") else "absolute"
    asked = ["--learner", name, "--loss", f"{loss}_error", "--to", str(to), "--json"]
    assert main(["learn", str(path), "--target", "y", *asked]) == 0
    *_, end = capsys.readouterr().out.splitlines()
    assert json.loads(end)["error"] < 2.5
    assert main(["predict", str(to), str(path)]) == 0
    predictions = [float(line.split(",")[1]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert np.mean(np.abs(np.array(predictions) - [i % 7 - i % 5 for i in range(300)])) < 1.0


def test_a_learner_that_does_not_suit_the_loss_is_refused(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,2\n2,3.5\n" * 50)
    for name, words in (("onlineridge", "squared losses"), ("ons", "concave"), ("adahedge", "experts")):
        to = str(tmp_path / name)
        assert (
            main(["learn", str(path), "--target", "y", "--task", "regression", "--learner", name, "--to", to])
            == 2
        )
        assert words in capsys.readouterr().err
