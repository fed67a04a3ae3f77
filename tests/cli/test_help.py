"""The examples of the help run, shells complete commands, and the demo works."""

import fcntl
import gzip
import json
import os
import pty
import shlex
import shutil
import subprocess
import sys
import termios
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import ROWS, holdfast, output

from holdfast.cli.main import main
from holdfast.cli.parser import COMMANDS, LAB_COMMANDS


def test_help_has_examples(capsys):
    for command in ("learn", "predict", "audit", "release", "report", "inspect"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = capsys.readouterr().out
        assert f"holdfast {command}" in text
        assert "examples:" in text
        assert "exit status:" in text
        assert ("--fail-if-skipped" in text) == (command == "learn")


def test_help_speaks_of_resuming_only_where_there_is_something_to_resume(capsys):
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        end = capsys.readouterr().out.partition("exit status:")[2]
        assert ("--resume" in end) == (command in ("learn", "retract", "restore")), command


def test_help_begins_with_an_example_and_has_at_most_80_columns(capsys):
    has_lab = find_spec("holdfast_lab") is not None
    for command in (*COMMANDS, *(LAB_COMMANDS if has_lab else ())):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80, command
        assert lines[2].startswith("example: "), command


@pytest.mark.parametrize("command", ["retract", "restore"])
def test_the_help_says_how_to_go_on_with_a_stopped_retraction(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "143 by SIGTERM: the run is as it was, and holdfast retract RUN --resume goes on" in text


def test_a_wrong_call_is_one_sentence_and_says_where_the_help_is(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["learn", "rows.csv", "--outlier-share", "3"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error == "holdfast: unrecognized arguments: --outlier-share 3; see holdfast learn --help\n"


def examples(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    lines = text.partition("examples:")[2].partition("exit status:")[0].splitlines()
    return [line.strip() for line in lines if not line.strip().startswith("#")]


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
    assert ran == 25
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


@pytest.mark.slow
def test_the_demo_shows_what_filters_are_for_and_can_run_twice(tmp_path):
    (tmp_path / "holdfast-demo.run").mkdir()
    done = holdfast("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with_filters, without = (
        next(line for line in done.stdout.splitlines() if line.startswith(name)).removeprefix(name).split()
        for name in ("holdfast learn", "... ... --outliers none")
    )
    assert float(with_filters[0]) < 0.4 < 1.2 < float(without[0])
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
