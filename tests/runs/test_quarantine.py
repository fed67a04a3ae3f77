"""The skipped rows of a run, as they are in its source."""

import csv
import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from files import written
from runs.small import called, learned, refused, write_source


def skipped_rows(run):
    return sorted(set(pq.read_table(run / "audit").column("row").to_pylist()))


def test_the_quarantine_has_the_lines_of_the_skipped_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.io.byte_stream.BLOCK", 700)  # many blocks
    source = write_source(tmp_path / "rows.csv", 200)
    text = source.read_text().splitlines()
    text[50], text[60] = 'x,1,"p",2', '1,2,"q\nr",3,4'
    source.write_text("\n".join(text) + "\n")
    text = source.read_text().splitlines()
    run = learned(source, tmp_path / "run", "--learner", "adagrad", "--checkpoint", "50")
    status, said, _ = called("audit", run, "--skipped", tmp_path / "quarantine.csv")
    found = list(csv.DictReader(io.StringIO((tmp_path / "quarantine.csv").read_text())))
    assert status == 0 and f"{len(found)} skipped rows" in said
    assert [int(row["skipped_row"]) for row in found] == skipped_rows(run)
    names = text[0].replace('"', "").split(",")
    for row in found:
        if row["skipped_reason"] != "not readable":
            line = next(csv.reader([text[int(row["skipped_row"])]]))
            assert [row[name] for name in names] == line
    assert {row["skipped_column"] for row in found} >= {"a", "b"}
    assert "not readable" in {row["skipped_reason"] for row in found}


@pytest.mark.parametrize("kind", ["parquet", "arrows", "jsonl"])
def test_other_formats_have_a_quarantine_too(tmp_path, kind):
    table = pacsv.read_csv(write_source(tmp_path / "rows.csv"))
    source = written(table.to_pydict(), tmp_path / f"rows.{kind}")
    run = learned(source, tmp_path / "run", "--learner", "adagrad")
    assert called("audit", run, "--skipped", tmp_path / "quarantine.parquet")[0] == 0
    found = pq.read_table(tmp_path / "quarantine.parquet")
    rows = found.column("skipped_row").to_numpy()
    assert rows.tolist() == skipped_rows(run) and len(rows)
    expected = table.take(rows - 1).column("a").to_pylist()
    assert [float(value) for value in found.column("a").to_pylist()] == expected


def test_a_row_that_several_labels_skip_is_there_once(tmp_path):
    source = write_source(tmp_path / "rows.csv", 120)
    args = ("learn", source, "--target", "who", "--learner", "adagrad", "--quiet", "--to", tmp_path / "run")
    assert called(*args)[0] == 0
    assert called("audit", tmp_path / "run", "--skipped", tmp_path / "quarantine.csv")[0] == 0
    rows = pacsv.read_csv(tmp_path / "quarantine.csv").column("skipped_row").to_pylist()
    assert rows == skipped_rows(tmp_path / "run")


def test_a_run_that_skipped_nothing_has_a_quarantine_without_rows(tmp_path):
    source = write_source(tmp_path / "rows.csv")
    run = learned(source, tmp_path / "run", "--learner", "adagrad", "--outliers", "none")
    assert called("audit", run, "--skipped", tmp_path / "quarantine.csv")[0] == 0
    assert (tmp_path / "quarantine.csv").read_text().endswith("skipped_learned,a,b,who,y\n")


def test_what_cannot_be_read_again_is_one_sentence(tmp_path):
    source = write_source(tmp_path / "rows.csv")
    run = learned(source, tmp_path / "run", "--learner", "adagrad")
    quarantine = tmp_path / "quarantine.csv"
    assert refused(called("audit", run, "--skipped", tmp_path / "quarantine.txt"))
    moved = source.rename(tmp_path / "moved.csv")
    assert refused(called("audit", run, "--skipped", quarantine))
    assert called("audit", run, "--skipped", quarantine, "--source", moved)[0] == 0
    other = written({"a": np.arange(9.0), "b": np.arange(9.0), "y": np.arange(9.0)}, tmp_path / "other.csv")
    _, _, said = answer = called("audit", run, "--skipped", quarantine, "--source", other)
    assert refused(answer) and "not what the run has learned from" in said
    source = ("--source", moved, "--source", tmp_path / "nothing.csv")
    _, _, said = answer = called("audit", run, "--skipped", quarantine, *source)
    assert refused(answer) and "nothing.csv: no such file" in said
    status = called("learn", quarantine, "--target", "y", "--to", tmp_path / "again", "--quiet")[0]
    assert status == 0
    assert refused(called("audit", tmp_path / "again", "--skipped", tmp_path / "twice.csv"))


