"""Games that go on in place, a few rows at a time."""

import itertools
import math

import numpy as np
import pytest
from laws import same

import holdfast as hf
from holdfast import continuing
from holdfast.compiling import expecting
from holdfast.continuing import Rows, continued, drop_rounds

PLAYER = hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopK(5))
KEEP = ("sizes", "thresholds", "kept", "guard")


def rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.sign(rng.standard_normal(60))
    X[7], X[20, 1] = 1e9, math.nan
    return X, y


@pytest.mark.parametrize("expected", [0, math.inf], ids=["interpreted", "compiled"])
def test_rows_one_by_one_are_one_game(expected):
    X, y = rows()
    whole, record, kept = hf.play(PLAYER, hf.Replay(X, y, hf.Logistic()), keep=KEEP), None, []
    cuts = [0, 10, *range(11, 40), 45, 60]
    with expecting(expected):
        for first, last in itertools.pairwise(cuts):
            data = Rows(X[first:last], y[first:last], hf.Logistic(), None)
            record = continued(PLAYER, data, record, KEEP, in_place=True)
            assert same(record.sizes, whole.sizes[first:last])
            kept += record.kept.tolist()
            drop_rounds(record)
    assert kept == whole.kept.tolist()
    assert same(record.final, whole.final) and same(record.state[0], whole.state[0])
    counts = (record.rounds, record.kept_count, record.unmeasured_count)
    assert counts == (60, whole.kept_count, whole.unmeasured_count)


def test_compiled_rows_convert_no_state(monkeypatch):
    X, y = rows()
    with expecting(math.inf):
        record = continued(PLAYER, Rows(X[:10], y[:10], hf.Logistic(), None), None, KEEP, in_place=True)
        record = continued(PLAYER, Rows(X[10:11], y[10:11], hf.Logistic(), None), record, KEEP, in_place=True)
        monkeypatch.setattr(continuing, "play", None)
        monkeypatch.setattr("holdfast._compiled.bind_state", None)
        monkeypatch.setattr("holdfast._compiled.native_state.with_owners", None)
        for t in range(11, 60):
            data = Rows(X[t : t + 1], y[t : t + 1], hf.Logistic(), None)
            record = continued(PLAYER, data, record, KEEP, in_place=True)
    assert record.rounds == 60


def test_weights_count():
    X, y = rows()
    first = continued(PLAYER, Rows(X, y, hf.Logistic(), None), None, KEEP, in_place=True)
    double = continued(PLAYER, Rows(X, y, hf.Logistic(), np.full(60, 2.0)), first, KEEP, in_place=True)
    again = hf.play(PLAYER, hf.Replay(X, y, hf.Logistic()), keep=KEEP)
    weighted = hf.adversaries.Weighted(hf.Replay(X, y, hf.Logistic()), np.full(60, 2.0))
    assert same(double.final, hf.play(PLAYER, weighted, keep=KEEP, after=again).final)
