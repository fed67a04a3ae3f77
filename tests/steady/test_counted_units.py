"""Units of columns: what counts, and what does not."""

import numpy as np

import holdfast as hf
from holdfast.steady import Steady
from holdfast.steady.units import count_row, measure_units, new_units, repeated, unit_octave


def counted(values, share=0.12):
    """Units of one column after these values; the first 32 are measured at once."""
    units = measure_units(new_units(1), np.array(values[:32])[:, None], share)
    for i, value in enumerate(values[32:]):
        count_row(units, np.array([value]), 1, share, float(i))
    return units


def test_bad_cells_do_not_set_the_unit_of_a_column_that_changes_once_a_day():
    rng = np.random.default_rng(0)
    days = np.repeat(rng.uniform(-1.0, 1.0, 200), 24)
    clean = counted(days)
    days[rng.random(len(days)) < 0.08] *= 1000.0
    bad = counted(days)
    octaves = [unit_octave(units.counts[0], float(units.seen[0]), 0.12) for units in (clean, bad)]
    assert abs(octaves[0] - octaves[1]) <= 1


def test_a_stuck_sensor_is_counted_100_times():
    rng = np.random.default_rng(0)
    units = counted(np.concatenate([rng.standard_normal(500), np.full(5_000, 0.001)]))
    assert units.seen[0] == 500 + 101
    assert repeated(units, 1) == 4_999


def test_equal_rows_teach_less_and_less():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = X @ [1.0, 2.0, 3.0]
    X[400:450] = X[400]
    record = hf.play(Steady(), hf.Replay(X, y, hf.Absolute()), keep=("predictions",), compiled=False)
    assert np.abs(record.predictions - y)[451:].mean() < 0.2
