"""Places of sizes: four in an octave, found from the bits of a float."""

import math

import numpy as np
import pytest

from holdfast.steady.residuals import PLACES, lower_end, place_of

EDGES = [5e-324, 1e-310, 2.0**-34, 2.0**-33, 2.0**31, 2.0**32, 1.7e308, math.inf]


def slow_place(size):
    """The place by `frexp`: residuals from 2^-32 to 2^31 have one of their own."""
    fraction, exponent = math.frexp(size)
    place = 4 * (exponent + 32) + int(8.0 * fraction - 4.0)
    return min(max(place, 0), PLACES - 1)


def test_the_bits_have_the_octave_and_the_quarter():
    sizes = np.exp(np.random.default_rng(0).uniform(-30.0, 30.0, 5_000)).tolist()
    near = [size * (1.0 + side * 2.0**-52) for size in sizes for side in (-1, 1)]
    assert [place_of(size) for size in sizes + near] == [slow_place(size) for size in sizes + near]


@pytest.mark.parametrize("size", [0.0, -1.0, math.nan, *EDGES])
def test_all_sizes_have_a_place(size):
    assert place_of(size) == (0 if not size >= 1.0 else PLACES - 1)


def test_a_place_begins_at_its_lower_end():
    ends = [lower_end(place) for place in range(PLACES + 1)]
    assert [place_of(end) for end in ends[:-1]] == list(range(PLACES))
    assert [place_of(math.nextafter(end, 0.0)) for end in ends[1:-1]] == list(range(PLACES - 1))
    assert all(2.0 * a == b for a, b in zip(ends, ends[4:], strict=False))
