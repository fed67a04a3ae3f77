"""Keys and labels keep all their digits, and are the same in files of all types."""

import decimal
import json

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from holdfast.cli.main import main

COUNT = 300
IDS = [1700000000000000000 + i % 50 for i in range(COUNT)]


def written(path, column, values, kind=None):
    """A file with this column, of the type that its name has."""
    x = [float(i % 7) for i in range(COUNT)]
    y = [2.5 * value + i % 11 for i, value in enumerate(x)]
    if path.suffix == ".jsonl":
        rows = ({"x": a, column: value, "y": b} for a, value, b in zip(x, values, y, strict=True))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path
    table = pa.table({"x": x, column: pa.array(values, kind), "y": y})
    if path.suffix == ".csv":
        pacsv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


@pytest.fixture
def learned(tmp_path, capsys):
    """Learn from a file; the folder of the run."""

    def learn(path, *args):
        to = tmp_path / f"{path.name}.run"
        assert main(["learn", str(path), "--to", str(to), "--quiet", *args]) == 0, capsys.readouterr().err
        return to

    return learn


def keys(run):
    return pq.read_table(run / "keys.parquet").column("key").to_pylist()


def labels(run):
    return json.loads((run / "config.json").read_text())["target"]["labels"]


def answers(run, path):
    to = run.with_suffix(".csv")
    assert main(["predict", str(run), str(path), "--to", str(to), "--quiet"]) == 0
    types = {"prediction": pa.string()}
    empty = pacsv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
    return pacsv.read_csv(to, convert_options=empty)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_each_id_of_64_bits_has_a_separate_model(learned, tmp_path, suffix):
    run = learned(written(tmp_path / f"ids{suffix}", "id", IDS), "--target", "y", "--key", "id")
    assert keys(run) == list(map(str, IDS[:50]))


def test_leading_zeros_and_trailing_points_make_different_keys_in_text(learned, tmp_path):
    texts = ["007", "7", "7.0", "+7", "True", "true"]
    found = learned(
        written(tmp_path / "a.csv", "id", [texts[i % 6] for i in range(COUNT)]),
        "--target",
        "y",
        "--key",
        "id",
    )
    assert keys(found) == texts


@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        ([2**64 - 1, 2**64 - 2], pa.uint64(), ["18446744073709551615", "18446744073709551614"]),
        ([-(2**63), -(2**63) + 1], pa.int64(), ["-9223372036854775808", "-9223372036854775807"]),
        ([7.0, 0.1, 1e17], pa.float64(), ["7", "0.1", "100000000000000000"]),
        ([True, False], pa.bool_(), ["true", "false"]),
        (["007", "7 ", "NA"], pa.string(), ["007", "7 ", "NA"]),
        (
            [decimal.Decimal("12345678901234567890123456789012.50"), decimal.Decimal("7.00")],
            pa.decimal128(38, 2),
            ["12345678901234567890123456789012.5", "7"],
        ),
    ],
)
def test_a_typed_column_has_its_exact_values_as_keys(learned, tmp_path, values, kind, texts):
    column = [values[i % len(values)] for i in range(COUNT)]
    run = learned(written(tmp_path / "a.parquet", "id", column, kind), "--target", "y", "--key", "id")
    assert keys(run) == texts


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("other", [".csv", ".jsonl", ".parquet"])
def test_a_key_is_found_again_in_a_file_of_another_type(learned, tmp_path, suffix, other):
    source = written(tmp_path / f"a{suffix}", "id", IDS)
    run = learned(source, "--target", "y", "--key", "id", "--no-prior")
    found = answers(run, written(tmp_path / f"b{other}", "id", IDS)).column("prediction")
    assert found.null_count == 0
    assert found == answers(run, tmp_path / f"a{suffix}").column("prediction")
    unknown = written(tmp_path / f"c{other}", "id", [value + 50 for value in IDS])
    assert answers(run, unknown).column("prediction").null_count == COUNT


