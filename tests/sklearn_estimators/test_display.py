"""The picture of the audit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn_estimators.tables import linear_table, with_wild_rows

from holdfast.sklearn import AuditDisplay, RobustClassifier, RobustRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def test_the_display_shows_sizes_reasons_and_columns():
    X, y, _ = with_wild_rows(*linear_table(400), 15)
    X[200, 2], y[201] = np.inf, 1e9
    model = RobustRegressor(random_state=0).fit(X, y)
    display = AuditDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "features: size"
    assert display.ax_.figure is display.figure_
    reasons, columns = ([text.get_text() for text in axes.get_yticklabels()] for axes in display.axes_[1:])
    assert set(reasons) == {"features", "target", "not readable"}
    assert {"x2", "target"} <= set(columns)


def test_the_display_takes_axes_and_a_measure():
    X, y = linear_table(300)
    y[50:60] = 1e6
    _, axes = matplotlib.pyplot.subplots(1, 2)
    display = AuditDisplay.from_estimator(RobustRegressor().fit(X, y), ax=axes[1])
    assert display.figure_ is axes[0].figure
    assert display.ax_.get_ylabel() == "target: size"
    assert display.plot(measure="features").ax_.get_ylabel() == "features: size"
    with pytest.raises(ValueError, match="measure must be one of"):
        display.plot(measure="rows")


def test_the_display_of_a_stream_and_of_few_rows():
    X, y = linear_table(3000)
    model = RobustClassifier().partial_fit(X, y > 0.0, classes=[False, True])
    AuditDisplay.from_estimator(model)
    assert len(model._sample.rows) <= 1000
    AuditDisplay.from_estimator(RobustRegressor(0, audit_size=0).fit(X[:2], y[:2]))


def test_the_display_of_a_pipeline_names_the_columns_of_its_steps():
    X, y = linear_table(400)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]).assign(kind="a")
    frame.loc[::40, "c1"] = 1e9
    steps = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    for pandas in (False, True):
        pipeline = make_pipeline(steps, RobustRegressor(random_state=0))
        if pandas:
            steps.set_params(onehotencoder__sparse_output=False).set_output(transform="pandas")
        display = AuditDisplay.from_estimator(pipeline.fit(frame, y))
        assert "remainder__c1" in [text.get_text() for text in display.axes_[2].get_yticklabels()]
    search = GridSearchCV(pipeline, {"robustregressor__outliers": ["auto"]}, cv=2).fit(frame, y)
    assert AuditDisplay.from_estimator(search).ax_.get_ylabel() == "features: size"


def test_the_display_says_what_it_needs():
    with pytest.raises(TypeError, match="pipeline that ends with one: got OneHotEncoder"):
        AuditDisplay.from_estimator(OneHotEncoder())
