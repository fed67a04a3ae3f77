"""Whatever is on the command line, a command ends with one sentence and the exit status that fits."""

import contextlib
import io
import json
import math
import os
import signal
import subprocess
import sys

import pytest
from runs.small import called, learned, write_source

from holdfast.cli.main import main
from holdfast.cli.parser import COMMANDS, LAB_COMMANDS


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("source") / "rows.csv")


@pytest.fixture(scope="module")
def run(source, tmp_path_factory):
    return learned(source, tmp_path_factory.mktemp("runs") / "run", "--learner", "adagrad")


AT_ONCE = {"demo", "doctor", "warm", "reproduce", "bench", "gauntlet", "learners"}  # need no arguments


@pytest.mark.parametrize("command", sorted({*COMMANDS, *LAB_COMMANDS} - AT_ONCE))
def test_a_command_without_arguments_says_which_are_required(command):
    with pytest.raises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as said:
        main([command])
    assert ended.value.code == 2
    assert said.getvalue().startswith("holdfast: ") and said.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ("--learner", "adagrad:nan"),
        ("--learner", "adagrad:-1"),
        ("--learner", "adagrad:0"),
        ("--learner", "adagrad:inf"),
        ("--outliers", "1e300"),
        ("--outliers", "100000000000000000000"),
        ("--outliers", "inf"),
    ],
)
def test_a_number_without_a_meaning_is_refused(source, tmp_path, args):
    status, _, said = called("learn", source, "--target", "y", "--to", tmp_path / "run", *args)
    assert status == 2
    assert said.startswith("holdfast: ") and said.count("\n") == 1
    assert args[1] in said
    assert not (tmp_path / "run").exists()


def test_an_empty_name_is_refused(source, run, tmp_path):
    for args in (
        ("learn", source, "--target", "y", "--key", "", "--to", tmp_path / "run"),
        ("report", run, "--to", ""),
    ):
        status, _, said = called(*args)
        assert status == 2
        assert said.startswith("holdfast: ") and said.count("\n") == 1


def test_a_replay_of_too_many_outliers_is_refused(run):
    status, _, said = called("audit", run, "--replay", "k=1e300")
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("holdfast: --replay must be ")  # not --outliers, which was not given


@pytest.mark.parametrize("every", ["nans", "nan", "0s", "-1"])
def test_checkpoints_have_an_interval(source, tmp_path, every):
    assert wrong_call("learn", source, "--target", "y", "--to", tmp_path / "run", "--checkpoint", every)


@pytest.mark.parametrize(
    "args", [("--jobs", "0"), ("--jobs", "many"), ("--seed", "-1"), ("--seed", "9" * 40), ("--jobs", "-2")]
)
def test_reproduce_refuses_numbers_without_a_meaning(tmp_path, args):
    assert wrong_call("reproduce", "outlier_count", "--quick", "--to", tmp_path, *args)


def wrong_call(*args):
    """Whether argparse refuses these arguments."""
    with pytest.raises(SystemExit) as end:
        main(list(map(str, args)))
    return end.value.code == 2


@pytest.mark.parametrize(
    "args",
    [
        ("reproduce", "outlier_count", "--quick", "--to", "/proc/x"),
        ("bench", "--tiny", "--only", "dense", "--to", "/proc/x"),
        ("demo", "--to", "/proc/x/y"),
    ],
)
def test_a_folder_that_cannot_be_made_is_one_sentence(args):
    status, _, said = called(*args)
    assert status == 1
    assert said.startswith("holdfast: /proc/x") and said.count("\n") == 1


@pytest.mark.parametrize("args", [("--learner", "newton"), ("--outliers", "nan"), ("--outliers", "inf")])
def test_warm_refuses_what_no_estimator_takes(args):
    pytest.importorskip("sklearn")
    status, _, said = called("warm", "--only", "regressor", "--rows", "dense", *args)
    assert status == 2
    assert said.startswith(f"holdfast: {args[0]} must be ") and said.count("\n") == 1


def test_with_json_errors_are_json_too(run, tmp_path, capsys):
    status, said, error = called("learn", tmp_path / "none.csv", "--target", "y", "--json")
    text = error.removeprefix("holdfast: ").rstrip("\n")
    assert json.loads(said) == {"event": "error", "text": text, "status": status}
    assert status == 2 and "No such file" in text
    assert wrong_call("audit", run, "--json", "--worst", "x")
    found = json.loads(capsys.readouterr().out)
    assert (found["event"], found["status"]) == ("error", 2)
    assert "must be a whole number" in found["text"]


