"""Functions that ask for the types of their arguments have, compiled, only the branches for these."""

import numpy as np
import pytest

from holdfast._compiled import call
from holdfast._compiled.by_type import _specialised, is_instance
from holdfast.kernels import Sparse, by_type


@by_type
def kind_of(x, y):
    """Branches that numba could not compile for other types."""
    if isinstance(x, Sparse):
        return x.places[0] + 0.5
    if isinstance(x, tuple) and not isinstance(y, np.ndarray):
        total = 0.0
        for item in x:
            total += kind_of(item, y)
        return total
    if isinstance(x, bool | np.ndarray):
        return 7.0 if isinstance(x, bool) else x.sum()
    return float(x) if isinstance(x, int | float) else np.nan


SPARSE = Sparse(np.array([3]), np.ones(1), 5)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(SPARSE, 3.5), (np.ones(4), 4.0), (True, 7.0), (2, 2.0), (2.5, 2.5), ((1, SPARSE, (True, 0.5)), 12.0)],
)
def test_both_worlds_take_the_same_branch(x, expected):
    assert kind_of(x, 1) == expected == call(lambda x, y: kind_of(x, y), x, 1)


def test_a_branch_that_is_not_taken_is_not_in_the_code():
    import numba

    for x, left in ((SPARSE, {"places"}), (np.ones(1), {"sum"}), (1.0, {"float"})):
        kinds = {"x": numba.typeof(x), "y": numba.typeof(1)}
        assert set(_specialised(kind_of, kinds).__code__.co_names) == left


def test_a_condition_on_values_stays():
    @by_type
    def first(x, y):
        if isinstance(x, Sparse) and y > 0:
            return 1.0
        if isinstance(x, np.ndarray) or y > 5:
            return 2.0
        return 3.0

    for x in (SPARSE, np.ones(1), 0.0):
        for y in (0, 1, 6):
            assert first(x, y) == call(lambda x, y: first(x, y), x, y)


def test_an_error_names_the_line_of_the_function():
    @by_type
    def wrong(x):
        if isinstance(x, Sparse):
            return x.places
        return x.nothing_of_this_name

    with pytest.raises(TypeError, match=r"wrong \(test_by_type.py, line \d+: return x.nothing"):
        call(lambda x: wrong(x), np.ones(1))


def test_booleans_are_integers_as_in_python():
    import numba

    assert is_instance(numba.typeof(True), int) and not is_instance(numba.typeof(1), bool)
    assert is_instance(numba.typeof(np.float32(1.0)), float) and is_instance(
        numba.typeof(SPARSE), (int, Sparse)
    )
