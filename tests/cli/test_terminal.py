"""Names and values from files never control the terminal, and are cut if they are long."""

import json
import os
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import ROWS, holdfast
from samples import thinned

from holdfast.cli.main import main

EVIL = "\x1b]0;owned\x07\x9b31m\u202e\n\r"
LONG = "k" * 100_000
LINE = 4_100  # characters


def printed(capsys, *args):
    """The exit status and what was printed, after a check: printable, in lines of a bounded length."""
    try:
        status = main(list(map(str, args)))
    except SystemExit as stopped:
        status = stopped.code
    out, err = capsys.readouterr()
    for line in (out + err).split("\n"):
        assert line.isprintable(), line
        assert len(line) <= LINE
        assert "k" * 81 not in line
    return status, out + err


@pytest.fixture
def evil(table, tmp_path):
    """A file with control characters in all names of columns, keys, labels and categories."""
    rows = {f"{name}{EVIL}": column for name, column in table.items()}
    rows["key"] = [f"{EVIL}{i % 3}" if i % 4 else LONG for i in range(ROWS)]
    rows["label"] = [f"{EVIL}yes" if value > 0 else LONG for value in table["b"]]
    rows[LONG] = [f"{EVIL}{i % 5}" for i in range(ROWS)]
    path = tmp_path / f"evil{EVIL}.parquet"
    pq.write_table(pa.table(rows), path)
    return path


def test_no_command_prints_control_characters(evil, tmp_path, capsys):
    to = tmp_path / f"run{EVIL}"
    assert printed(capsys, "learn", evil, "--target", "label", "--drop=key", "--to", to, "--report")[0] == 0
    assert printed(capsys, "audit", to, "--worst", "50")[0] == 0
    status, text = printed(capsys, "inspect", to)
    assert status == 0
    assert r"\x1b]0;owned" in text
    assert printed(capsys, "report", to)[0] == 0
    page = (to / "report.html").read_text(encoding="utf-8")
    assert page.replace("\n", "").isprintable()
    assert "kkkkkkkk…" in page and "k" * 201 not in page
    to = tmp_path / "keys"
    assert printed(capsys, "learn", evil, "--target", f"y{EVIL}", "--key", "key", "--to", to)[0] == 0
    text = printed(capsys, "audit", to, "--worst", "600")[1]
    assert "kkkkkkkk…" in text and r"\x1b]0;owned\x07\x9b31m\u202e\n\r" in text


def test_no_error_message_has_control_characters(evil, tmp_path, capsys):
    (tmp_path / "bad.csv").write_text(f'"{LONG}",y\n1,2\n' * 2)
    for args in (
        ("learn", evil, "--target", EVIL),
        ("learn", evil, "--target", f"{LONG[:5000]}?"),
        ("learn", evil, "--target", "label", "--labels", f"{EVIL},{LONG[:5000]},{EVIL}"),
        ("learn", evil, "--target", LONG, "--task", "regression"),
        ("learn", evil, "--target", "label", "--outliers", EVIL),
        ("learn", evil, "--target", "label", "--checkpoint", EVIL),
        ("learn", evil, "--target", "label", "--task", EVIL),
        ("learn", evil, "--target", "label", EVIL),
        ("learn", tmp_path / f"none{EVIL}", "--target", "y"),
        ("learn", tmp_path / "bad.csv", "--target", "z"),
        ("predict", tmp_path / EVIL.replace("/", ""), evil),
        ("audit", tmp_path, "--replay", EVIL),
        ("reproduce", EVIL),
        (EVIL,),
    ):
        status, text = printed(capsys, *args, *(("--to", tmp_path / "run") if args[0] == "learn" else ()))
        assert status == 2, text
        assert "holdfast" in text


def test_the_cells_of_an_unreadable_row_are_escaped(source, tmp_path, capsys):
    text = source.read_text().replace("a,b,c,y", "\x1b[2Ja,b,c,y")
    (tmp_path / "rows.csv").write_text(text + "1,2,\x1b[31m,4\n1,2,3,\u202e\n")
    to = tmp_path / "run"
    assert printed(capsys, "learn", tmp_path / "rows.csv", "--target", "y", "--to", to)[0] == 0
    assert r"'\x1b[31m' is not a number" in printed(capsys, "audit", to, "--worst", "600")[1]
    found = json.loads(printed_json(capsys, "audit", to, "--worst", "600", "--json"))
    assert found["skipped_by_reason"]["not readable"] == 2


def printed_json(capsys, *args):
    assert main(list(map(str, args))) == 0
    return capsys.readouterr().out


def test_predictions_are_data_with_every_character(evil, tmp_path):
    to, answers = tmp_path / "run", tmp_path / "answers.csv"
    main(["learn", str(evil), "--target", "label", "--drop", "key", "--to", str(to), "--quiet"])
    main(["predict", str(to), str(evil), "--to", str(answers), "--quiet"])
    options = pacsv.ParseOptions(newlines_in_values=True)
    found = pacsv.read_csv(answers, pacsv.ReadOptions(block_size=1 << 28), options)
    assert set(found.column("prediction").to_pylist()) == {f"{EVIL}yes", LONG}
    metrics = json.loads((to / "metrics.json").read_text())
    assert metrics["rounds"] == ROWS


@pytest.mark.parametrize("kind", thinned(["csv", "parquet", "arrow"], 3))
def test_a_file_name_need_not_be_utf_8(table, tmp_path, kind):
    path = tmp_path / os.fsdecode(b"bad\xff\x1b[31m." + kind.encode())
    if kind == "csv":
        with path.open("wb") as file:
            pacsv.write_csv(pa.table(table), file)
    elif kind == "parquet":
        with path.open("wb") as file:
            pq.write_table(pa.table(table), file)
    else:
        with path.open("wb") as file, pa.ipc.new_file(file, pa.table(table).schema) as writer:
            writer.write_table(pa.table(table))
    done = holdfast("learn", path, "--target", "y", "--report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = os.fsdecode(b"bad\xff\x1b[31m.run")
    assert r"The run: bad\xff\x1b[31m.run" in done.stdout
    for args in (("predict", run, path), ("audit", run), ("audit", run, "--replay", "k=5"), ("inspect", run)):
        done = holdfast(*args, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert not re.search("[\x1b\udc80-\udcff]", done.stdout + done.stderr)


def test_a_terminal_for_ascii_only_is_no_error(table, tmp_path):
    pacsv.write_csv(pa.table({f"größe {name}": column for name, column in table.items()}), tmp_path / "a.csv")
    to = tmp_path / "run"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for args in (("learn", "a.csv", "--target", "größe y", "--to", to), ("inspect", to)):
        command = [sys.executable, "-m", "holdfast.cli.main", *map(str, args)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert rb"gr\xf6\xdfe" in done.stdout + done.stderr
