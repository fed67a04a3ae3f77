"""Sparse rows move every learner as dense ones do, and compiled where a round then costs O(nonzeros)."""

import re
from pathlib import Path

import numpy as np
import pytest
from laws import same
from samples import thinned
from scipy.sparse import csr_array

import holdfast as hf
from holdfast_lab.trials.learners import ENTRIES
from holdfast_lab.trials.worst import CASES

FREE = {
    "AdaGrad": "`AdaGrad` on a box",
    "AdaFTRL": "`AdaFTRL`",
    "DiagonalMetaGrad": "`DiagonalMetaGrad`",
    "ScaleInvariant": "`ScaleInvariant`",
    "Bettors": "`Bettors`",
    "OGD": "`OGD`",
}


def finals(name, worlds):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((150, 12)) < 0.15, rng.standard_normal((150, 12)), 0.0)
    player, y = ENTRIES[name].player(hf.TopK(3)), X.sum(axis=1) + 0.1
    return [
        hf.play(player, hf.Replay(csr_array(X) if sparse else X, y, hf.Squared()), compiled=compiled).final
        for sparse, compiled in worlds
    ]


@pytest.mark.parametrize("name", ENTRIES)
def test_sparse_rows_move_what_dense_ones_do(name):
    dense, sparse = finals(name, [(False, False), (True, False)])
    assert np.abs(dense).max() > 1e-5
    assert dense == pytest.approx(sparse, abs=1e-9)


@pytest.mark.parametrize("name", thinned(FREE.values(), 4))
def test_compiled_they_give_the_same_bits(name):
    assert same(*finals(name, [(True, False), (True, True)]))


def test_these_are_all_that_say_so():
    fast = {name for name, case in CASES.items() if "nonzeros" in case.cost}
    assert {re.findall(r"\w+", name)[0] for name in fast} == set(FREE)
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert all(f"| {name} |" in page for name in fast)
