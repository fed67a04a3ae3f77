"""Each peer learns from our data, where it is installed."""

import pytest

from holdfast_lab.bench import peers
from holdfast_lab.bench.streams import dense, sparse


def prepared(name, X, y, folder):
    if peers.version(name) is None:
        pytest.skip(f"{name} is not installed: make bench has it")
    return peers.PEERS[name](X, y, folder)


@pytest.mark.parametrize("name", peers.PEERS)
def test_dense_rows(name, tmp_path):
    assert prepared(name, *dense(50, 3), tmp_path)() > 0.0


@pytest.mark.parametrize("name", ["scikit-learn", "Vowpal Wabbit"])
def test_sparse_rows(name, tmp_path):
    assert prepared(name, *sparse(50, 2**10), tmp_path)() > 0.0
