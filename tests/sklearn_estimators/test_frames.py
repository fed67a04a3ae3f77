"""Frames as people have them: text and dates are named in the error, with what to do."""

import numpy as np
import pandas as pd
import pytest

from holdfast.sklearn import RobustClassifier, RobustRegressor


def frame(rows=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})


@pytest.mark.parametrize("make", [RobustRegressor, RobustClassifier])
@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["red", "blue"] * 30, "'when' has 'red'"),
        (pd.date_range("2020-01-01", periods=60), "'when' has '2020-01-01"),
        (["1", None, "x"] * 20, "'when' has 'x'"),
    ],
)
def test_a_column_that_is_no_number_is_named_with_the_remedy(make, cells, said):
    X = frame().assign(when=cells)
    with pytest.raises(ValueError, match="columns that are no numbers") as error:
        make().fit(X, X["a"] > 0)
    assert said in str(error.value) and "make_column_transformer" in str(error.value)
    assert "'a'" not in str(error.value)


def test_the_same_with_polars():
    polars = pytest.importorskip("polars")
    X = polars.DataFrame({"a": np.arange(60.0), "color": ["red", "blue"] * 30})
    with pytest.raises(ValueError, match="'color' has 'red'"):
        RobustRegressor().fit(X, X["a"])


def test_another_error_about_a_frame_stays_as_it_is():
    model = RobustRegressor(random_state=0).fit(frame(), frame()["a"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame().rename(columns={"b": "c"}))


def test_numbers_as_text_are_numbers():
    X = frame()
    model = RobustRegressor(random_state=0).fit(X.astype(str), X["a"])
    assert model.coef_ == pytest.approx(RobustRegressor(random_state=0).fit(X, X["a"]).coef_)
