"""Every format gives the same model. A wrong row is skipped; a wrong file is refused in a sentence."""

import errno
import gzip
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import ROWS, holdfast, model_bytes
from files import written
from safetensors.numpy import load_file

KINDS = ("csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow", "arrows")


def rich(table):
    """A table with a truth value, categories, times, missing cells, and labels as target."""
    rng = np.random.default_rng(3)
    colors = np.array(["red", "green", "blue"])[rng.integers(0, 3, ROWS)]
    times = np.datetime64("2026-01-01T00:00:00", "s") + rng.integers(0, 10**7, ROWS).astype("timedelta64[s]")
    missing = rng.random(ROWS) < 0.03
    return {
        "a": pa.array(table["a"], mask=missing),
        "shiny": pa.array(rng.random(ROWS) < 0.5),
        "color": pa.array(colors),
        "when": pa.array([str(time) for time in times]),
        "bought": pa.array(np.where(table["b"] > 0, "yes", "no")),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_model(table, source, learn, tmp_path, kind):
    expected, status, _ = learn(source, "--target", "y", to="first")
    assert status == 0
    found, status, _ = learn(written(table, tmp_path / f"other.{kind}"), "--target", "y", to="second")
    assert status == 0
    assert model_bytes(found) == model_bytes(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_model_of_columns_of_all_kinds(table, learn, tmp_path, kind):
    rows = rich(table)
    expected, status, said = learn(written(rows, tmp_path / "rows.csv"), "--target", "bought", to="first")
    assert status == 0
    assert "labels no, yes" in said
    assert "color: 3 values: a feature each" in said
    assert "when: a date or time, used as hour of the day and day of the week" in said
    found, status, _ = learn(written(rows, tmp_path / f"other.{kind}"), "--target", "bought", to="second")
    assert status == 0
    assert load_file(found / "model.safetensors")["weights"].tolist() == (
        load_file(expected / "model.safetensors")["weights"].tolist()
    )


def test_svmlight_gives_the_same_weights(table, source, learn, tmp_path):
    lines = [
        f"{y} " + " ".join(f"{i + 1}:{value}" for i, value in enumerate(row) if value) + " # a remark"
        for *row, y in zip(*table.values(), strict=True)
    ]
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines) + "\n")
    expected, _, _ = learn(source, "--target", "y", to="first")
    found, status, _ = learn(path, "--target", "label", to="second")
    assert status == 0
    assert load_file(found / "model.safetensors")["weights"].tolist() == (
        load_file(expected / "model.safetensors")["weights"].tolist()
    )


def test_wide_svmlight_rows_stay_sparse(learn, tmp_path):
    rng, dim = np.random.default_rng(2), 50_000
    truth, lines = rng.normal(size=dim), []
    for _ in range(ROWS):
        places = np.unique(rng.integers(0, 40, 8) * 1_000 + 7)
        values = rng.normal(size=len(places))
        wild = 1e6 if rng.random() < 0.02 else 1.0
        cells = " ".join(f"{i}:{wild * value:.6f}" for i, value in zip(places, values, strict=True))
        lines.append(f"{'+1' if values @ truth[places] > 0 else '-1'} {cells}")
    lines[100] = "+1 7:2 seven:3"
    lines[200] = "+1 49000:1 7:nan"
    (tmp_path / "rows.svm").write_text(f"1 {dim - 1}:0.0\n" + "\n".join(lines) + "\n")
    run, status, heard = learn(tmp_path / "rows.svm", "--target", "label")
    assert status == 0
    assert "50,000 columns: rows are sparse" in heard
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["rounds"] == ROWS + 1
    assert metrics["skipped_by_reason"]["not readable"] == 2
    assert metrics["error"] < 0.3
    p = load_file(run / "model.safetensors")
    assert p["weights"].shape == (1, dim)
    done = holdfast("predict", run, tmp_path / "rows.svm")
    answers = [line.split(",")[1].strip('"') for line in done.stdout.splitlines()[1:]]
    for number in (5, 50, 500):
        cells = lines[number - 2].split()[1:]
        places, values = np.array([cell.split(":") for cell in cells], float).T
        at = places.astype(int)
        z = (p["weights"][0, at] * np.clip(values * p["factors"][0, at], -p["clip"][0], p["clip"][0])).sum()
        assert answers[number - 1] == ("1" if z + p["constant"][0] > 0 else "-1")
    half, _, _ = learn(tmp_path / "rows.svm", "--target", "label", "--checkpoint", "50", to="again")
    assert model_bytes(half) == model_bytes(run)
    assert holdfast("inspect", run).returncode == holdfast("report", run).returncode == 0


def test_a_pipe_gives_the_same_model(source, learn, tmp_path):
    expected, _, _ = learn(source, "--target", "y", to="first")
    with source.open("rb") as file:
        done = holdfast("learn", "-", "--target", "y", "--to", tmp_path / "second", stdin=file)
    assert done.returncode == 0, done.stderr
    assert "\r" not in done.stderr
    assert model_bytes(tmp_path / "second") == model_bytes(expected)


