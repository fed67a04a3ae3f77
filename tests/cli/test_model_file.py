"""The model of a run as other programs read it."""

import json
import struct

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from cli.conftest import ROWS, output
from safetensors.numpy import load_file

from holdfast.cli.main import main
from holdfast.sklearn import RobustClassifier


def test_the_model_can_be_read_with_nothing_but_the_documented_format(source, table, learn, tmp_path, capsys):
    run, _, _ = learn(source, "--target", "y")
    data = (run / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["holdfast"])
    assert about["format"] == "holdfast model 4"
    p = {}
    for name, entry in header.items():
        start, stop = entry["data_offsets"]
        values = data[8 + length + start : 8 + length + stop]
        p[name] = np.frombuffer(values, "<f8").reshape(entry["shape"])[0]
        assert entry["dtype"] == "F64"
    X = np.column_stack([table[name] for name in about["features"]])
    Z = (X - p["center"]) * p["factors"]
    Z = np.where(np.abs(Z) > p["wild"], 0.0, Z)
    far = np.maximum(np.abs(Z) - p["knee"], 0.0)
    Z = np.clip(np.where(far > 0.0, np.sign(Z) * (p["knee"] + np.log1p(far)), Z), -p["clip"], p["clip"])
    assert p["wild"] < np.inf
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
    assert status == 0 and "loss: log loss" in printed
    for budget in ("auto", "10%"):
        answer = json.loads(output(capsys, "audit", run, "--replay", budget, "--json"))
        assert answer["skipped"] == answer["skipped_in_the_run"] > 0
    p = {name: array[0] for name, array in load_file(run / "model.safetensors").items()}
    X = np.column_stack([table[name] for name in "abc"])
    u = (X - p["center"]) * p["factors"]
    far = np.maximum(np.abs(u) - p["knee"], 0.0)
    z = np.clip(np.where(far > 0.0, np.sign(u) * (p["knee"] + np.log1p(far)), u), -p["clip"], p["clip"])
    z = np.where(np.abs(u) > p["wild"], 0.0, z)
    y = z @ p["weights"] + p["constant"]
    assert main(["predict", str(run), str(source), "--to", str(tmp_path / "found.csv"), "--quiet"]) == 0
    found = pacsv.read_csv(tmp_path / "found.csv").column("prediction").to_pylist()
    assert found == np.where(y > 0.0, "yes", "no").tolist() and (far > 0.0).any()
    estimator = RobustClassifier(patience=200, delay=1).partial_fit(X, names, classes=["no", "yes"])
    assert np.allclose(estimator.decision_function(X), y, rtol=1e-9)
