"""The short way to answer about an ordinary row has the bits of `holdfast predict`."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from serve.conftest import settle

from holdfast.runs.model import NewestModel
from holdfast.serve.predicting import Snapshot
from holdfast.serve.rows import RowReader


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2))
def test_one_row_is_answered_as_predict_does_it(learned, values):
    model = NewestModel(learned / "t.run").get()
    reader, snapshot = RowReader(model.layout, 10, 10), Snapshot(model, 0, 0, 0.9)
    row = reader.read(dict(zip("ab", values, strict=True)))
    assert row.plain
    assert snapshot._fast
    quick, whole = snapshot._quick(row), snapshot._whole(reader, [row], [""])[0]
    if quick is None:  # there is something to say
        assert whole.sent["outlier"] or whole.sent["note"]
    else:
        assert quick.sent == whole.sent
        assert json.loads(quick.forecast) == json.loads(whole.forecast)


def test_the_long_way_was_gone_once_before_the_first_call(served, run, label_run, monkeypatch):
    """It imports what it needs, in which no caller waits."""
    gone, whole = [], Snapshot._whole
    monkeypatch.setattr(Snapshot, "_whole", lambda self, *args: gone.append(self) or whole(self, *args))
    for count, path in enumerate((run, label_run), 1):
        served(path)
        assert len(gone) == count


def test_a_snapshot_does_not_change_while_the_run_learns(served, run):
    client = served(run)
    before = client.service.learner.snapshot
    bits = [np.array(array) for array in before.model.parameters]
    client.post("/learn", json={"rows": [{"a": 1.0 * i, "b": 2.0, "y": 5.0 * i} for i in range(100)]})
    settle(client)
    after = client.service.learner.snapshot
    assert after.rounds == before.rounds + 100
    for old, now in zip(bits, before.model.parameters, strict=True):
        assert np.array_equal(old, now)
    assert not np.array_equal(before.model.parameters.weights, after.model.parameters.weights)