def test_several_sources_have_one_quarantine_also_if_one_has_grown(tmp_path):
    table = pacsv.read_csv(write_source(tmp_path / "rows.csv", 240))
    jan, feb = tmp_path / "jan.csv", tmp_path / "feb.parquet"
    pacsv.write_csv(table.slice(0, 100), jan)
    pq.write_table(table.slice(100, 60).append_column("more", pa.array(range(60))), feb)
    run = learned(jan, tmp_path / "run", "--learner", "adagrad")
    assert called("learn", feb, "--into", run, "--quiet")[0] == 0
    pacsv.write_csv(pa.concat_tables([table.slice(0, 100), table.slice(160, 80)]), jan)
    assert called("learn", jan, "--into", run, "--quiet")[0] == 0
    assert called("audit", run, "--skipped", tmp_path / "quarantine.csv")[0] == 0
    found = pacsv.read_csv(tmp_path / "quarantine.csv")
    rows = found.column("skipped_row").to_numpy()
    assert rows.tolist() == skipped_rows(run) and min((rows <= 100).sum(), (rows > 160).sum()) > 0
    assert ((rows > 100) & (rows <= 160)).any()
    assert found.column("y").to_pylist() == table.column("y").take(rows - 1).to_pylist()
    moved = jan.rename(tmp_path / "moved.csv")
    _, said, _ = called("audit", run, "--skipped", tmp_path / "q.csv")
    assert said.count("left out: ") == 2 and str(jan) in said  # before and after it has grown
    assert called("audit", run, "--skipped", tmp_path / "q.csv", "--source", moved)[0] == 0
    assert (tmp_path / "q.csv").read_text() == (tmp_path / "quarantine.csv").read_text()


def test_a_pipe_cannot_be_read_again(tmp_path, monkeypatch):
    with open(write_source(tmp_path / "rows.csv")) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        run = learned("-", tmp_path / "run", "--learner", "adagrad")
    _, _, said = answer = called("audit", run, "--skipped", tmp_path / "quarantine.csv")
    assert refused(answer) and "--source" in said


def test_columns_of_lists_are_left_out(tmp_path):
    table = pacsv.read_csv(write_source(tmp_path / "rows.csv"))
    lists = pa.array([[1, 2]] * table.num_rows)
    pq.write_table(table.append_column("list", lists), tmp_path / "rows.parquet")
    run = learned(tmp_path / "rows.parquet", tmp_path / "run", "--learner", "adagrad")
    assert called("audit", run, "--skipped", tmp_path / "quarantine.csv")[0] == 0
    assert pacsv.read_csv(tmp_path / "quarantine.csv").column_names[-4:] == ["a", "b", "who", "y"]
    assert called("release", run, tmp_path / "quarantine.csv")[0] == 0


def as_read(table, path, reading):
    """The rows as a text that is read in this way."""
    names, mark = table.column_names, ";" if "comma" in reading else ","
    lines = [mark.join(map(str, row.values())) for row in table.to_pylist()]
    lines = [line.replace(".", ",") for line in lines] if "comma" in reading else lines
    path.write_text("\n".join([*([] if "--no-header" in reading else [mark.join(names)]), *lines]) + "\n")
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    "reading",
    [
        (),
        ("--decimal", "comma"),
        ("--no-header",),
        ("--schema", "types.toml"),
        ("--no-header", "--decimal", "comma", "--schema", "types.toml"),
    ],
    ids=" ".join,
)
def test_a_quarantine_can_be_released_however_the_source_is_read(tmp_path, monkeypatch, kind, reading):
    monkeypatch.chdir(tmp_path)
    table = pacsv.read_csv(write_source(tmp_path / "rows.csv"))
    table = table.append_column("level", pa.array([f"{i % 3}.5" for i in range(table.num_rows)]))
    (tmp_path / "types.toml").write_text(
        'a = "number"\nb = "number"\nwho = "category"\ny = "number"\nlevel = "category"\n'
    )
    source = as_read(table, tmp_path / "rows.txt", reading)
    target = "4" if "--no-header" in reading and "--schema" not in reading else "y"
    learn = ("learn", source, "--target", target, "--learner", "adagrad", "--to", "run", "--format", "csv")
    assert called(*learn, *reading, "--quiet")[0] == 0
    assert called("audit", "run", "--skipped", f"q.{kind}")[0] == 0
    found = pacsv.read_csv("q.csv") if kind == "csv" else pq.read_table("q.parquet")
    rows = found.column("skipped_row").to_numpy()
    assert len(rows) and rows.tolist() == skipped_rows(tmp_path / "run")
    numbers = [float(value) for value in found.column(target).to_pylist()]
    assert numbers == table.column("y").take(rows - 1).to_pylist()
    levels = [str(value) for value in found.column(found.column_names[-1]).to_pylist()]
    mark = "," if "comma" in reading and "--schema" in reading else "."  # a category is a text
    assert levels == [text.replace(".", mark) for text in table.column("level").take(rows - 1).to_pylist()]
    status, said, _ = called("release", "run", f"q.{kind}")
    assert (status, said.split(",")[0]) == (0, f"{len(rows)} rows released and learned from")
