"""`Robust` predicts from the cells of a row that are right, and names the others."""

import math
import random

import pytest
from river import linear_model, preprocessing

from holdfast.river import Robust


@pytest.fixture(scope="module")
def model():
    model = Robust(preprocessing.StandardScaler() | linear_model.LinearRegression())
    draw = random.Random(0)
    for _ in range(2_000):
        x = {"a": draw.gauss(0.0, 1.0), "b": draw.gauss(5.0, 1.0)}
        model.learn_one(x, 3.0 * x["a"] + x["b"])
    return model


@pytest.mark.parametrize("cell", [5_000.0, math.inf, -1e300, None, math.nan])
def test_a_wild_cell_counts_as_missing_and_the_others_still_count(model, cell):
    assert model.predict_one({"a": 1.0, "b": cell}) == pytest.approx(8.0, abs=0.2)
    assert model.predict_one({"a": -1.0, "b": cell}) == pytest.approx(2.0, abs=0.2)
    named = {} if cell is None or cell != cell else {"b": cell}
    assert model.unusual_cells({"a": 1.0, "b": cell}) == named


def test_far_cells_that_would_be_learned_from_still_count(model):
    assert model.predict_one({"a": 1.0, "b": 9.0}) == pytest.approx(12.0, abs=0.3)