def test_a_whole_number_is_the_same_key_in_typed_files_and_in_text(learned, tmp_path):
    run = learned(written(tmp_path / "a.csv", "id", ["7", "8"] * 150), "--target", "y", "--key", "id")
    for suffix, values, kind in (
        (".parquet", [7.0, 8.0], pa.float64()),
        (".parquet", [decimal.Decimal("7.0"), decimal.Decimal("8.0")], pa.decimal128(9, 1)),
        (".jsonl", [7.0, 8.0], None),
        (".jsonl", ["7", 8], None),
    ):
        path = written(tmp_path / f"b{suffix}", "id", values * 150, kind)
        assert answers(run, path).column("prediction").null_count == 0
    path = written(tmp_path / "b.csv", "id", ["7.0", "08"] * 150)
    assert answers(run, path).column("prediction").null_count == COUNT


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_labels_of_64_bits_are_predicted_with_all_their_digits(learned, tmp_path, suffix):
    ids = [1700000000000000000 + (i % 7 > 3) for i in range(COUNT)]
    path = written(tmp_path / f"a{suffix}", "id", ids)
    run = learned(path, "--target", "id", "--task", "classification", "--drop", "y")
    assert labels(run) == ["1700000000000000000", "1700000000000000001"]
    assert set(answers(run, path).column("prediction").to_pylist()) == set(labels(run))


@pytest.mark.parametrize("names", [["007", "7"], ["0.0", "1.0"], ["False", "True"], ["+1", "-1"]])
def test_labels_are_predicted_as_they_were_written(learned, tmp_path, names):
    path = written(tmp_path / "a.csv", "who", [names[i % 7 > 3] for i in range(COUNT)])
    run = learned(path, "--target", "who", "--drop", "y")
    assert sorted(labels(run)) == sorted(names)
    assert set(answers(run, path).column("prediction").to_pylist()) == set(names)


def test_labels_of_svmlight_are_numbers(learned, tmp_path):
    texts = ["1", "+1", "1.0", "-1"]
    lines = (f"{texts[i % 4]} 1:{i % 7} 2:{1 + i % 4 // 3}\n" for i in range(COUNT))
    (tmp_path / "a.svm").write_text("".join(lines))
    run = learned(tmp_path / "a.svm", "--target", "label")
    assert labels(run) == ["-1", "1"]
    lines = (f"{1700000000000000000 + i % 2} 1:{i % 2 + 1}\n" for i in range(COUNT))
    (tmp_path / "b.svm").write_text("".join(lines))
    run = learned(tmp_path / "b.svm", "--target", "label", "--task", "classification")
    assert labels(run) == ["1700000000000000000", "1700000000000000001"]
    assert json.loads((run / "metrics.json").read_text())["skipped_by_reason"].get("not readable", 0) == 0


def test_labels_on_the_command_line_are_those_of_the_file(tmp_path, capsys):
    path = written(tmp_path / "a.csv", "who", ["0.0", "1.0"] * 150)
    args = ["learn", str(path), "--target", "who", "--drop", "y", "--to", str(tmp_path / "run")]
    assert main([*args, "--labels", "0,1"]) == 2
    assert "have 0.0, 1.0, and none of the --labels 0, 1" in capsys.readouterr().err
    assert main([*args, "--labels", "0.0,1.0"]) == 0


def test_a_list_cannot_be_a_key(tmp_path, capsys):
    path = written(tmp_path / "a.parquet", "id", [[i % 3] for i in range(COUNT)])
    args = ["learn", str(path), "--target", "y", "--key", "id", "--to", str(tmp_path / "run")]
    assert main(args) == 2
    assert "column 'id': list<element: int64> cannot be a key" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_target_of_numbers_is_read_as_numbers(learned, tmp_path):
    found = []
    for suffix in (".csv", ".jsonl", ".parquet"):
        path = written(tmp_path / f"a{suffix}", "id", [i % 50 for i in range(COUNT)])
        found.append((learned(path, "--target", "y") / "model.safetensors").read_bytes())
    assert found[0] == found[1] == found[2]
