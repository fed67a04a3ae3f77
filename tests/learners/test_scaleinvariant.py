"""The scale-invariant learner against its formula, in any units, and its regret against its bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners.trials import without_dust

import holdfast as hf
from holdfast.rounds import Round
from holdfast.vectors import dot
from holdfast_lab.trials.ratios import lipschitz_ratio

INVARIANT = hf.ScaleInvariant(epsilon=0.5)
numbers = st.floats(-100.0, 100.0) | st.sampled_from([0.0, 1.0, 1e-9, -1e6, 1e9])
slopes = st.floats(-1.0, 1.0) | st.sampled_from([-1.0, 1.0])
rounds = st.lists(st.tuples(slopes, numbers, numbers), min_size=1, max_size=40).map(without_dust)


def test_the_weights_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    state, G, S, M, wealth = INVARIANT.init(3), np.zeros(3), np.zeros(3), np.zeros(3), np.full(3, 0.5)
    for x in rng.standard_normal((100, 3)) * [1.0, 100.0, 1e-3]:
        M = np.maximum(M, np.abs(x))
        a = np.sqrt(S + M**2)
        w = np.sign(G) * np.minimum(np.abs(G / a), 1.0) * wealth / (2.0 * a)
        assert dot(INVARIANT.predict(state), x) == pytest.approx(w @ x, rel=1e-9, abs=1e-12)
        slope = rng.uniform(-1.0, 0.5)
        state = INVARIANT.update(state, Round(slope, x))
        G, S, wealth = G - slope * x, S + (slope * x) ** 2, wealth - slope * x * w


@given(rounds)
def test_the_regret_is_at_most_its_bound(rows):
    assert lipschitz_ratio(INVARIANT, rows) <= 1.0 + 1e-9


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1e9, 1e150])
def test_units_do_not_matter(unit):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 2)), rng.standard_normal(200)
    stream = [hf.Replay(X * [1.0, scale], y, hf.Absolute()) for scale in (1.0, unit)]
    player = hf.Filtered(INVARIANT, hf.Everything(), on=hf.Features())
    one, other = (hf.play(player, each, keep=["predictions"], compiled=False) for each in stream)
    assert one.predictions == pytest.approx(other.predictions, rel=1e-6)


def test_behind_filters_an_outlier_changes_nothing_but_its_own_round():
    rng = np.random.default_rng(2)
    X, u = rng.standard_normal((300, 2)) * [1.0, 1e3], np.array([1.0, -1e-3])
    y = X @ u
    X[150] *= 1e9
    inliers = np.arange(300) != 150
    for filter in (hf.TopK(1), hf.TopShare(0.01), hf.Quantile(0.9, horizon=300)):
        player = hf.Filtered(INVARIANT, filter, on=hf.Features())
        record = hf.play(player, hf.Replay(X, y, hf.Absolute()), compiled=False)
        assert not record.kept[150]
        kept = record.losses[record.kept].sum()  # u loses nothing
        assert kept <= INVARIANT.bound(record.state[0].learner, u)
        assert np.isfinite(record.losses[inliers]).all()


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: hf.ScaleInvariant(epsilon=0.0), r"must be positive: got 0\.0"),
        (lambda: hf.ScaleInvariant(steepest=-1.0), r"must be positive: got -1\.0"),
        (lambda: hf.ScaleInvariant(domain=hf.Ball(1.0)), "no version for bounded domains: got Ball"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        make()
