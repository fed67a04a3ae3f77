"""Memory-mapped streams: the system gets the advice that they are read in order, during a game only."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import holdfast as hf
from holdfast._compiled.long_calls import sequential_reads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the advice")


@pytest.fixture
def rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((2000, 5))
    np.save(tmp_path / "rows.npy", X)
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


def is_read_in_order():
    found = re.findall(r"rows\.npy\n.*?VmFlags:([^\n]*)", Path("/proc/self/smaps").read_text(), re.DOTALL)
    assert len(found) == 1
    return "sr" in found[0].split()


def test_the_advice_is_given_and_withdrawn_at_the_end(rows):
    assert not is_read_in_order()
    with sequential_reads([rows[7:, 1:], np.ones(3), 5.0, None]):
        assert is_read_in_order()
    assert not is_read_in_order()


def test_the_advice_is_withdrawn_if_the_game_fails(rows):
    with pytest.raises(ZeroDivisionError), sequential_reads([rows]):
        1 / 0  # noqa: B018
    assert not is_read_in_order()


def test_a_game_gives_the_advice(rows):
    seen = []
    loss = type("Watching", (hf.Hinge,), {"slope": lambda *_: seen.append(is_read_in_order()) or 1.0})()
    hf.play(
        hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(5)),
        hf.Replay(rows, np.ones(2000), loss),
        rounds=3,
        compiled=False,
    )
    assert seen[-3:] == [True] * 3  # the calls before these belong to the dry run
    assert not is_read_in_order()
