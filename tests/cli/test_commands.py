"""The commands on a run: what they learn, print and predict."""

import fcntl
import gzip
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import ROWS, bits, holdfast
from safetensors.numpy import load_file

from holdfast.cli.main import main
from holdfast.defaults import LEARNERS
from holdfast.sklearn import RobustClassifier


def output(capsys, *args):
    status = main(list(map(str, args)))
    out, err = capsys.readouterr()
    assert status == 0, err
    return out


def test_the_model_can_be_read_with_nothing_but_the_documented_format(source, table, learn, tmp_path, capsys):
    run, _, _ = learn(source, "--target", "y")
    data = (run / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["holdfast"])
    assert about["format"] == "holdfast model 2"
    p = {}
    for name, entry in header.items():
        start, stop = entry["data_offsets"]
        values = data[8 + length + start : 8 + length + stop]
        p[name] = np.frombuffer(values, "<f8").reshape(entry["shape"])[0]
        assert entry["dtype"] == "F64"
    X = np.column_stack([table[name] for name in about["features"]])
    Z = np.clip((X - p["center"]) * p["factors"], -p["clip"], p["clip"])
    y = np.clip(p["y_center"] + p["y_spread"] * (Z @ p["weights"] + p["constant"]), p["low"], p["high"])
    assert main(["predict", str(run), str(source), "--to", str(tmp_path / "found.csv"), "--quiet"]) == 0
    found = pacsv.read_csv(tmp_path / "found.csv")
    assert found.column("row").to_pylist() == list(range(1, ROWS + 1))
    assert np.allclose(found.column("prediction").to_numpy(), y, rtol=1e-12)
    good = np.abs(table["y"]) < 100
    good &= np.abs(X).max(axis=1) < 10
    assert np.abs(y - table["y"])[good].mean() < 0.6 * np.abs(table["y"])[good].mean()


def test_the_model_for_labels_has_a_knee_and_is_that_of_the_estimators(
    source, table, learn, tmp_path, capsys
):
    names = np.where(table["y"] > 0.0, "yes", "no")
    pacsv.write_csv(pa.table({**table, "y": names}), tmp_path / "labels.csv")
    run, status, printed = learn(tmp_path / "labels.csv", "--target", "y", "--patience", "200")
    assert status == 0 and "loss: Logistic()" in printed
    for budget in ("auto", "10%"):
        answer = json.loads(output(capsys, "audit", run, "--replay", budget, "--json"))
        assert answer["skipped"] == answer["skipped_in_the_run"] > 0
    p = {name: array[0] for name, array in load_file(run / "model.safetensors").items()}
    X = np.column_stack([table[name] for name in "abc"])
    u = (X - p["center"]) * p["factors"]
    far = np.maximum(np.abs(u) - p["knee"], 0.0)
    z = np.clip(np.where(far > 0.0, np.sign(u) * (p["knee"] + np.log1p(far)), u), -p["clip"], p["clip"])
    y = z @ p["weights"] + p["constant"]
    assert main(["predict", str(run), str(source), "--to", str(tmp_path / "found.csv"), "--quiet"]) == 0
    found = pacsv.read_csv(tmp_path / "found.csv").column("prediction").to_pylist()
    assert found == np.where(y > 0.0, "yes", "no").tolist() and (far > 0.0).any()
    estimator = RobustClassifier(patience=200).partial_fit(X, names, classes=["no", "yes"])
    assert np.allclose(estimator.decision_function(X), y, rtol=1e-9)


def test_predictions_need_no_target_and_come_in_every_format(source, table, learn, tmp_path):
    run, _, _ = learn(source, "--target", "y")
    rows = {name: column for name, column in table.items() if name != "y"}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    assert (
        main(["predict", str(run), str(tmp_path / "rows.parquet"), "--to", str(tmp_path / "a.parquet")]) == 0
    )
    assert main(["predict", str(run), str(source), "--to", str(tmp_path / "b.csv")]) == 0
    a, b = pq.read_table(tmp_path / "a.parquet"), pacsv.read_csv(tmp_path / "b.csv")
    assert a.column("prediction").to_pylist() == b.column("prediction").to_pylist()
    done = holdfast("predict", run, source)
    assert done.stdout == (tmp_path / "b.csv").read_text()


