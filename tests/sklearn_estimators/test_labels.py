"""Labels that are missing or look like one, and the index of a frame."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn_estimators.tables import linear_table

from holdfast.advice import of_alike
from holdfast.audit import HoldfastWarning
from holdfast.sklearn import RobustClassifier, RobustRegressor
from holdfast.sklearn.rows import index_of, missing_labels

GAPS = [50, 51, 130]


def labelled(kind):
    """A table with three rows without a label, and its labels as pandas has them."""
    X, numbers = linear_table(400)
    y = pd.Series(pd.cut(numbers, [-np.inf, -1.0, 1.0, np.inf], labels=["low", "mid", "high"]))
    if kind == "two":
        y = pd.Series(np.where(numbers > 0.0, "yes", "no"))
    elif kind == "whole":
        y = pd.Series((numbers > 0.0).astype(int)).astype("Int64")
    elif kind == "float":
        y = pd.Series((numbers > 0.0).astype(float))
    elif kind == "many":
        y = pd.Series((np.arange(400) % 25).astype(str))
    y = y.astype(object) if kind in ("two", "three", "many") else y
    y.iloc[GAPS] = None
    return X, y


@pytest.mark.parametrize("kind", ["two", "three", "many", "whole", "float"])
def test_rows_without_a_label_are_skipped_and_change_nothing_else(kind):
    X, y = labelled(kind)
    rest = np.setdiff1d(np.arange(400), GAPS)
    options = {"shuffle": False, "n_epochs": 1}
    model = RobustClassifier(**options).fit(X, y)
    other = RobustClassifier(**options).fit(X[rest], np.array(y.iloc[rest].tolist()))
    assert not model.kept_mask_[GAPS].any()
    assert model.audit_counts_["not readable"] == 3
    assert model.kept_mask_[rest].tolist() == other.kept_mask_.tolist()
    assert list(model.classes_) == list(other.classes_)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    audit = pd.DataFrame(model.audit_).set_index("row")
    assert audit.loc[GAPS, "column"].tolist() == ["target"] * 3
    assert audit.loc[GAPS, "label"].isna().all()


def test_rows_without_a_label_are_skipped_in_a_stream_with_weights():
    X, y = labelled("two")
    model = RobustClassifier(class_weight={"yes": 2.0, "no": 1.0})
    for part in np.split(np.arange(400), 20):
        model.partial_fit(X[part], y.iloc[part], classes=["no", "yes"])
    assert model.audit_counts_["not readable"] == 3
    assert model.kept_ + model.skipped_ == 400


def test_missing_labels_are_an_error_if_missing_cells_are_one():
    X, y = labelled("two")
    with pytest.raises(ValueError, match="missing labels"):
        RobustClassifier(missing="raise").fit(X, y)
    with pytest.raises(ValueError, match="missing labels"):
        RobustClassifier().fit(X, [None] * 400)


def test_what_is_missing_in_lists_and_frames():
    labels = ["a", None, float("nan"), pd.NA, pd.NaT, "nan", ""]
    assert missing_labels(np.array(labels, object)).tolist() == [False, True, True, True, True, False, False]
    assert not missing_labels(np.array([1, 2])).any()


@pytest.mark.parametrize("kind", [bool, np.int64, np.uint8])
def test_whole_numbers_in_an_array_are_as_those_in_a_list(kind):
    X, numbers = linear_table(200)
    y = (numbers > 0.0).astype(kind)
    models = [RobustClassifier(random_state=0).fit(X, labels) for labels in (y, y.tolist())]
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert models[0].classes_.tolist() == models[1].classes_.tolist()


def test_whole_numbers_that_are_nearly_all_different_are_no_labels():
    X, _ = linear_table(60)
    with pytest.warns(UserWarning, match="could represent a regression problem"):
        RobustClassifier(n_epochs=1).fit(X, np.arange(60))


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_warning_names_labels_that_differ_in_case_or_blanks(call):
    X, y = linear_table(300)
    y = np.where(y > 0.0, "Yes", "no").astype(object)
    y[:10] = "yes "
    options = {"classes": ["Yes", "no", "yes "]} if call == "partial_fit" else {}
    with pytest.warns(HoldfastWarning, match=r"'Yes' and 'yes '") as found:
        getattr(RobustClassifier(), call)(X, y, **options)
    assert found[0].filename == __file__


def test_other_labels_give_no_warning():
    X, y = linear_table(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoldfastWarning)
        RobustClassifier().fit(X, np.where(y > 0.0, "yes", "no"))
    assert of_alike(["a b", "AB", 1, 1.0, "ab "]).endswith("classes: 'a b' and 'AB' and 'ab '")


@pytest.mark.parametrize("model", [RobustRegressor(), RobustClassifier()], ids=["numbers", "labels"])
def test_the_audit_has_the_index_and_the_names_of_a_frame(model):
    X, y = linear_table(300)
    y = y if isinstance(model, RobustRegressor) else y > 0.0
    index = pd.Index([f"meter {i}" for i in range(300)])
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])], index=index)
    frame.iloc[200, 1] = 1e9
    audit = pd.DataFrame(model.fit(frame, y).audit_)
    found = audit[audit["index"] == "meter 200"].iloc[0]
    assert (found["row"], found["column"], found["value"]) == (200, "c1", 1e9)
    frame = frame.reset_index(drop=True)
    assert frame.join(audit.set_index("row")).shape[0] == 300
    model.partial_fit(frame.iloc[200:201], y[200:201])
    assert model.audit_["index"][-1] == 200


def test_an_array_and_a_list_have_no_index():
    assert index_of(np.ones((2, 2))) is None and index_of([[1.0]]) is None
    assert index_of(pd.DataFrame({"a": [1]}, index=["x"])).tolist() == ["x"]


def test_polars_frames_are_read_as_others_are():
    polars = pytest.importorskip("polars")
    X, y = linear_table(300)
    cells = [[None if i == 7 and j == 1 else float(x) for j, x in enumerate(row)] for i, row in enumerate(X)]
    frame = polars.DataFrame(cells, schema=[f"c{i}" for i in range(X.shape[1])], orient="row")
    X[7, 1] = np.nan
    numbers, labels = polars.Series(y), polars.Series(np.where(y > 0.0, "yes", "no").tolist())
    model, other = RobustRegressor(random_state=0), RobustRegressor(random_state=0)
    assert model.fit(frame, numbers).coef_.tolist() == other.fit(X, y).coef_.tolist()
    assert model.feature_names_in_.tolist() == frame.columns
    labels[9] = None
    model = RobustClassifier(random_state=0).fit(frame, labels)
    assert model.audit_counts_["not readable"] == 1
    assert set(model.predict(frame)) == {"yes", "no"}
