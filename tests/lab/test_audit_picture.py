"""The picture of docs/scikit-learn.md."""

import numpy as np

from holdfast.sklearn import RobustRegressor
from holdfast_lab import audit_picture


def test_the_sensors_whose_units_are_wrong_are_named():
    model = RobustRegressor(0.1, random_state=0).fit(*audit_picture.sensor_table())
    names, counts = np.unique(model.audit_["column"], return_counts=True)
    assert names[counts.argmax()] == "pressure"
    assert {"wind", "humidity", "target"} <= set(names)


def test_a_picture_is_drawn(tmp_path):
    audit_picture.draw(tmp_path / "audit.png")
    assert (tmp_path / "audit.png").read_bytes()[:4] == b"\x89PNG"
