"""Predictions in every format."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from cli.conftest import holdfast, output

from holdfast.cli.main import main


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
    x[400] *= 1e6  # a row to skip
    pacsv.write_csv(pa.table({"u": x[:, 0], "v": x[:, 1], "side": names}), tmp_path / "rows.csv")
    run, _, printed = learn(tmp_path / "rows.csv", "--target", "side")
    assert "labels north, south, west" in printed
    answers = output(capsys, "predict", run, tmp_path / "rows.csv", "--to", tmp_path / "out.csv")
    assert answers == ""
    found = pacsv.read_csv(tmp_path / "out.csv").column("prediction").to_pylist()
    assert np.mean(np.array(found) == names) > 0.7
    pairs = {"south, not north", "west, not north", "west, not south"}
    assert set(pq.read_table(run / "audit").column("label").to_pylist()) <= pairs


def test_a_row_that_cannot_be_read_gets_an_empty_answer(source, learn, tmp_path):
    run, _, _ = learn(source, "--target", "y")
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,3\n1,x,3\n1,2\n,2,3\n")
    main(["predict", str(run), str(tmp_path / "rows.csv"), "--to", str(tmp_path / "out.csv")])
    found = pacsv.read_csv(tmp_path / "out.csv")
    assert [value is None for value in found.column("prediction").to_pylist()] == [False, False, True, False]
