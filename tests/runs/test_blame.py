"""Each skipped row has the column that made it an outlier, and the value there."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from cli.conftest import bits
from runs.small import called

ROWS = 400


def planted(path):
    """Rows with a wild cell, a wild target, an infinite, a missing and an unreadable cell, a stuck row."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(ROWS, 3)).round(3)
    y = (X @ [1.0, -2.0, 0.5]).round(3)
    X[150, 1], X[200, 2], y[250] = 1e6, -1e5, 1e7
    X[350:380] = X[350]
    y[350:380] = np.linspace(-9.0, 9.0, 30).round(3)
    cells = {name: list(map(str, column)) for name, column in zip("abcy", (*X.T, y), strict=True)}
    cells["a"][300], cells["b"][310], cells["c"][320], cells["y"][330] = "inf", "", "x", ""
    pacsv.write_csv(pa.table(cells), path, pacsv.WriteOptions(quoting_style="none"))
    return path


def blamed(run):
    table = pq.read_table(run / "audit")
    names = [table.column(name).to_pylist() for name in ("row", "reason", "column", "value")]
    return {row - 1: entry for row, *entry in zip(*names, strict=True)}


def test_the_planted_cell_is_named_with_its_value(tmp_path):
    source = planted(tmp_path / "rows.csv")
    assert called("learn", source, "--target", "y", "--to", tmp_path / "run", "--quiet")[0] == 0
    found = blamed(tmp_path / "run")
    assert found[150] == ["features", "b", 1e6]
    assert found[200] == ["features", "c", -1e5]
    assert found[250] == ["target", "y", 1e7]
    assert found[300][:2] == ["not readable", "a"] and found[300][2] == np.inf
    assert found[310][:2] == ["not readable", "b"]
    assert found[320][:2] == ["not readable", "c"]
    assert found[330][:2] == ["not readable", "y"]
    stuck = [found[row] for row in range(370, 380) if row in found]
    assert stuck and all(entry[1] in ("", "y") for entry in stuck)  # no cell of a repeated row is far
    _, shown, _ = called("audit", tmp_path / "run")
    assert "b = 1,000,000" in shown and "y = 10,000,000" in shown


def test_a_row_with_a_filled_cell_is_skipped_for_the_cell_that_is_far(tmp_path):
    source = planted(tmp_path / "rows.csv")
    lines = source.read_text().splitlines()
    a, _, *rest = lines[151].split(",")  # the far cell of row 150 is b
    lines[151] = ",".join(["", "1000000.0", *rest]) if a else lines[151]
    source.write_text("\n".join(lines) + "\n")
    args = ("--target", "y", "--missing", "impute", "--quiet")
    assert called("learn", source, *args, "--to", tmp_path / "run")[0] == 0
    assert blamed(tmp_path / "run")[150] == ["features", "b", 1e6]


def test_columns_do_not_depend_on_batches_and_targets_are_named_for_keys_too(tmp_path, monkeypatch):
    source = planted(tmp_path / "rows.csv")
    args = ("--target", "y", "--learner", "adagrad", "--quiet")
    called("learn", source, *args, "--to", tmp_path / "whole")
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 7)
    called("learn", source, *args, "--to", tmp_path / "cut", "--checkpoint", "50")
    assert bits(tmp_path / "cut") == bits(tmp_path / "whole")
    lines = source.read_text().splitlines()
    keyed = "\n".join([f"{lines[0]},who", *(f"{line},{'pq'[i % 2]}" for i, line in enumerate(lines[1:]))])
    (tmp_path / "keyed.csv").write_text(keyed + "\n")
    called("learn", tmp_path / "keyed.csv", *args, "--key", "who", "--to", tmp_path / "keyed")
    found = blamed(tmp_path / "keyed")
    assert found[250] == ["target", "y", 1e7] and found[300][1] == "a" and found[310][1] == "b"
