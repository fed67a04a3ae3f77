"""Games that go on in place, a few rows at a time."""

import itertools
import math

import numpy as np
import pytest
from laws import same
from scipy.sparse import csr_array

import holdfast as hf
from holdfast import continuing
from holdfast.compiling import expecting
from holdfast.continuing import are_native, continued, drop_rounds

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
            replay = hf.Replay(X[first:last], y[first:last], hf.Logistic())
            record = continued(PLAYER, replay, record, KEEP, in_place=True)
            assert are_native([record]) == (expected > 0)
            assert same(record.sizes, whole.sizes[first:last])
            kept += record.kept.tolist()
            drop_rounds(record)
    assert kept == whole.kept.tolist()
    assert same(record.final, whole.final) and same(record.state[0], whole.state[0])
    counts = (record.rounds, record.kept_count, record.unmeasured_count)
    assert counts == (60, whole.kept_count, whole.unmeasured_count)


def part(first, last):
    X, y = rows()
    return hf.Replay(X[first:last], y[first:last], hf.Logistic())


def test_compiled_rows_convert_no_state(monkeypatch):
    with expecting(math.inf):
        record = continued(PLAYER, part(0, 10), None, KEEP, in_place=True)
    monkeypatch.setattr(continuing, "play", None)
    monkeypatch.setattr("holdfast._compiled.bind_state", None)
    monkeypatch.setattr("holdfast._compiled.native_state.with_owners", None)
    for first, last in itertools.pairwise([10, 11, 12, 40, 60]):
        record = continued(PLAYER, part(first, last), record, KEEP, in_place=True)
    assert record.rounds == 60


@pytest.mark.parametrize("expected", [0, math.inf], ids=["interpreted", "compiled"])
def test_a_record_that_is_not_continued_in_place_can_be_continued_again(expected):
    with expecting(expected):
        first = continued(PLAYER, part(0, 30), None, KEEP, in_place=True)
        kept = first.state[0].learner.w.copy()
        one, other = (continued(PLAYER, part(30, 60), first, KEEP, in_place=False) for _ in range(2))
    assert same(first.state[0].learner.w, kept) and not same(one.final, first.final)
    assert same(one.final, other.final) and same(one.state[0], other.state[0])


@pytest.mark.parametrize("expected", [0, math.inf], ids=["interpreted", "compiled"])
def test_weights_and_sparse_rows_go_on_too(expected):
    X, y = rows()
    X[X < 0.0] = 0.0
    weighted = hf.adversaries.Weighted(hf.Replay(X, y, hf.Logistic()), np.full(60, 2.0))
    sparse, again = (hf.Replay(csr_array(X), y, hf.Logistic()) for _ in range(2))
    for second in (weighted, sparse):
        start = weighted.inner if second is weighted else second
        with expecting(expected):
            first = continued(PLAYER, start, None, KEEP, in_place=True)
            drop_rounds(first)
            record = continued(PLAYER, second, first, KEEP, in_place=True)
        half = hf.play(PLAYER, start, keep=KEEP)
        whole = hf.play(PLAYER, second if second is weighted else again, keep=KEEP, after=half)
        assert same(record.final, whole.final) and same(record.sizes, whole.sizes)
