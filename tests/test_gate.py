"""Gate: a filter's decisions, one size at a time or many, and a state that JSON can hold."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from laws import filtered, same
from samples import FILTERS, STREAMS, thinned

import holdfast as hf

FIXED = [filter for filter in FILTERS if not getattr(filter, "exact", False)]


def decided(gate, sizes):
    return np.array([gate.keep(size) for size in sizes], dtype=bool)


@pytest.mark.parametrize("stream", ["k spikes", "nan", "scale change"])
@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_it_decides_as_its_filter(filter, stream):
    sizes = STREAMS[stream]
    thresholds, kept, _ = filtered(filter, filter.init(1), sizes)
    gate, one = hf.Gate(filter), hf.Gate(filter)
    assert np.array_equal(decided(gate, sizes), kept)
    assert np.array_equal(hf.Gate(filter).keep_many(sizes), kept)
    for size, threshold, keep in zip(sizes, thresholds, kept, strict=True):
        verdict = one.decide(size)
        assert same((verdict.kept, verdict.sizes), (bool(keep), (float(size),)))
        assert verdict.refused_by == (0 if math.isfinite(size) and not keep else -1)
        assert verdict.threshold == threshold or not math.isfinite(size)
        assert one.threshold == threshold or not math.isfinite(size)


@pytest.mark.parametrize("filter", thinned(FILTERS, 18), ids=repr)
def test_compiled_it_decides_the_same(filter):
    sizes = np.concatenate([STREAMS["k spikes"], STREAMS["nan"], STREAMS["all magnitudes"]])
    gate, compiled = hf.Gate(filter, compiled=False), hf.Gate(filter, compiled=True)
    for part in (sizes[:400], sizes[400:900]):
        assert np.array_equal(decided(gate, part), decided(compiled, part))
        assert same(gate.threshold, compiled.threshold)
    assert np.array_equal(decided(gate, sizes[900:]), compiled.keep_many(sizes[900:]))
    assert same(gate.threshold, compiled.threshold)
    assert type(compiled.keep(1.0)) is bool
    again = pickle.loads(pickle.dumps(compiled))
    gate.keep(1.0)
    assert np.array_equal(decided(gate, sizes[:50]), decided(again, sizes[:50]))
    compiled.reset()
    assert np.array_equal(decided(hf.Gate(filter), sizes[:50]), decided(compiled, sizes[:50]))


@pytest.mark.parametrize("size", [math.nan, math.inf, -math.inf])
def test_a_size_that_is_not_finite_is_skipped_and_not_remembered(size):
    gate = hf.Gate(hf.TopK(2, window=5))
    gate.keep_many([1.0, 2.0, 3.0, 1.0])
    before = copy.deepcopy(gate.state), gate.threshold
    assert not gate.keep(size)
    assert not gate.keep_many([size, size]).any()
    kept, refused_by, (given,), (threshold,), _ = gate.decide(size)
    assert not kept and refused_by == -1
    assert (given == abs(size) or math.isnan(size)) and math.isnan(threshold)
    assert same(before, (gate.state, gate.threshold))


@pytest.mark.parametrize("size", [1, np.float32(1.0), np.array(1.0), True])
def test_any_number_is_a_size(size):
    gate = hf.Gate(hf.TopK(0))
    assert gate.keep(size)
    assert gate.decide(size) == hf.Verdict(True, -1, (1.0,), (2.0,))


def test_a_threshold_is_that_of_the_last_size():
    gate = hf.Gate(hf.TopK(1))
    assert math.isnan(gate.threshold)
    gate.keep_many([1.0, 1.5])
    assert gate.threshold == 2.0
    gate.keep(math.nan)
    assert gate.threshold == 2.0
    gate.reset()
    assert math.isnan(gate.threshold)
    assert not gate.keep(1.0)


def test_sizes_of_many_rounds_are_a_list():
    with pytest.raises(ValueError, match=r"one a round: got shape \(2, 2\)"):
        hf.Gate(hf.TopK(1)).keep_many(np.ones((2, 2)))
    assert len(hf.Gate(hf.TopK(1)).keep_many([])) == 0


def test_a_filter_that_is_none_is_refused():
    with pytest.raises(TypeError, match="decide"):
        hf.Gate(hf.OGD(hf.Ball(1.0)))


def test_a_gate_shows_its_filter():
    assert repr(hf.Gate(hf.Everything())) == "Gate(Everything(), compiled=None)"


# -- states


@pytest.mark.parametrize("rounds", [0, 30, 300])
@pytest.mark.parametrize("filter", FIXED, ids=repr)
def test_a_state_in_json_goes_on_as_if_nothing_had_happened(filter, rounds):
    sizes = STREAMS["heavy-tailed"]
    gate, again = hf.Gate(filter), hf.Gate(filter)
    gate.keep_many(sizes[:rounds])
    stored = json.loads(json.dumps(gate.state_dict(), allow_nan=False))
    again.keep_many(sizes[100:130])  # something to forget
    again.load_state_dict(stored)
    assert same(again.threshold, gate.threshold)
    assert again.state_dict() == gate.state_dict()
    assert np.array_equal(again.keep_many(sizes[rounds:]), gate.keep_many(sizes[rounds:]))
    assert same(again.threshold, gate.threshold)


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_gate_survives_pickling_and_copying(filter):
    gate = hf.Gate(filter)
    gate.keep_many(STREAMS["heavy-tailed"])
    pickled, copied = pickle.loads(pickle.dumps(gate)), copy.deepcopy(gate)
    expected = gate.keep_many(STREAMS["steady"])
    assert np.array_equal(pickled.keep_many(STREAMS["steady"]), expected)
    assert np.array_equal(copied.keep_many(STREAMS["steady"]), expected)


def test_a_threshold_beyond_all_floats_is_stored():
    gate, again = hf.Gate(hf.TopShare(0.1)), hf.Gate(hf.TopShare(0.1))
    gate.keep_many([1.7e308] * 20)
    assert gate.threshold == math.inf
    again.load_state_dict(json.loads(json.dumps(gate.state_dict(), allow_nan=False)))
    assert again.threshold == math.inf
    assert again.keep(1.7e308)


WRONG = {
    "nothing": (None, "not a state of"),
    "another filter": ({"filter": "TopK(k=4, slack=2.0, window=20)"}, "its filter is 'TopK"),
    "another layout": ({"layout": "0123456789abcdef"}, "its layout is '0123456789abcdef', not '"),
    "no threshold": ({"threshold": None}, "needs a threshold and a list of numbers"),
    "no numbers": ({"numbers": None}, "needs a threshold and a list of numbers"),
    "text": ({"numbers": ["many"]}, "needs a threshold and a list of numbers"),
    "too few": ({"numbers": [1.0]}, "changed or cut off"),
    "too many": ({"numbers": [0.0] * 50}, "changed or cut off"),
    "a block that is too long": ({"numbers": [*[1.0] * 8, 21.0, 20.0]}, "changed or cut off"),
    "no heap": ({"numbers": [3.0, 1.0, 2.0, 2.0, *[0.0] * 4, 3.0, 20.0]}, "changed or cut off"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_state_is_refused_in_a_sentence_and_changes_nothing(name):
    changes, sentence = WRONG[name]
    gate = hf.Gate(hf.TopK(3, window=20))
    gate.keep_many(STREAMS["steady"][:50])
    before = gate.state_dict()
    with pytest.raises(ValueError, match=sentence):
        gate.load_state_dict(changes if changes is None else before | changes)
    assert gate.state_dict() == before


def test_a_state_that_grows_is_refused():
    gate = hf.Gate(hf.TopShare(0.1, exact=True))
    gate.keep_many(STREAMS["steady"])
    with pytest.raises(ValueError, match="pickle the gate, or use exact=False"):
        gate.state_dict()


@pytest.mark.parametrize("compiled", [False, True])
def test_of_a_negative_number_the_absolute_value_counts(compiled):
    sizes = [1.0, -1.2, -1e300, 1.1, -0.0, float("-inf"), float("nan")]
    one, all_at_once = hf.Gate(hf.TopK(k=1), compiled), hf.Gate(hf.TopK(k=1), compiled)
    kept = [one.keep(size) for size in sizes]
    assert kept == [False, True, False, True, True, False, False]
    assert all_at_once.keep_many(sizes).tolist() == kept
    assert one.decide(-1.3).size == 1.3
    assert not one.decide(float("-inf")).kept


@pytest.mark.parametrize("compiled", [None, True])
def test_events_of_sizes_one_by_one_and_all_at_once(compiled):
    sizes = np.abs(np.random.default_rng(0).normal(size=3_000))
    sizes[1_000], sizes[2_000:2_050] = 1e3, 0.5
    sizes[1_500:1_600] *= 1e4
    told = []
    for many in (True, False):
        events = hf.levels.Events()
        gate = hf.Gate(hf.TopShare(0.15, slack=8.0, window=1_000), compiled, events)
        if many:
            gate.keep_many(sizes)
        else:
            for size in sizes.tolist():
                gate.keep(size)
        told.append([(event.kind, event.begin, event.end) for event in events])
    assert told[0] == told[1]
    assert told[0] == [
        ("glitch", 1_001, 1_001),
        ("change", 1_501, 1_520),
        ("frozen", 2_001, 0),
        ("frozen", 2_001, 2_050),
    ]
