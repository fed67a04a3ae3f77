"""Missing cells count as the mean of their column; a wild cell is named in the audit."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer
from sklearn_estimators.tables import linear_table

import holdfast as hf
from holdfast.sklearn import RobustClassifier, RobustRegressor


def with_missing_cells(X, share, seed=0):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_missing_cells_cost_little(share):
    X, y = load_breast_cancer(return_X_y=True)
    holes = with_missing_cells(X, share)
    clean, filled = (
        np.mean(RobustClassifier(random_state=0).fit(rows, y).predict(rows) != y) for rows in (X, holes)
    )
    with pytest.warns(hf.HoldfastWarning, match="rows were skipped"):
        skipping = RobustClassifier(random_state=0, missing="skip").fit(holes, y)
    assert filled < clean + 0.02
    assert np.mean(skipping.predict(holes) != y) < clean + 0.1
    assert skipping.audit_counts_["not readable"] == np.isnan(holes).any(axis=1).sum()


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("rows", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_missing_cell_is_predicted_with_the_center_of_its_column(scale, rows):
    X, y = linear_table(400)
    if scale and rows is np.asarray:
        X = X + 50.0
    holes = with_missing_cells(X, 0.1)
    model = RobustRegressor(scale=scale, random_state=0).fit(rows(holes), y)
    row, hole = X[:1].copy(), X[:1].copy()
    row[0, 1], hole[0, 1] = model._models.center[0, 1], np.nan
    np.testing.assert_allclose(model.predict(rows(hole)), model.predict(rows(row)))
    assert model.audit_counts_["not readable"] < 10


@pytest.mark.parametrize("share, unreadable", [(0.5, [101, 102]), (0.3, [100, 101, 102])])
def test_rows_with_too_many_missing_cells_are_not_readable(share, unreadable):
    X, y = linear_table(300)
    X[100, :2], X[101, :3], X[102] = np.nan, np.nan, np.nan
    audit = RobustRegressor(missing_share=share, random_state=0).fit(X, y).audit_
    assert sorted(audit["row"][audit["reason"] == "not readable"]) == unreadable


def test_a_column_without_values_is_left_out_with_a_warning():
    X, y = linear_table(300)
    alone = RobustRegressor(random_state=0).fit(X[:, [0, 1, 3, 4]], y)
    X[:, 2] = np.nan
    with pytest.warns(hf.HoldfastWarning, match="all cells are missing: x2") as caught:
        model = RobustRegressor(random_state=0).fit(X, y)
    assert caught[0].filename == __file__
    assert model.coef_[2] == 0.0
    np.testing.assert_allclose(np.delete(model.coef_, 2), alone.coef_, rtol=1e-9)
    X[:, 2] = 1e9
    np.testing.assert_allclose(model.predict(X), alone.predict(X[:, [0, 1, 3, 4]]), rtol=1e-9)
    assert model.partial_fit(X[:5], y[:5]).kept_mask_.all()


def test_partial_fit_with_missing_cells_in_parts_is_one_partial_fit():
    X, y = linear_table(300)
    holes = with_missing_cells(X, 0.2)
    whole, parts = RobustRegressor(delay=1).partial_fit(holes, y), RobustRegressor(delay=1)
    for i in range(0, 300, 7):
        parts.partial_fit(holes[i : i + 7], y[i : i + 7])
    assert whole.coef_.tobytes() == parts.coef_.tobytes()


def test_the_audit_names_the_column_and_the_value():
    pd = pytest.importorskip("pandas")
    X, y = linear_table(500)
    X[100, 3], X[101, 1], y[102], y[103] = 1e6, -np.inf, 1e6, np.nan
    X[104, :4] = np.nan
    model = RobustRegressor(0.1, n_epochs=1, shuffle=False)
    audit = pd.DataFrame(model.fit(pd.DataFrame(X, columns=list("abcde")), y).audit_).set_index("row")
    assert audit.loc[[100, 101, 102, 103, 104], "column"].tolist() == ["d", "b", "target", "target", "a"]
    assert audit.loc[[100, 101, 102], "value"].tolist() == [1e6, -np.inf, 1e6]
    sparse = RobustRegressor(n_epochs=1, shuffle=False).fit(csr_array(X), y)
    audit = dict(zip(sparse.audit_["row"].tolist(), sparse.audit_["column"].tolist(), strict=True))
    assert (audit[101], audit[102]) == ("x1", "target")


def test_a_warning_if_many_rows_are_skipped():
    X, y = linear_table(500)
    X[::4] = np.nan
    with pytest.warns(hf.HoldfastWarning, match="rows were skipped, more than 20%") as caught:
        RobustRegressor(random_state=0).fit(X, y)
    assert caught[0].filename == __file__


def test_one_warning_if_a_long_run_of_rows_is_skipped():
    X, y = linear_table(2000)
    model = RobustRegressor().partial_fit(X[:1500], y[:1500])
    with pytest.warns(hf.HoldfastWarning, match="100 rows one after the other") as caught:
        for i in range(1500, 1750):
            model.partial_fit(1e9 * X[i : i + 1], y[i : i + 1])
    assert [warning.filename for warning in caught] == [__file__]


def test_column_and_value_are_those_of_the_step_and_not_of_the_units_after_the_call():
    X, y = linear_table(4000)
    X[:, 1] *= 1e-3
    X[400, 0], X[400, 1] = 60.0, 1.0  # 1.0 is a thousand units away now, and usual from row 1,000 on
    X[1000:, 1] *= 1e4
    with pytest.warns(hf.HoldfastWarning, match="skipped"):  # after the change
        model = RobustRegressor(delay=1).partial_fit(X, y)
    place = np.flatnonzero(model.audit_["row"] == 400)[0]
    assert (model.audit_["column"][place], model.audit_["value"][place]) == ("x1", 1.0)
    assert model.audit_["size"][place] == pytest.approx(1e3, rel=0.9)


def test_no_column_is_blamed_that_was_not_measured():
    X, y = linear_table(600)
    X[300:330], X[400], y[300:330] = X[300], 0.0, np.linspace(-90.0, 90.0, 30)
    y[500] = 1e200
    model = RobustRegressor(delay=1).partial_fit(X, y)
    for row, by, column in zip(*(model.audit_[name] for name in ("row", "reason", "column")), strict=True):
        assert (by, column) == ("target", "target"), row
    assert 500 in model.audit_["row"] and model.audit_["learned"][0] == "little"
    assert (model.audit_["size"] > model.audit_["threshold"]).all()


def test_the_warm_up_of_a_filter_is_not_an_outlier():
    X, y = linear_table(300)
    model = RobustRegressor(5, learner="adagrad", shuffle=False).partial_fit(X, y)
    assert model.audit_counts_["warm-up"] >= 5 and "warm-up" not in model.audit_["reason"]
    assert model.skipped_ == sum(model.audit_counts_.values()) - model.audit_counts_["warm-up"]
    assert model.kept_ + model.skipped_ + model.audit_counts_["warm-up"] == 300