def test_labels_are_predicted_as_labels(learn, tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    names = np.array(["north", "south", "west"])[np.argmax(x @ rng.normal(size=(2, 3)), axis=1)]
    pacsv.write_csv(pa.table({"u": x[:, 0], "v": x[:, 1], "side": names}), tmp_path / "rows.csv")
    run, _, printed = learn(tmp_path / "rows.csv", "--target", "side")
    assert "labels north, south, west" in printed
    answers = output(capsys, "predict", run, tmp_path / "rows.csv", "--to", tmp_path / "out.csv")
    assert answers == ""
    found = pacsv.read_csv(tmp_path / "out.csv").column("prediction").to_pylist()
    assert np.mean(np.array(found) == names) > 0.7
    assert set(pq.read_table(run / "audit").column("label").to_pylist()) <= {"north", "south", "west"}


def test_a_row_that_cannot_be_read_gets_an_empty_answer(source, learn, tmp_path):
    run, _, _ = learn(source, "--target", "y")
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,3\n1,x,3\n1,2\n,2,3\n")
    main(["predict", str(run), str(tmp_path / "rows.csv"), "--to", str(tmp_path / "out.csv")])
    found = pacsv.read_csv(tmp_path / "out.csv")
    assert [value is None for value in found.column("prediction").to_pylist()] == [False, True, True, False]


def test_the_audit_lists_the_outliers_with_the_worst_first(source, table, learn, capsys):
    run, _, _ = learn(source, "--target", "y")
    found = json.loads(output(capsys, "audit", run, "--json", "--worst", "1000"))
    outliers = 1 + np.flatnonzero(
        (np.abs(np.column_stack([table[n] for n in "abc"])).max(axis=1) > 50) | (table["y"] < -1000)
    )
    rows = [row["row"] for row in found["worst"]]
    late = set(outliers[outliers > 30])
    assert len(late - set(rows)) <= 0.1 * len(late)  # a feature is clipped at 8 standard deviations
    times = [row["times"] for row in found["worst"]]
    assert times == sorted(times, reverse=True)
    assert sum(found["skipped_by_reason"].values()) == found["skipped"] == len(rows)
    assert "the target is too far" in output(capsys, "audit", run)


@pytest.mark.parametrize("target", ["y", "positive"])
@pytest.mark.parametrize("outliers", ["auto", "3%", "20", "quantile:0.9", "none"])
def test_a_replay_of_the_same_budget_skips_the_same_rounds(table, learn, tmp_path, capsys, target, outliers):
    rows = table | {"positive": np.where(table["b"] > 0, "yes", "no")}
    pacsv.write_csv(pa.table(rows), tmp_path / "rows.csv")
    drop = "positive" if target == "y" else "y"
    run, _, _ = learn(tmp_path / "rows.csv", "--target", target, "--drop", drop, "--outliers", outliers)
    found = json.loads(output(capsys, "audit", run, "--replay", outliers, "--json"))
    assert found["skipped"] == found["skipped_in_the_run"]
    assert found["newly_skipped"] == found["no_longer_skipped"] == []


def test_a_replay_of_a_larger_budget_skips_more(source, learn, capsys):
    run, _, _ = learn(source, "--target", "y", "--outliers", "5")
    few, many = (json.loads(output(capsys, "audit", run, "--replay", f"k={k}", "--json")) for k in (5, 100))
    assert few["skipped"] == few["skipped_in_the_run"] < many["skipped"]


def test_without_scales_a_count_of_outliers_gives_a_certificate(source, learn, capsys):
    run, _, _ = learn(source, "--target", "y", "--no-scale", "--outliers", "30")
    words = json.loads((run / "certificate.json").read_text())["words"]
    assert "every set of at most 30 outliers" in words
    assert words in output(capsys, "inspect", run)
    run, _, _ = learn(source, "--target", "y", to="scaled")
    assert "There is no certificate: features have a running scale" in output(capsys, "inspect", run)


def test_each_key_has_the_model_that_it_would_have_alone(table, learn, tmp_path):
    who = np.array(["p", "q", "r", "s"])[np.arange(ROWS) % 4]
    pacsv.write_csv(pa.table(table | {"who": who}), tmp_path / "rows.csv")
    run, status, printed = learn(
        tmp_path / "rows.csv", "--target", "y", "--key", "who", "--checkpoint", "100"
    )
    assert status == 0
    assert "4 keys" in printed
    from safetensors.numpy import load_file

    together = load_file(run / "model.safetensors")
    for i, name in enumerate("pqrs"):
        mine = {column: values[who == name] for column, values in table.items()}
        pacsv.write_csv(pa.table(mine), tmp_path / "mine.csv")
        alone, _, _ = learn(tmp_path / "mine.csv", "--target", "y", "--learner", "adagrad", to=name)
        for parameter, value in load_file(alone / "model.safetensors").items():
            assert np.array_equal(together[parameter][i], value[0])
    main(["predict", str(run), str(tmp_path / "rows.csv"), "--to", str(tmp_path / "out.csv"), "--quiet"])
    assert pacsv.read_csv(tmp_path / "out.csv").column("prediction").null_count == 0
    again, status, _ = learn(tmp_path / "rows.csv", "--target", "y", "--key", "who", "--resume")
    assert status == 0
    assert load_file(again / "model.safetensors")["weights"].tolist() == together["weights"].tolist()


@pytest.mark.slow  # compiles for half a minute
def test_many_keys_are_played_compiled_with_the_same_bits(table, learn, tmp_path, monkeypatch):
    who = np.array([f"s{i}" for i in range(40)])[np.arange(ROWS) * 7 % 41 % 40]
    pacsv.write_csv(pa.table(table | {"who": who}), tmp_path / "rows.csv")
    args = ("--target", "y", "--key", "who", "--no-scale", "--learner", "ogd:5", "--outliers", "5%")
    plain, _, _ = learn(tmp_path / "rows.csv", *args, to="plain")
    monkeypatch.setattr("holdfast.runs.run._MANY_KEYS", 5)
    monkeypatch.setattr("holdfast.runs.games._MANY", 5)
    monkeypatch.setattr("holdfast.io.sources._ENTRIES", 300)  # so that each key is played many times
    monkeypatch.setattr("holdfast.runs.packed_states._ROUNDING", 1)  # and games have to be moved
    compiled, _, printed = learn(tmp_path / "rows.csv", *args, "--checkpoint", "100", to="compiled")
    assert bits(compiled) == bits(plain)
    _, counts = np.unique(who, return_counts=True)
    assert f"40 keys, {counts.min()} to {counts.max()} rounds each; error from" in printed
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
        r"\r\x1b\[K█{12} 100 %  [\d:]+ left, 600 rounds, [\d,]+/s, 7.7 % skipped, error [\d.]+\r", printed
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
    (tmp_path / "model.safetensors").write_bytes(b"\x05\0\0\0\0\0\0\0junk!")
    assert main(["predict", str(tmp_path), "-"]) == 2
    assert "is no run of holdfast" in capsys.readouterr().err


def test_help_has_examples(capsys):
    for command in ("learn", "predict", "audit", "release", "report", "inspect"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = capsys.readouterr().out
        assert f"holdfast {command}" in text
        assert "examples:" in text
        assert "exit status:" in text


def examples(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    return [line.strip() for line in text.partition("examples:")[2].partition("exit status:")[0].splitlines()]


def test_the_examples_of_the_help_run(table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pa.table(table | {"who": np.array(["p", "q"])[np.arange(ROWS) % 2]})
    pacsv.write_csv(rows.rename_columns(["x", "u", "v", "benzene", "w"]), "sensors.csv")
    pacsv.write_csv(rows.rename_columns(["x", "u", "v", "benzene", "w"]), "today.csv")
    pacsv.write_csv(rows, "data.csv")
    pq.write_table(rows.rename_columns(["x", "u", "v", "load", "machine"]), "fleet.parquet")
    Path("clicks.jsonl").write_text(
        "".join(json.dumps({"x": i, "bought": i % 3 == 0}) + "\n" for i in range(90))
    )
    Path("log.csv.gz").write_bytes(
        gzip.compress(b"id,url,x,ms\n" + b"".join(b"%d,/,%d,%d\n" % (i, i % 7, i % 50) for i in range(90)))
    )
    Path("old").mkdir()
    for i, name in enumerate(("jan.csv", "feb.csv", "mar.csv", "old/dec.csv.gz")):
        lines = b"x,benzene\n" + b"".join(b"%d,%d\n" % (j % 7, j % 50) for j in range(i, i + 90))
        Path(name).write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
    Path("today.jsonl").write_text('{"x": 1, "u": 2, "v": 3, "w": "p"}\n')
    ran = 0
    for command in ("learn", "predict", "audit", "release", "report", "inspect"):
        for line in filter(None, examples(command, capsys)):
            before, _, last = line.rpartition("|")
            words = shlex.split(last, comments=True)
            assert words[0] == "holdfast"
            if before:
                shell = f"{before}| {shlex.join([sys.executable, '-m', 'holdfast.cli.main', *words[1:]])}"
                status = subprocess.run(
                    ["bash", "-c", f"set -o pipefail; {shell}"], capture_output=True
                ).returncode
            else:
                status = main(words[1:])
            assert status == 0, (line, capsys.readouterr().err)
            ran += 1
    assert ran == 24
    assert Path("answers.parquet").exists() and Path("page.html").exists()


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_complete_too(tmp_path, capsys, shell):
    """The shell runs the completed line; there `holdfast` prints its arguments."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    (tmp_path / "_holdfast").write_text(output(capsys, "completion", shell))
    begin = {
        "zsh": f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D\n"
        "holdfast() { echo given $*; }",
        "tcsh": f"set prompt='> '; source {tmp_path}/_holdfast; alias holdfast echo given",
    }[shell]
    (tmp_path / "begin").write_text(f"{begin}\necho ready\n")
    terminal, other_end = pty.openpty()
    kind = "vt100" if shell == "tcsh" else "dumb"  # on a dumb one tcsh completes nothing
    process = subprocess.Popen(
        [shell, "-f"],
        **dict.fromkeys(("stdin", "stdout", "stderr"), other_end),
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # the terminal that it is run from
        env={**os.environ, "TERM": kind},
    )
    os.close(other_end)
    try:
        shown_after(terminal, f"source {tmp_path}/begin\n", "\nready")
        assert "\ngiven predict" in shown_after(terminal, "holdfast pred\t\n", "\ngiven")
        if shell == "zsh":
            assert "\ngiven learn --outliers" in shown_after(terminal, "holdfast learn --outl\t\n", "\ngiven")
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def shown_after(terminal, typed, wanted):
    """Type this; what the terminal shows, up to the end of the line that has the wanted text."""
    os.write(terminal, typed.encode())
    printed = ""
    while "\n" not in printed.partition(wanted)[2]:
        printed = (printed + os.read(terminal, 4096).decode(errors="replace")).replace("\r", "")
    return printed


def test_the_demo_shows_what_filters_are_for_and_can_run_twice(tmp_path):
    (tmp_path / "holdfast-demo.run").mkdir()
    done = holdfast("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with_filters, without = (
        next(line for line in done.stdout.splitlines() if line.startswith(name)).removeprefix(name).split()
        for name in ("holdfast learn", "... --outliers none")
    )
    assert float(with_filters[0]) < 0.5 < 1.0 < float(without[0])
    assert " ".join(with_filters[1:4]) == "366 of 366"
    assert f"The report: {Path('holdfast-demo-2.run', 'report.html')}" in done.stdout
    assert (tmp_path / "holdfast-demo-2.run" / "report.html").exists()
    again = holdfast("demo", "--to", tmp_path / "holdfast-demo-2.run")
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_the_shell_completes_commands_and_options(tmp_path, capsys):
    (tmp_path / "script").write_text(output(capsys, "completion", "bash"))
    ask = f"source {tmp_path}/script; COMP_WORDS=({{}}); COMP_CWORD={{}}; _shtab_holdfast; "
    ask += "echo ${{COMPREPLY[@]}}"
    for words, place, answer in (("holdfast pred", 1, "predict"), ("holdfast learn --outl", 2, "--outliers")):
        done = subprocess.run(["bash", "-c", ask.format(words, place)], capture_output=True, text=True)
        assert done.stdout.split() == [answer], done.stderr
    assert "_holdfast" in output(capsys, "completion", "zsh")


@pytest.mark.parametrize("name", [*LEARNERS, "adagrad:0.01", "ogd:3"])
def test_every_learner_has_a_name_on_the_command_line(tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr("holdfast.cli.progress.Events.interval", 0.0)  # as if it took long
    path = tmp_path / "a.csv"
    rows = ((i % 7, i % 5) for i in range(300))
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{a - b}\n" for a, b in rows))
    to, squared = tmp_path / "run", name in ("ons", "onlineridge", "vaw")
    asked = ["--learner", name, "--loss", "squared" if squared else "absolute", "--to", str(to), "--json"]
    assert main(["learn", str(path), "--target", "y", *asked]) == 0
    *_, end = capsys.readouterr().out.splitlines()
    assert json.loads(end)["error"] < 2.5
    assert main(["predict", str(to), str(path)]) == 0
    predictions = [float(line.split(",")[1]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert np.mean(np.abs(np.array(predictions) - [i % 7 - i % 5 for i in range(300)])) < 1.0


def test_a_learner_that_does_not_suit_the_loss_is_refused(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,2\n2,3.5\n" * 50)
    for name, words in (("onlineridge", "squared losses"), ("ons", "concave"), ("adahedge", "must be")):
        to = str(tmp_path / name)
        assert (
            main(["learn", str(path), "--target", "y", "--task", "regression", "--learner", name, "--to", to])
            == 2
        )
        assert words in capsys.readouterr().err
