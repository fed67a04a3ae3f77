"""Streams in a file: the system is told that they are read in order, while they are."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import holdfast as hf
from holdfast.memory_mapped import sequential_reads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows what it was told")


@pytest.fixture
def rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((2000, 5))
    np.save(tmp_path / "rows.npy", X)
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


def is_read_in_order():
    found = re.findall(r"rows\.npy\n.*?VmFlags:([^\n]*)", Path("/proc/self/smaps").read_text(), re.DOTALL)
    assert len(found) == 1
    return "sr" in found[0].split()


def test_the_system_is_told_and_told_again_at_the_end(rows):
    assert not is_read_in_order()
    with sequential_reads([rows[7:, 1:], np.ones(3), 5.0, None]):
        assert is_read_in_order()
    assert not is_read_in_order()


def test_it_is_told_even_if_the_game_fails(rows):
    with pytest.raises(ZeroDivisionError), sequential_reads([rows]):
        1 / 0  # noqa: B018
    assert not is_read_in_order()


def test_a_game_is_played_that_way(rows):
    told = []
    loss = type("Watching", (hf.Hinge,), {"slope": lambda *_: told.append(is_read_in_order()) or 1.0})()
    hf.play(
        hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(5)),
        hf.Replay(rows, np.ones(2000), loss),
        rounds=3,
        compiled=False,
    )
    assert told[-3:] == [True] * 3  # before them, the rehearsal
    assert not is_read_in_order()
