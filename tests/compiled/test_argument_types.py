"""The types of arguments, found without numba, are those that numba finds."""

import numba
import numpy as np
from guards import guarded

import holdfast as hf
from holdfast._compiled.argument_types import signature

PLAYER = guarded(hf.Scaled(hf.AdaGrad(hf.Box(-10.0, 10.0), rate=0.01)), labels=True)


def frozen(array):
    array.flags.writeable = False
    return array


VALUES = [
    (PLAYER, PLAYER.init(3)),
    hf.Replay(np.ones((4, 3)), np.ones(4), hf.Hinge()),
    hf.Replay(np.ones((4, 3), np.float32), np.ones(4), hf.Hinge()),
    (np.ones((3, 2)), np.ones((3, 2), order="F"), np.ones((6, 4))[::2, ::2], np.ones(8)[::2]),
    (frozen(np.ones(3)), np.ones(3), np.zeros((0, 5)), np.ones(1, bool)),
    (True, 1, 1.0, "text", None, np.float64(1.0), np.int64(2), np.float32(3.0)),
]


def test_values_of_one_signature_have_one_type_and_others_have_another():
    items = [item for value in VALUES for item in (value, *value)]
    kinds: dict = {}
    for item in items:
        kinds.setdefault(signature(item), set()).add(numba.typeof(item))
    assert all(len(some) == 1 for some in kinds.values())
    assert signature(np.ones(3)) != signature(frozen(np.ones(3)))
    assert signature(np.ones((1, 3))) == signature(np.ones((5, 3))) == signature(np.ones((6, 3))[:2])


def test_what_has_no_plain_type_has_no_signature():
    assert signature((1.0, len)) is None
    assert signature(2**70) is None
