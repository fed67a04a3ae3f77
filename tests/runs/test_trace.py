"""The trace of a run does not grow, and does not depend on the batches."""

import math

import numpy as np
import pytest

from holdfast.fleet.key_table import KeySums
from holdfast.runs.trace import ThinnedTable, Trace

ROUNDS = 5_000
RNG = np.random.default_rng(1)
ERRORS = np.where(RNG.random(ROUNDS) < 0.02, np.nan, RNG.exponential(size=ROUNDS))
KEPT = RNG.random(ROUNDS) < 0.9
WARM = ~KEPT & (np.arange(ROUNDS) < 40)  # skipped in the warm-up
SIZES = RNG.exponential(size=(3, ROUNDS))
BATCHES = pytest.mark.parametrize("cuts", [[], [1], [64, 65, 3000], list(range(7, ROUNDS, 7))], ids=len)


def traced(cuts):
    trace = Trace(2)
    for start, stop in zip([0, *cuts], [*cuts, ROUNDS], strict=True):
        sizes = SIZES[:, start:stop]
        few = slice(start, stop)
        trace.add(ERRORS[few], KEPT[few], WARM[few], sizes, 2.0 * sizes, sizes[0], sizes[1])
    return trace


@BATCHES
def test_the_same_rounds_in_other_batches_leave_the_same_trace(cuts):
    one, other = traced([]).state(), traced(cuts).state()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_points_and_samples_are_few_and_evenly_spread():
    trace = traced([])
    for thinned in (trace.points, trace.samples):
        assert 0.5 * thinned.most <= len(thinned.table) <= thinned.most
        assert (np.diff(thinned.table[:, 0]) == thinned.stride).all()


def test_a_point_holds_the_sums_up_to_its_round():
    trace = traced([])
    t, total, counted, *_, skipped = trace.points.table[100]
    assert total == pytest.approx(np.nansum(ERRORS[: int(t)]))
    assert counted == np.isfinite(ERRORS[: int(t)]).sum() and skipped == (~(KEPT | WARM)[: int(t)]).sum()


def test_errors_are_means_of_the_rounds_whose_error_is_known():
    assert traced([]).errors() == pytest.approx((np.nanmean(ERRORS), np.nanmean(ERRORS[KEPT])))
    assert Trace(2).errors() == (None, None)


def test_a_trace_continues_from_its_saved_state():
    half, whole = traced([]), traced([])
    again = Trace(2)
    again.load(half.state())
    for trace in (again, whole):
        trace.add_snapshot(np.ones(2))
        trace.add(ERRORS, KEPT, WARM, SIZES, SIZES, *SIZES[:2])
    assert all(np.array_equal(again.state()[name], value) for name, value in whole.state().items())


def test_there_are_eight_snapshots_each_time_the_rounds_double():
    trace, snapshots = Trace(2), []
    while trace.rounds < 10_000:
        trace.rounds = trace.next_snapshot()
        snapshots.append(trace.rounds)
    assert snapshots == sorted(set(snapshots)) and snapshots[0] == 64
    assert sum(1_000 < t <= 2_000 for t in snapshots) == 8


def test_a_stride_doubles_when_there_are_too_many_rows():
    thinned = ThinnedTable(2, 10)
    thinned.add(1, [np.arange(1, 26)])
    assert thinned.stride == 4 and thinned.table.tolist() == [[t, t] for t in range(4, 25, 4)]


@BATCHES
def test_sums_of_keys_do_not_depend_on_batches_either(cuts):
    keys, sums = np.arange(ROUNDS) * 7 % 11, KeySums()
    for start, stop in zip([0, *cuts], [*cuts, ROUNDS], strict=True):
        sums.add(11, keys[start:stop], ERRORS[start:stop], KEPT[start:stop], WARM[start:stop])
        sums.set_thresholds(11, keys[start:stop], ERRORS[start:stop])
    expected = KeySums()
    expected.add(11, keys, ERRORS, KEPT, WARM)
    expected.set_thresholds(11, keys, ERRORS)
    known = np.flatnonzero((keys == 3) & ~np.isnan(ERRORS))
    assert sums.thresholds()[3] == ERRORS[known[-1]]
    assert np.array_equal(sums.sums, expected.sums)
    assert sums.sums[3, 0] == (keys == 3).sum()
    assert sums.sums[3, 3] / sums.sums[3, 4] == pytest.approx(np.nanmean(ERRORS[(keys == 3) & KEPT]))


def test_a_key_without_kept_rounds_of_known_error_has_no_error():
    sums = KeySums()
    kept, warm = np.array([True, False, True]), np.zeros(3, bool)
    sums.add(2, np.array([0, 1, 1]), np.array([2.0, 1.0, np.nan]), kept, warm)
    assert sums.table(["p", "q"]).column("error").to_pylist() == [2.0, None]
    found = sums.summary(["p", "q"])
    assert found["count"] == 2 and found["error"]["most"] == 2.0
    assert found["most_skipped"][0] == {"key": "q", "rounds": 2, "kept": 1, "warm_up": 0, "error": None}


def test_sums_of_huge_errors_are_infinite_without_a_warning():
    trace, sums = Trace(1), KeySums()
    errors, kept, sizes = np.full(4, 1e308), np.ones(4, bool), (np.ones(4),) * 3
    trace.add(errors, kept, ~kept, sizes, sizes, *sizes[:2])
    sums.add(1, np.zeros(4, np.int64), errors, kept, ~kept)
    assert trace.errors() == (math.inf, math.inf)
    assert sums.sums[0].tolist() == [4.0, 4.0, 0.0, math.inf, 4.0, 0.0]


def test_a_round_of_the_warm_up_is_not_a_skipped_one():
    sums, kept, warm = KeySums(), np.array([False, False, True]), np.array([True, False, False])
    sums.add(1, np.zeros(3, np.int64), np.ones(3), kept, warm)
    assert sums.summary(["p"])["skipped_share"]["most"] == pytest.approx(1 / 3)
