"""The picture of docs/scikit-learn.md."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.sklearn import RobustRegressor
from holdfast_lab import audit_picture

BY_PRESSURE = "57 % of the 105 skipped rows are due to pressure"


def test_the_sensors_whose_units_are_wrong_are_named():
    with pytest.warns(hf.HoldfastWarning, match=BY_PRESSURE):
        model = RobustRegressor(0.1, random_state=0).fit(*audit_picture.sensor_table())
    names, counts = np.unique(model.audit_["column"], return_counts=True)
    assert names[counts.argmax()] == "pressure"
    assert {"wind", "humidity", "target"} <= set(names)


def test_a_picture_is_drawn(tmp_path):
    with pytest.warns(hf.HoldfastWarning, match=BY_PRESSURE):
        audit_picture.draw(tmp_path / "audit.png")
    assert (tmp_path / "audit.png").read_bytes()[:4] == b"\x89PNG"
