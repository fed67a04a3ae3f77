"""Rounds are grouped by key, and keys divided among threads."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.fleet.grouped_rounds import evenly, group_rounds


def call(function, *args):
    return function(*args)


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from([0, 1, 2, 10**12, -5])) | st.lists(st.sampled_from([-128, 0, 127])),
    st.booleans(),
    st.integers(1, 4),
)
def test_rounds_are_grouped_by_key_in_order(keys, as_text, parts):
    kind = np.int8 if max(map(abs, keys), default=0) == 128 else np.int64
    keys = np.array([str(key) for key in keys] if as_text else keys, "U20" if as_text else kind)
    for grouped in (group_rounds(keys, call, map, parts), group_rounds(keys)):
        names, order, cuts = grouped
        assert names.tolist() == sorted(set(keys.tolist()))
        assert sorted(order.tolist()) == list(range(len(keys)))
        for j, name in enumerate(names):
            assert order[cuts[j] : cuts[j + 1]].tolist() == np.flatnonzero(keys == name).tolist()


@given(st.lists(st.integers(0, 20), min_size=1), st.integers(1, 6))
def test_ranges_of_keys_have_all_keys_and_about_the_same_number_of_rounds(counts, parts):
    ranges = evenly(np.concatenate([[0], np.cumsum(counts)]), parts)
    assert [key for first, last in ranges for key in range(first, last)] == list(range(len(counts)))
    assert all(sum(counts[a:b]) <= sum(counts) / parts + 2 * max(counts) for a, b in ranges)
