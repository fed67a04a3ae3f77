"""Rows with values of any kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import base
from river_models.streams import MODELS, numbers
from samples import thinned

from holdfast.river import Robust

VALUES = st.one_of(
    st.floats(),
    st.integers(),
    st.none(),
    st.booleans(),
    st.sampled_from([1e300, -1e300, 1e-300, 10**400]),
)
OF_NUMPY = st.sampled_from([np.float32(3.0), np.int8(3), np.float64("nan")])
ROWS = st.dictionaries(st.sampled_from("abcd"), st.one_of(VALUES, OF_NUMPY), max_size=4)
ANY = settings(max_examples=25)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", thinned((name for name in MODELS if name not in ("ARFClassifier", "KNNClassifier")), 3)
)
@given(stream=st.lists(st.tuples(ROWS, VALUES), max_size=12))
@ANY
def test_data_never_raises(name, stream):
    model = Robust(MODELS[name].clone())
    regression = isinstance(model, base.Regressor)
    for x, y in numbers(15):
        model.learn_one(x, y if regression else y > 50.0)
    for x, y in stream:
        model.predict_one(x)
        model.learn_one(x, y if regression else (None if y is None or y != y else y > 0.0))
        model.predict_one(x)
    assert model.kept + model.skipped + model.audit_counts["warm-up"] == 15 + len(stream)
    assert all(len(column) == model.skipped for column in model.audit.values())