def test_blocks_cut_anywhere_give_the_same_model(source, learn, monkeypatch):
    expected, _, _ = learn(source, "--target", "y", to="first")
    monkeypatch.setattr("holdfast.io.byte_stream.BLOCK", 1000)
    monkeypatch.setattr("holdfast.io.sources._ENTRIES", 50)
    found, _, _ = learn(source, "--target", "y", to="second")
    assert model_bytes(found) == model_bytes(expected)


def test_line_ends_inside_quotes_belong_to_their_cell(table, learn, tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    colors = np.array(["deep red", "pale, green", 'so-called "blue"'])[rng.integers(0, 3, ROWS)]
    broken = table | {"color": [text.replace(" ", "\n", int(rng.integers(0, 2))) for text in colors]}
    pacsv.write_csv(pa.table(broken), tmp_path / "broken.csv", pacsv.WriteOptions(quoting_style="needed"))
    expected, _, _ = learn(written(broken, tmp_path / "broken.parquet"), "--target", "y", to="first")
    found, status, _ = learn(tmp_path / "broken.csv", "--target", "y", to="second")
    assert status == 0
    assert model_bytes(found) == model_bytes(expected)
    assert "not readable" not in json.loads((found / "metrics.json").read_text())["skipped_by_reason"]
    # The number of a row is that of its first line, and it does not matter where blocks are cut.
    lines = (tmp_path / "broken.csv").read_bytes().split(b"\n")[1:]
    sizes = pq.read_table(found / "sizes").column("row").to_pylist()
    assert len(sizes) == ROWS
    assert all(b"," in lines[row - 1] for row in sizes)
    monkeypatch.setattr("holdfast.io.byte_stream.BLOCK", 700)
    monkeypatch.setattr("holdfast.io.delimited._FEW", 4)
    other, _, _ = learn(tmp_path / "broken.csv", "--target", "y", to="third")
    assert model_bytes(other) == model_bytes(expected)
    assert pq.read_table(other / "sizes").column("row").to_pylist() == sizes


def test_a_quote_that_is_never_closed_loses_one_row_and_not_the_rest(learn, tmp_path):
    lines = [f"{i % 7},word{i % 3},{i % 11}.5" for i in range(3000)]
    lines[500] = '3,"word1,2.5'
    (tmp_path / "rows.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    run, status, _ = learn(tmp_path / "rows.csv", "--target", "y")
    assert status == 0
    rows = pq.read_table(run / "audit").to_pylist()
    assert [row["row"] for row in rows if row["reason"] == "not readable"] == [501]


GOOD = b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (i % 7, i % 5, i % 11 * 10 + i % 3) for i in range(100))


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b"1,2", "2 cells, where the header has 3"),
        (b"1,2,3,4", "4 cells, where the header has 3"),
        (b'1,"2,3', "a quote that does not end"),
        (b"1,two,3", "column 'b': 'two' is not a number"),
        (b"1,2,three", "column 'y': 'three' is not a number"),
        (b"1,\xff\xfe,3", "is not a number"),
        (b"1_000,2,3", "column 'a': '1_000' is not a number"),
        (b"\x00,2,3", "is not a number"),
    ],
)
def test_a_malformed_row_is_skipped_and_the_audit_has_its_number(learn, tmp_path, line, detail):
    path = tmp_path / "rows.csv"
    lines = GOOD.splitlines()
    path.write_bytes(b"\n".join([*lines[:51], line, b"", *lines[51:]]) + b"\n")
    run, status, _ = learn(path, "--target", "y")
    assert status == 0
    rows = pq.read_table(run / "audit").to_pylist()
    (found,) = [row for row in rows if row["reason"] == "not readable"]
    assert found["row"] == 51
    assert detail in found["detail"]
    assert json.loads((run / "metrics.json").read_text())["rounds"] == 101
    (tmp_path / "good.csv").write_bytes(GOOD)
    clean, _, _ = learn(tmp_path / "good.csv", "--target", "y", to="clean")
    assert model_bytes(clean) == model_bytes(run)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"a,b,y\n", "no rows"),
        (b"a,b,y\n\n\n", "no rows"),
        (b"a,a,y\n1,2,3\n", "column 'a' is there more than once (columns 1 and 2)"),
        (b"a,b,z\n1,2,3\n", "has no column 'y'; it has a, b, z"),
        (b"a,b,\xff\xfey\n1,2,3\n", "the header is not UTF-8; save the table as UTF-8, or convert it"),
        (
            b"a,y\n" + b"\xfcber,3\n" * 9 + b"about,4\n",
            "90 % of the first 10 rows are not UTF-8; save the table",
        ),
        (b"1.5,2,3\n1,2,3\n", "If its first line is a row, use --no-header: columns are then called 1, 2"),
        (b"Sales of 2020\na,b,y\n1,2,3\n", "Its first line must be that of the names: remove lines above"),
        ("a,b,y\n1,2,3\n".encode("utf-16"), "is UTF-16"),
        ("a,b,y\n1,2,3\n".encode("utf-32"), "is UTF-32"),
        (b"\na,b,y\n1,2,3\n", "its first line is empty: expected the names of the columns"),
        (b"\xef\xbb\xbf\r\na,b,y\n1,2,3\n", "its first line is empty: expected the names of the columns"),
        (b'a,"b,y\n1,2,3\n', "a quote that does not end"),
        (b"y\n1\n2\n3\n", "no column is left to predict from"),
        (b"a,y\n1,\n2,\n", "column 'y': no row has a target"),
        (b"a,y\n" + b"1,x\n" * 9, "only the label 'x'"),
        (b"PAR1 and not much else", "no Parquet file"),
        (b"ARROW1 and not much else", "no Arrow file"),
        (b"\x1f\x8b and not much else", "its compression is damaged"),
    ],
)
def test_a_wrong_source_is_refused_in_a_sentence(learn, tmp_path, data, words):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    run, status, said = learn(path, "--target", "y")
    assert status == 2
    assert words in said
    assert str(path) in said
    assert not run.exists()


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": 1}\n', "has no column 'y'; it has a\n"),
        (b"{}\n", "has no column 'y', nor any other\n"),
        (b'[{"a": 1, "y": 2}]\n', "is one JSON array: expected an object in each line"),
        (b'\xef\xbb\xbf[\n{"a": 1, "y": 2}\n]\n', "is one JSON array: expected an object in each line"),
    ],
)
def test_wrong_json_is_refused_in_a_sentence(learn, tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    _, status, said = learn(tmp_path / name, "--target", "y", to="run")
    assert status == 2
    assert words in said


def test_a_source_that_cannot_be_read_at_all_is_a_sentence(learn, tmp_path, monkeypatch):
    """As on a disk with bad blocks."""

    def broken(raw):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (tmp_path / "rows.csv").write_bytes(GOOD)
    monkeypatch.setattr("holdfast.io.byte_stream.unpacked", broken)
    _, status, said = learn(tmp_path / "rows.csv", "--target", "y")
    assert (status, said) == (2, f"holdfast: {tmp_path / 'rows.csv'}: Input/output error\n")


def test_the_target_cannot_be_the_key(learn, tmp_path):
    (tmp_path / "rows.csv").write_bytes(GOOD)
    run, status, said = learn(tmp_path / "rows.csv", "--target", "y", "--key", "y")
    assert status == 2 and not run.exists()
    assert "--key and --target name the same column 'y'" in said


def test_a_byte_order_mark_loses_no_row(learn, tmp_path):
    lines = "".join(f"{i % 2} 1:{i % 7} 2:{i % 3}\n" for i in range(30))
    objects = "".join(f'{{"a": {i % 7}, "label": {i % 2}}}\n' for i in range(30))
    for name, text in (("rows.svm", lines), ("rows.jsonl", objects), ("rows", lines), ("others", objects)):
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        run, status, said = learn(tmp_path / name, "--target", "label", to=f"{name}.run")
        assert status == 0, said
        assert "not readable" not in json.loads((run / "metrics.json").read_text())["skipped_by_reason"]


def test_a_missing_file_and_a_folder_are_refused_in_a_sentence(learn, tmp_path):
    assert learn(tmp_path / "nowhere.csv", "--target", "y")[1:] == (
        2,
        f"holdfast: {tmp_path / 'nowhere.csv'}: No such file or directory\n",
    )
    assert "is a folder" in learn(tmp_path, "--target", "y")[2]


def test_a_damaged_end_keeps_what_was_learned(learn, tmp_path, source, monkeypatch):
    path = tmp_path / "cut.csv.gz"
    whole = gzip.compress(source.read_bytes())
    path.write_bytes(whole[: len(whole) // 2])
    run, status, said = learn(path, "--target", "y")
    assert status == 2
    assert "its compression is damaged" in said
    assert not run.exists()
    monkeypatch.setattr("holdfast.io.byte_stream.BLOCK", 1000)
    monkeypatch.setattr("holdfast.io.head.ROWS", 50)
    run, status, said = learn(path, "--target", "y")
    assert status == 2
    assert "its compression is damaged" in said
    assert 50 < json.loads((run / "metrics.json").read_text())["rounds"] < ROWS
    path.write_bytes(whole)
    again, status, said = learn(path, "--target", "y", "--resume")
    assert status == 0, said
    assert json.loads((again / "metrics.json").read_text())["rounds"] == ROWS


def test_missing_cells_are_skipped_or_filled_in(learn, tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{i % 7 if i % 10 else ''},{i % 5},{i % 11 * 10 + i % 3}" for i in range(300)]
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    run, _, said = learn(path, "--target", "y", to="skip")
    assert "rows with a missing cell: 10 %" in said
    assert json.loads((run / "metrics.json").read_text())["skipped_by_reason"]["not readable"] == 30
    run, _, _ = learn(path, "--target", "y", "--missing", "impute", to="fill")
    assert "not readable" not in json.loads((run / "metrics.json").read_text())["skipped_by_reason"]
    assert load_file(run / "model.safetensors")["weights"].shape == (1, 4)
