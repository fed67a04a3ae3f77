"""The audit is the same table in the estimators, in River and on the command line."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from runs.small import called

from holdfast.audit import table_of_steps
from holdfast.river import RobustRegressor as OnDicts
from holdfast.sklearn import RobustRegressor

MEASURED = ["reason", "check", "size", "threshold", "column", "value", "learned"]
NAMES = ["a", "b", "c"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).round(6)
    y = (X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=400)).round(6)
    X[200, 1], y[250], X[300, 2], X[310] = 1e6, 1e6, np.inf, np.nan
    return X, y


def of_estimator(X, y, tmp_path):
    import pandas as pd

    model = RobustRegressor(delay=1).partial_fit(pd.DataFrame(X, columns=NAMES), y)
    return model.audit_["row"], model.audit_


def of_river(X, y, tmp_path):
    model = OnDicts(delay=1)
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip(NAMES, row, strict=True)), target)
    return model.audit["round"], model.audit


def of_command_line(X, y, tmp_path):
    rows = np.column_stack([X, y]).tolist()
    lines = [",".join("" if cell != cell else repr(cell) for cell in row) for row in rows]
    (tmp_path / "rows.csv").write_text("\n".join([",".join([*NAMES, "target"]), *lines]) + "\n")
    args = ("--target", "target", "--delay", "1", "--quiet", "--to", tmp_path / "run")
    assert called("learn", tmp_path / "rows.csv", *args)[0] == 0
    audit = pq.read_table(tmp_path / "run" / "audit").to_pydict()
    return np.array(audit["row"]) - 1, audit


@pytest.mark.parametrize("audited", [of_estimator, of_river, of_command_line])
def test_the_same_rows_have_the_same_entries(table, tmp_path, audited):
    rows, audit = audited(*table, tmp_path)
    assert list(rows) == [200, 250, 300, 310]
    assert list(audit["reason"]) == ["features", "target", "not readable", "not readable"]
    assert list(audit["check"]) == ["features", "target", "", ""]
    assert list(audit["column"]) == ["b", "target", "c", "a"]
    assert np.array_equal(audit["value"], [1e6, 1e6, np.inf, np.nan], equal_nan=True)
    assert list(audit["learned"]) == ["nothing", "little", "nothing", "nothing"]


def test_sizes_and_thresholds_are_the_same_bits(table, tmp_path):
    found = [audited(*table, tmp_path)[1] for audited in (of_estimator, of_river, of_command_line)]
    for name in ("size", "threshold"):
        first, *others = (np.asarray(audit[name], float) for audit in found)
        assert all(np.array_equal(first, other, equal_nan=True) for other in others)


def test_all_tables_have_the_same_columns_in_the_same_order(table, tmp_path):
    steps = table_of_steps(["gradient"], [7], [0], [9.0], [1.0], [""])
    for audit in (of_estimator(*table, tmp_path)[1], of_river(*table, tmp_path)[1], steps):
        assert list(audit)[-len(MEASURED) :] == MEASURED
    of_run = of_command_line(*table, tmp_path)[1]
    assert [name for name in of_run if name != "detail"][-len(MEASURED) :] == MEASURED
