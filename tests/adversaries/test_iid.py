"""The sizes have the given quantile, with and without an atom."""

import math

import numpy as np
import pytest

import holdfast as hf
from holdfast.adversaries import Exponential, Pareto, QuantileStream, Uniform

ROUNDS = 20_000


def binomial(count, share, n=ROUNDS):
    return abs(count - share * n) <= 4.0 * math.sqrt(n * share * (1.0 - share))


@pytest.mark.parametrize("tail", [Uniform(3.0), Exponential(2.0), Pareto(0.5)], ids=repr)
@pytest.mark.parametrize("p, atom", [(0.9, 0.0), (0.5, 0.2), (0.7, 0.3)])
def test_sizes_have_the_quantile_the_atom_and_the_tail(p, atom, tail):
    stream = QuantileStream(p, ROUNDS, dim=4, seed=1, G=5.0, tail=tail, atom=atom)
    sizes = np.abs(stream.stream.G).max(axis=1)
    assert binomial((sizes < 5.0).sum(), p)
    assert binomial((sizes == 5.0).sum(), atom)
    assert np.array_equal(stream.inliers, sizes <= 5.0)
    beyond = sizes[~stream.inliers]
    assert binomial((beyond <= 5.0 * tail.stretch(0.5)).sum(), 0.5, len(beyond))


def test_all_directions_are_equally_likely():
    G = np.sign(QuantileStream(0.5, ROUNDS, dim=2, seed=1).stream.G)
    for column in G.T:
        assert binomial((column > 0.0).sum(), 0.25)
        assert binomial((column < 0.0).sum(), 0.25)


@pytest.mark.parametrize("norm", [hf.norms.L1(), hf.norms.L2(), hf.norms.LInf()], ids=repr)
def test_the_atom_is_one_size_in_every_norm(norm):
    stream = QuantileStream(0.5, 200, dim=3, G=0.1, atom=0.5)
    sizes = np.array([norm.of(g) for g in stream.stream.G])
    assert (sizes[np.abs(stream.stream.G).max(axis=1) == 0.1] == 0.1).all()


def test_a_filter_at_the_jump_loses_the_atom_for_ever_and_one_above_it_does_not():
    stream = QuantileStream(0.6, 4000, seed=3, atom=0.3)
    late = (np.abs(stream.stream.G[:, 0]) == 1.0) & (np.arange(4000) > 2000)
    share = {}
    for p in (0.6, 0.75):
        player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Quantile(p, horizon=4000))
        share[p] = hf.play(player, stream, compiled=False).kept[late].mean()
    assert share[0.6] < 0.01
    assert share[0.75] > 0.99


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="atom is a share"):
        QuantileStream(0.9, 10, atom=0.2)
    with pytest.raises(ValueError, match="0 < p < 1"):
        QuantileStream(1.0, 10)
