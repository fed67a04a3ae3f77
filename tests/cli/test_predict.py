"""What predict writes: columns that are passed on, intervals, outliers; and each line of a pipe at once."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import ROWS, holdfast
from runs.small import called, refused

CHEAP = ("--target", "y", "--learner", "adagrad", "--quiet")


@pytest.fixture(scope="module")
def run(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict") / "run"
    assert called("learn", source, *CHEAP, "--to", folder)[0] == 0
    return folder


def predicted(run, rows, *args):
    status, out, said = called("predict", run, rows, *args)
    assert status == 0, said
    return pacsv.read_csv(pa.BufferReader(out.encode()))


def test_numbers_have_an_interval_and_wild_rows_are_outliers(run, source, table):
    found = predicted(run, source)
    names = ["row", "prediction", "low", "high", "outlier", "outlier_column", "note"]
    assert found.column_names == names
    low, middle, high = (found.column(name).to_numpy() for name in ("low", "prediction", "high"))
    assert ((low < middle) & (middle < high)).all()
    inside = (low <= table["y"]) & (table["y"] <= high)
    assert 0.8 < inside[-300:].mean() <= 1.0
    narrow = predicted(run, source, "--interval", "50%")
    width = narrow.column("high").to_numpy() - narrow.column("low").to_numpy()
    assert (width < high - low).all()
    wild = np.abs(np.column_stack([table[name] for name in "abc"])).max(axis=1) > 50
    outlier = found.column("outlier").to_numpy() == 1
    assert not outlier[~wild].any() and outlier[wild].mean() > 0.5
    for row in np.flatnonzero(outlier):
        assert abs(table[found.column("outlier_column")[row].as_py()][row]) > 50


def test_columns_are_passed_on_as_they_are(run, table, tmp_path):
    rows = pa.table(table | {"id": [f"00{i}" for i in range(ROWS)], "row": [f"n{i}" for i in range(ROWS)]})
    pacsv.write_csv(rows, tmp_path / "rows.csv")
    args = ("predict", run, tmp_path / "rows.csv", "--all-columns", "--to", tmp_path / "out.parquet")
    assert called(*args)[0] == 0
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.column_names[-6:] == ["a", "b", "c", "y", "id", "source_row"]
    assert found.column("id").to_pylist() == rows.column("id").to_pylist()
    assert found.column("source_row").to_pylist() == rows.column("row").to_pylist()
    assert [float(text) for text in found.column("a").to_pylist()] == table["a"].tolist()
    few = predicted(run, tmp_path / "rows.csv", "--pass", "id, c")
    assert few.column_names[-2:] == ["id", "c"]
    assert refused(called("predict", run, tmp_path / "rows.csv", "--pass", "z"))


def test_a_row_that_cannot_be_read_still_has_its_cells(run, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,c,id\n1,2,3,p\n1,x,3,q\n1,2\n,2,3,s\n")
    found = predicted(run, tmp_path / "rows.csv", "--pass", "b,id").to_pydict()
    assert found["id"] == ["p", "q", None, "s"] or found["id"] == ["p", "q", "", "s"]
    assert found["b"][1] == "x"
    assert [value is None for value in found["prediction"]] == [False, False, True, False]
    assert [value is None for value in found["low"]] == [False, True, True, True]
    notes = ["", "column 'b': 'x' is not a number", "2 cells, where the header has 4", "a is missing"]
    assert [note or "" for note in found["note"]] == notes


def test_typed_columns_keep_their_types(run, table, tmp_path):
    rows = pa.table(table | {"id": pa.array(range(ROWS)), "list": pa.array([[1]] * ROWS)})
    pq.write_table(rows, tmp_path / "rows.parquet")
    args = ("predict", run, tmp_path / "rows.parquet", "--to", tmp_path / "out.parquet")
    assert called(*args, "--pass", "id")[0] == 0
    assert pq.read_table(tmp_path / "out.parquet").column("id").type == pa.int64()
    _, _, said = answer = called(*args, "--all-columns")
    assert refused(answer) and "'list'" in said


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_file_without_rows_gives_the_names_of_the_columns(run, tmp_path, name):
    (tmp_path / "rows.csv").write_text("a,b,c,id\n")
    to = tmp_path / name
    assert called("predict", run, tmp_path / "rows.csv", "--pass", "id", "--to", to)[0] == 0
    found = pq.read_table(to) if to.suffix == ".parquet" else pacsv.read_csv(to)
    assert found.num_rows == 0
    assert found.column_names == [
        "row",
        "prediction",
        "low",
        "high",
        "outlier",
        "outlier_column",
        "note",
        "id",
    ]


def test_labels_have_a_probability_and_keys_their_own_threshold(table, tmp_path):
    rng = np.random.default_rng(2)
    side = np.where(table["b"] + rng.normal(size=ROWS) > 0, "up", "down")
    who = np.array(["p", "q"])[np.arange(ROWS) % 2]
    pacsv.write_csv(pa.table(table | {"side": side, "who": who}), tmp_path / "rows.csv")
    args = ("--target", "side", "--drop", "y", "--key", "who", "--learner", "adagrad", "--quiet")
    assert called("learn", tmp_path / "rows.csv", *args, "--to", tmp_path / "run")[0] == 0
    found = predicted(tmp_path / "run", tmp_path / "rows.csv")
    assert found.column_names == [
        "row",
        "key",
        "prediction",
        "probability",
        "labels",
        "outlier",
        "outlier_column",
        "note",
    ]
    assert found.column("key").to_pylist() == who.tolist()
    share = found.column("probability").to_numpy()
    assert share.min() > 0.4 and share.max() < 1.0
    right = np.array(found.column("prediction").to_pylist()) == side
    sure = share > np.median(share)
    assert right[sure].mean() > right[~sure].mean()
    (tmp_path / "new.csv").write_text("a,b,c,who\n1,1,1,p\n1,1,1,nobody\n")
    new = predicted(tmp_path / "run", tmp_path / "new.csv").to_pydict()
    assert new["prediction"][1] in (None, "") and new["probability"][1] is None and new["outlier"][1] is None


@pytest.mark.parametrize("share", ["0", "100", "nan", "x", "-5", "inf", "40%", "0.8%"])
def test_an_interval_is_a_share(run, source, share, capsys):
    with pytest.raises(SystemExit) as end:
        called("predict", run, source, f"--interval={share}")
    assert end.value.code == 2


def test_an_interval_below_1_is_a_share_and_not_percent(run, source):
    """As with --outliers and --fail-if-skipped: 0.8 is 80 %."""
    answers = {called("predict", run, source, "--interval", share)[1] for share in ("80%", "80", "0.8")}
    assert len(answers) == 1


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_each_line_of_a_pipe_is_answered_before_the_next_is_sent(run, table, form):
    names = ("a", "b", "c")
    rows = [{name: float(table[name][i]) for name in names} for i in range(3)]
    if form == "csv":
        lines = [",".join(str(row[name]) for name in names) for row in rows]
    else:
        lines = [json.dumps(row) for row in rows]
    command = [
        sys.executable,
        "-m",
        "holdfast.cli.main",
        "predict",
        str(run),
        "-",
        "--format",
        form,
        "--quiet",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if form == "csv":
            process.stdin.write("a,b,c\n")
        answers = []
        for place, line in enumerate(lines):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            if place == 0:
                assert process.stdout.readline().startswith("row,prediction")
            answers.append(process.stdout.readline())
        process.stdin.close()
        assert process.wait() == 0 and process.stdout.read() == ""
    text = "a,b,c\n" + "".join(",".join(str(row[name]) for name in names) + "\n" for row in rows)
    done = holdfast("predict", run, "-", "--format", "csv", "--quiet", input=text)
    assert done.stdout.splitlines()[1:] == [answer.rstrip("\n") for answer in answers]
