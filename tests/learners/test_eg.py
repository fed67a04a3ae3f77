"""Exponentiated gradient against its definition, and its regret against its bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners.trials import streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import comparators, learned, linear_ratio


def test_it_multiplies_and_divides_by_the_sum():
    eg, rng = hf.EG(0.3), np.random.default_rng(0)
    state, w = eg.init(4), np.full(4, 0.25)
    for g in rng.standard_normal((300, 4)):
        state, w = eg.update(state, Round(2.0, g)), w * np.exp(-0.6 * g)
        w /= w.sum()
        assert eg.predict(state) == pytest.approx(w, abs=1e-9)


@given(streams(dim=3), st.sampled_from([1e-6, 0.1, 10.0]))
def test_the_regret_is_at_most_its_bound(G, eta):
    eg = hf.EG(eta)
    assert linear_ratio(eg, G) <= 1.0 + 1e-9
    most = math.log(3) / eta + eta / 8.0 * (np.ptp(G, axis=1) ** 2).sum()
    assert eg.bound(learned(eg, G)[1], np.eye(3)[0]) <= most * (1.0 + 1e-9)


def test_a_portfolio_grows_almost_as_the_best_asset_does():
    rng, T = np.random.default_rng(1), 500
    X = np.exp(0.05 * rng.standard_normal((T, 3)) + np.array([0.0, 0.0, 0.01]))
    eg = hf.EG(math.sqrt(8.0 * math.log(3.0) / T) / 0.2)
    player = hf.Filtered(eg, hf.TopK(2), on=hf.measures.Range())
    record = hf.play(player, hf.Replay(X, np.zeros(T), hf.learners.LogWealth()), compiled=False)
    state = record.state[0].learner
    for u in comparators(hf.Simplex(), np.ones(3)):
        regret = (record.losses + np.log(X @ u)).sum()
        assert regret <= eg.bound(state, u) + record.size[~record.kept].sum()
    assert record.losses.sum() < -np.log(X.mean(axis=1)).sum()


def test_a_day_on_which_all_is_lost_is_not_learned_from():
    player = hf.Filtered(hf.EG(1.0), hf.Everything(), on=hf.measures.Range())
    record = hf.play(
        player, hf.Replay([[0.0, 0.0], [1.0, 2.0]], [0.0, 0.0], hf.learners.LogWealth()), compiled=False
    )
    assert record.kept.tolist() == [False, True]
    assert record.losses[0] == math.inf


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: hf.EG(0.0), r"must be positive: got 0\.0"),
        (lambda: hf.EG(1.0, hf.Ball(1.0)), r"on a Simplex\(\): got Ball"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        make()
