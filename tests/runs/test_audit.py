"""Skipped rounds with their reasons, and the factor by which they exceed a threshold."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from holdfast.runs.audit import RoundLog, excess

NAN = math.nan


def played(features, targets, gradients, kept):
    """Columns of rounds as games return them, with thresholds of 1, or NaN where a size is not finite."""
    columns = {"feature_sizes": features, "target_sizes": targets, "sizes": gradients}
    columns = {name: np.array(values, float) for name, values in columns.items()}
    bounds = np.where(np.isfinite(columns["sizes"]), 1.0, NAN)
    thresholds = dict.fromkeys(("feature_thresholds", "target_thresholds", "thresholds"), bounds)
    return SimpleNamespace(**columns, **thresholds, kept=np.array(kept))


def nothing(reasons, skipped):
    """No columns to blame."""
    return np.full(len(skipped), "", object), np.full(len(skipped), NAN)


def test_the_first_filter_that_refuses_a_round_is_the_reason():
    log = RoundLog(("",), True, True, False)
    rounds = played(
        [0.5, 9.0, 0.5, 0.5, 0.5, NAN],
        [0.5, 9.0, 9.0, 0.5, 0.5, 0.5],
        [0.5] * 4 + [9.0, NAN],
        [True] + [False] * 5,
    )
    log.add(rounds, np.arange(1, 7), np.arange(11, 17), np.ones(6), {3: "2 cells"}, {}, 0, None, nothing)
    skipped, sizes = log.tables().values()
    assert skipped.column("reason").to_pylist() == [
        *("features", "target", "not readable", "gradient", "not readable")
    ]
    assert skipped.column("row").to_pylist() == [12, 13, 14, 15, 16]
    assert skipped.column("detail").to_pylist()[:4] == ["", "", "2 cells", ""]
    assert skipped.column("learned").to_pylist() == ["nothing"] * 5
    assert log.counts == {"features": 1, "target": 1, "not readable": 2, "gradient": 1}
    assert sizes.column_names == ["row", "features", "target"] and sizes.num_rows == log.waiting == 6
    log.clear()
    assert log.tables() == {} and log.counts["target"] == 1


def test_rounds_of_several_labels_are_in_the_order_of_the_source():
    log = RoundLog(("x", "z"), False, True, False)
    for place in (1, 0):
        log.add(
            played([0.5, 9.0], [0.0] * 2, [0.5] * 2, [True, False]),
            np.arange(2),
            np.arange(2),
            np.ones(2),
            {},
            {},
            place,
            None,
            nothing,
        )
    skipped, sizes = log.tables().values()
    assert list(zip(sizes.column("row").to_pylist(), sizes.column("label").to_pylist(), strict=True)) == [
        *((0, "x"), (0, "z"), (1, "x"), (1, "z"))
    ]
    assert skipped.column("label").to_pylist() == ["x", "z"]


def test_the_excess_is_the_largest_factor_over_a_threshold():
    columns = {
        "features": ([3.0, 0.5, NAN, math.inf, 9.0], 1.0),
        "target": ([8.0, 0.5, NAN, 1.0, 9.0], 2.0),
        "gradient": ([1.0, 0.5, NAN, 1.0, 9.0], 0.0),
    }
    table = pa.table(
        {f"{name}_size": sizes for name, (sizes, _) in columns.items()}
        | {f"{name}_threshold": [bound] * 5 for name, (_, bound) in columns.items()}
    )
    times, which = excess(table)
    assert times.tolist() == [4.0, 0.0, 0.0, math.inf, 9.0] and which.tolist() == [1, 0, 0, 0, 0]


def test_a_refused_target_teaches_a_little_if_the_player_says_so():
    log = RoundLog(("",), True, False, False, gradients=False, little=True)
    rounds = played([0.5, 9.0], [9.0, NAN], [0.5, 9.0], [False, False])
    log.add(rounds, np.arange(2), np.arange(2), np.ones(2), {}, {}, 0, None, nothing)
    (skipped,) = log.tables().values()
    assert skipped.column("reason").to_pylist() == ["target", "features"]
    assert skipped.column("learned").to_pylist() == ["little", "nothing"]
    assert np.isnan(skipped.column("gradient_size").to_numpy()).all()  # was not measured


def test_a_threshold_of_zero_is_the_warm_up():
    log = RoundLog(("",), True, False, False)
    rounds = played([0.5, 9.0], [9.0, 9.0], [0.5, 0.5], [False, False])
    rounds.target_thresholds = np.zeros(2)
    warm = log.add(rounds, np.arange(2), np.arange(2), np.ones(2), {}, {}, 0, None, nothing)
    assert warm.tolist() == [0] and log.counts == {"warm-up": 1, "features": 1}
