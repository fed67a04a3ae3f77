"""Exported models predict what `holdfast predict` does."""

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from runs.small import called

ROWS = 300


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 2)).round(3)
    y = (X @ [1.0, -2.0] + 3.0).round(3)
    kind = np.array(["low", "middle", "high"])[np.digitize(y, [2.0, 4.0])]
    frame = pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "color": np.array(["red", "blue"])[rng.integers(0, 2, ROWS)]}
    )
    frame.loc[::5, "b"] = np.nan  # so many that they are filled
    return frame.assign(
        who=[f"p{i % 7}" for i in range(ROWS)], y=y, kind=kind, sign=np.where(y > 3.0, "+", "-")
    )


@pytest.fixture
def predicted(table, tmp_path):
    """Learn, and return the folder and the predictions for all rows."""

    def run(*args):
        path, to, out = tmp_path / "rows.csv", tmp_path / "a.run", tmp_path / "out.csv"
        pacsv.write_csv(pa.Table.from_pandas(table, preserve_index=False), path)
        assert called("learn", path, "--to", to, "--quiet", "--learner", "adagrad", *args)[0] == 0
        assert called("predict", to, path, "--to", out, "--quiet")[0] == 0
        return to, pd.read_csv(out).prediction.to_numpy()

    return run


def exported(run, kind, tmp_path):
    path = tmp_path / f"model.{kind}"
    status, said, errors = called("export", run, "--to", kind, "--output", path)
    assert (status, said) == (0, f"The model: {path}\n"), errors
    return path


@pytest.mark.parametrize(
    "args",
    [
        ("--target", "y", "--features", "a,b,color"),
        ("--target", "kind", "--features", "a,b"),
        ("--target", "sign", "--features", "a,b,color"),
        ("--target", "y", "--features", "a,b", "--key", "who"),
    ],
)
def test_the_estimator_predicts_the_same(table, predicted, tmp_path, args):
    run, expected = predicted(*args)
    model = joblib.load(exported(run, "sklearn", tmp_path))
    for X in (table, pa.Table.from_pandas(table), table[list(model.feature_names_in_)].to_numpy()):
        assert np.array_equal(model.predict(X), expected)
    assert model.score(table, table[args[1]]) > 0.3


def test_the_estimator_has_no_prediction_for_unknown_keys_and_unreadable_cells(table, predicted, tmp_path):
    run, _ = predicted("--target", "y", "--features", "a,b", "--key", "who")
    model = joblib.load(exported(run, "sklearn", tmp_path))
    rows = pd.DataFrame({"a": ["1", "one", "1"], "b": [1.0, 1.0, 1.0], "who": ["p1", "p1", "nobody"]})
    assert np.isnan(model.predict(rows)).tolist() == [False, False, True]
    with pytest.raises(ValueError, match="X needs the columns a, b, who"):
        model.predict(np.zeros((2, 2)))


@pytest.mark.parametrize("target", ["y", "kind", "sign"])
def test_the_graph_of_onnx_predicts_the_same(table, predicted, tmp_path, target):
    reference = pytest.importorskip("onnx.reference", reason="onnx is not installed")
    run, expected = predicted("--target", target, "--features", "a,b")
    X = table[["a", "b"]].to_numpy()
    path = exported(run, "onnx", tmp_path)
    estimator = joblib.load(exported(run, "sklearn", tmp_path))
    evaluators = [reference.ReferenceEvaluator(str(path)).run]
    try:
        import onnxruntime

        evaluators.append(onnxruntime.InferenceSession(path).run)
    except ImportError:
        pass
    for evaluate in evaluators:
        found, _ = evaluate(None, {"X": X})
        if target == "y":
            assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
            infinite = np.array([[np.inf, 1.0], [0.0, -np.inf]])
            with np.errstate(all="ignore"):
                found, _ = evaluate(None, {"X": infinite})
            assert np.allclose(found, estimator.predict(infinite), rtol=1e-12)
        else:
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("target", ["sign", "kind"])
def test_the_graph_of_onnx_compresses_far_cells_of_labels(table, predicted, tmp_path, target):
    reference = pytest.importorskip("onnx.reference", reason="onnx is not installed")
    run, _ = predicted("--target", target, "--features", "a,b", "--learner", "auto")
    model = joblib.load(exported(run, "sklearn", tmp_path))
    assert np.isfinite(model.model.parameters.knee).all()
    X = 30.0 * table[["a", "b"]].to_numpy()[1:5]
    _, scores = reference.ReferenceEvaluator(str(exported(run, "onnx", tmp_path))).run(None, {"X": X})
    assert scores.shape == (4, 1 if target == "sign" else 3)
    assert np.allclose(np.squeeze(scores), model.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("args", "words"), [(("--key", "who"), "has no keys"), ((), "'color' is none: learn with --drop")]
)
def test_what_onnx_cannot_hold_is_a_sentence(predicted, tmp_path, args, words):
    pytest.importorskip("onnx", reason="onnx is not installed")
    run, _ = predicted("--target", "y", "--features", "a,b,color", *args)
    status, _, said = called("export", run, "--to", "onnx", "--output", tmp_path / "x.onnx")
    assert status == 2
    assert words in said
    assert not (tmp_path / "x.onnx").exists()