def test_json_has_no_nan_and_no_infinity(source, tmp_path):
    """One row is infinite, and so is its size."""
    path = tmp_path / "rows.csv"
    path.write_bytes(source.read_bytes() + b"inf,1,p,1\n1e300,1,p,1e300\n1,1,p,inf\n")
    run = learned(path, tmp_path / "run", "--learner", "adagrad")

    def refuse(word):
        raise AssertionError(word)

    for args in (("audit", run, "--worst", "99"), ("inspect", run), ("audit", run, "--replay", "k=3")):
        json.loads(called(*args, "--json")[1], parse_constant=refuse)
    for name in ("metrics.json", "certificate.json", "config.json"):
        json.loads((run / name).read_text(), parse_constant=refuse)
    found = json.loads(called("audit", run, "--worst", "99", "--json")[1])
    assert any(row["size"] is None for row in found["worst"])


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_command_that_is_stopped_removes_its_temporary_files(
    source, run, tmp_path, monkeypatch, number, status
):
    def stopped(*args, **options):
        assert list(tmp_path.iterdir())  # the temporary file is there
        os.kill(os.getpid(), number)

    monkeypatch.setattr("holdfast.io.sources.pieces", stopped)
    assert main(["predict", str(run), str(source), "--to", str(tmp_path / "answers.csv")]) == status
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_stays_ignored(source, run, tmp_path):
    """So that nohup works."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        learned(source, tmp_path / "run", "--learner", "adagrad")
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_bar_of_a_small_file_moves(source, tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.cli.progress.Events.interval", 0.0)
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 20)
    said = called(
        "learn", source, "--target", "y", "--learner", "adagrad", "--json", "--to", tmp_path / "run"
    )[1]
    shares = [json.loads(line).get("done_share") for line in said.splitlines()][:-1]
    assert shares == sorted(shares) and len(set(shares)) == 3
    assert math.isclose(shares[0], 20 / 60, rel_tol=0.1) and shares[-1] == 1.0


def test_a_key_that_learned_nothing_is_mentioned(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,who,y\n" + "".join(f"{i % 7},{i // 2},{i % 5}.5\n" for i in range(40)))
    said = called("learn", path, "--target", "y", "--key", "who", "--to", tmp_path / "run")[1]
    assert "skipped 0." in said
    assert "20 of them have learned nothing yet" in said
    args = ("--key", "who", "--learner", "adagrad", "--to", tmp_path / "other")
    said = called("learn", path, "--target", "y", *args)[1]
    assert "40 more, in the warm-up" in said and "20 of them have learned nothing yet" in said


def test_a_round_that_several_labels_skip_counts_once(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{1e6 if i == 50 else i % 7},{'pqr'[i % 3]}\n" for i in range(60)))
    run = tmp_path / "run"
    assert called("learn", path, "--target", "y", "--to", run, "--quiet")[0] == 0
    metrics = json.loads((run / "metrics.json").read_text())
    assert sum(metrics["skipped_by_reason"].values()) == metrics["skipped"]


def test_folders_without_a_name_keep_the_name_of_the_source():
    from holdfast.runs.beginning import default_folder

    names = {
        "2024.01.csv": "2024.01.run",
        "x/2024.02.CSV.gz": "2024.02.run",
        "log": "log.run",
        "-": "standard-input.run",
        ".csv": "rows.run",
    }
    assert {source: str(default_folder(source)) for source in names} == names


def test_names_with_commas_are_written_in_quotes(tmp_path):
    """On the command line as in CSV; in a list of TOML as they are."""
    lines = "".join(f"{i % 7},{i % 5},{i},{'no, never' if i % 3 else 'yes'}\n" for i in range(60))
    (tmp_path / "rows.csv").write_text('"a,b",say "x",c,y\n' + lines.replace("no, never", '"no, never"'))
    (tmp_path / "learn.toml").write_text('labels = ["no, never", "yes"]\ndrop = ["a,b"]\n')
    run, learn = tmp_path / "run", ("learn", tmp_path / "rows.csv", "--target", "y", "--learner", "adagrad")
    status, _, said = called(*learn, "--labels", '"no, never",yes', "--drop", '"a,b",say "x"', "--to", run)
    assert status == 0, said
    settings = json.loads((run / "config.json").read_text())["settings"]
    assert settings["labels"] == ["no, never", "yes"] and settings["drop"] == ["a,b", 'say "x"']
    status, _, said = called(*learn, "--config", tmp_path / "learn.toml", "--to", tmp_path / "other")
    assert status == 0, said
    settings = json.loads((tmp_path / "other/config.json").read_text())["settings"]
    assert settings["labels"] == ["no, never", "yes"] and settings["drop"] == ["a,b"]
    out = called("predict", run, tmp_path / "rows.csv", "--pass", '"a,b"')[1]
    assert out.splitlines()[0].endswith(',"a,b"')
    said = called(*learn, "--drop", "a", "--to", tmp_path / "none")[2]
    assert 'it has "a,b", say "x", c, y' in said


def test_a_list_without_a_name_is_refused(source, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["learn", str(source), "--target", "y", "--features", " , "])
    assert "' , ' names no column: write names, such as A,B" in capsys.readouterr().err


WITHOUT_PYARROW = (
    "import sys; sys.modules['pyarrow'] = None; from holdfast.cli.main import main; sys.exit(main())"
)


@pytest.mark.parametrize("command", ["learn a.csv --target y", "verify a.run", "export a.run --to onnx"])
def test_a_missing_package_comes_with_the_line_that_installs_it(command):
    call = [sys.executable, "-c", WITHOUT_PYARROW, *command.split()]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "holdfast: pyarrow is not installed: pip install 'holdfast[cli]'\n"


def test_a_text_in_place_of_a_number_is_refused_in_plain_words(capsys):
    assert wrong_call("audit", "RUN", "--worst", "x") and wrong_call("serve", "RUN", "--rate", "x")
    worst, rate = capsys.readouterr().err.splitlines()
    assert "--worst: must be a whole number: got 'x'" in worst and "--rate: must be a number: got 'x'" in rate


@pytest.mark.parametrize("args", [("--season", "-1"), ("--patience", "0"), ("--alarm-rate", "90%")])
def test_watch_speaks_of_its_options_by_their_names(source, args):
    status, _, said = called("watch", source, "--value", "a", *args)
    assert status == 2 and said.startswith(f"holdfast: {args[0]} ")


def test_a_share_is_shown_as_it_was_written(capsys):
    assert wrong_call("predict", "RUN", "a.csv", "--interval", "2")
    assert "got '2'" in capsys.readouterr().err
