"""Values in memory, written and read without numba."""

import json

import numpy as np
import pytest

from holdfast import OGD, Ball, Filtered, Quantile, TopK
from holdfast._compiled.memory_layout import by_place, from_words, kind_of, layout_of, words

VALUES = [
    (1, True, 2.5, (False, 3), ()),
    (np.arange(3.0), True, (np.zeros((2, 3)), np.zeros(0))),
    Filtered(OGD(Ball(1.0)), TopK(3)).init(4),
    Quantile(0.9, delta=0.1).init(1),
    (Quantile(0.9, horizon=7), "", "ascii", "Größe π", None),
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_what_was_written_is_read_again_with_the_same_arrays(value):
    layout = layout_of(value)
    memory = np.zeros(layout.size, np.uint8)
    layout.write(memory, value)
    owners = by_place(value)
    again = layout.rebuilt(layout.read(memory), owners)
    assert repr(again) == repr(value)
    assert {id(array) for array in by_place(again).values()} == {id(array) for array in owners.values()}


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_numba_lays_out_the_same(value):
    import numba

    from holdfast._compiled.numba_private import size_of

    assert size_of(numba.typeof(value)) == layout_of(value).size


def test_an_array_of_nobody_is_copied():
    value = (np.arange(6.0).reshape(2, 3),)
    layout = layout_of(value)
    memory = np.zeros(layout.size, np.uint8)
    layout.write(memory, value)
    (copy,) = layout.rebuilt(layout.read(memory), {})
    assert copy.tolist() == value[0].tolist()
    assert not np.shares_memory(copy, value[0])


def test_readonly_arrays_have_the_same_kind_and_other_objects_have_none():
    array = np.zeros(2)
    array.flags.writeable = False
    assert kind_of(array) == kind_of(np.zeros(2)) != kind_of(np.zeros(2, np.float32))
    with pytest.raises(TypeError, match="no layout for dict"):
        kind_of(({},))


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_kind_in_words_is_the_same_kind(value):
    assert from_words(json.loads(json.dumps(words(kind_of(value))))) == kind_of(value)


@pytest.mark.parametrize("value", [np.float32(0.1), np.int32(-7), np.uint8(255), 2**63 + 1, np.int8(-128)])
def test_smaller_and_larger_numbers_are_read_again(value):
    layout = layout_of((value, 1.0))
    memory = np.zeros(layout.size, np.uint8)
    layout.write(memory, (value, 1.0))
    assert layout.rebuilt(layout.read(memory), {}) == (value, 1.0)
