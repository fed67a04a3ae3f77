"""The states of keys are written and read back, and anything else is refused."""

import numpy as np
import pytest

from holdfast.fleet.states import KeyStates, joined, read_states
from holdfast.fleet.tensor_file import tensor_buffers

COLUMNS = {"last": np.zeros(0, np.int64), "sums": np.zeros((0, 2))}


def states(*keys):
    """Keys with two games each."""
    count = len(keys)
    columns = {"last": np.arange(count), "sums": np.arange(2.0 * count).reshape(-1, 2)}
    packed = [f"{key}{game}".encode() for key in keys for game in (0, 1)]
    return KeyStates(list(keys), packed, np.arange(6 * count).reshape(-1, 3), columns)


def read(data):
    return read_states(data, "ours", 2, COLUMNS)


def same(one, other):
    np.testing.assert_equal(one._asdict(), other._asdict())


@pytest.mark.parametrize("keys", [(), ("a",), ("b", "a", "ccc")])
def test_states_are_read_as_they_were_written(keys):
    headers = []
    data = b"".join(states(*keys).buffers("ours", more=7))
    same(read_states(data, "ours", 2, COLUMNS, headers.append), states(*keys))
    assert headers[0]["more"] == 7


def test_some_keys_and_several_together():
    whole = states("a", "b", "c")
    parts = [whole.of(np.array(keys, int), 2) for keys in ([0, 1], [2])]
    same(joined(parts, COLUMNS), whole)
    assert whole.of(np.array([2, 0]), 2).states == [b"c0", b"c1", b"a0", b"a1"]
    same(joined([], COLUMNS), KeyStates.empty(COLUMNS))


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("sizes", np.array([2, 2, 2, 3])),
        ("sizes", np.array([9, -1, 0, 0])),
        ("sizes", np.full(4, 2.0)),
        ("bytes", np.zeros(8)),
        ("last", np.zeros(1, np.int64)),
        ("sums", np.zeros((2, 3))),
        ("more", np.zeros(2)),
        (None, None),
    ],
)
def test_tensors_that_do_not_fit_are_refused(what, value):
    one = states("a", "b")
    arrays = {
        "bytes": np.frombuffer(b"".join(one.states), np.uint8),
        "sizes": np.full(4, 2),
        "counts": one.counts,
    }
    tensors = arrays | one.columns | ({what: value} if what else {})
    keys = ["a", "b"] if what else ["a", "a"]
    with pytest.raises(ValueError, match=r"."):
        read(b"".join(tensor_buffers(tensors, {"format": "ours", "keys": keys})))


def test_another_format_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="it is 'theirs', and this version of holdfast reads 'ours'"):
        read(b"".join(states("a").buffers("theirs")))
    with pytest.raises(ValueError, match="no safetensors file"):
        read(b"anything")
