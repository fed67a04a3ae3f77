"""The protocol: who sees what, in which order, and what a round leaves behind."""

import math

import numpy as np
import pytest

import holdfast as hf
from holdfast.rounds import Round


@pytest.mark.parametrize("norm", [hf.norms.L1(), hf.norms.L2(), hf.norms.LInf(), hf.norms.Lp(3.0)])
def test_a_size_is_the_dual_norm_of_the_gradient(norm):
    player, x = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything(), norm=norm), np.array([3.0, -4.0])
    _, decision = player.observe(player.init(2), Round(-2.0, x))
    assert decision.size == pytest.approx(2.0 * norm.dual().of(x))


def test_a_class_instead_of_a_rule_is_refused_in_a_sentence():
    with pytest.raises(TypeError, match="TopK is a class and no filter yet"):
        hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK), hf.Gradients(np.ones((1, 1))))
    with pytest.raises(TypeError, match="OGD is a class and no learner yet"):
        hf.Player(hf.Filtered(hf.OGD, hf.TopK(1)), dim=1)
    with pytest.raises(TypeError, match="OGD cannot be a player"):
        hf.play(hf.OGD(hf.Ball(1.0)), hf.Gradients(np.ones((1, 1))))


def test_on_features_the_slope_does_not_matter_unless_it_is_not_finite():
    player, x = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything(), on=hf.Features()), np.array([3.0, -4.0])
    sizes = [player.observe(player.init(2), Round(slope, x))[1].size for slope in (0.0, 1e-9, -7.0)]
    assert sizes == [5.0, 5.0, 5.0]
    assert not player.observe(player.init(2), Round(math.nan, x))[1].kept
    assert not player.observe(player.init(2), Round(math.inf, x))[1].kept


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("where", ["slope", "x"])
def test_a_round_that_cannot_be_measured_reaches_neither_filter_nor_learner(bad, where):
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1))
    state = player.init(2)
    slope, x = (bad, np.ones(2)) if where == "slope" else (1.0, np.array([0.0, bad]))
    after, decision = player.observe(state, Round(slope, x))
    assert after is state
    assert not decision.kept
    assert math.isnan(decision.threshold)


FLAT = [hf.Hinge(), hf.losses.SquaredHinge(), hf.losses.EpsilonInsensitive(epsilon=9.0), hf.Logistic()]


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", FLAT, ids=repr)
@pytest.mark.parametrize("on", [hf.measures.Gradient(), hf.Features()], ids=repr)
def test_a_row_that_is_not_finite_is_skipped_and_unmeasured_also_where_the_slope_would_be_0(
    loss, on, compiled
):
    """At w > 0 the margin of an infinite row is infinite and all these losses are flat there."""
    X = np.ones((14, 3))
    X[8:] = 0.1
    X[8, 0], X[9, 1], X[10, 2], X[11], X[12], X[13, :2] = (
        math.inf,
        -math.inf,
        math.nan,
        math.inf,
        1e308,  # finite, but a prediction of 1e308 + 1e308 + 1e308 is not, unless w is small
        (math.inf, -math.inf),
    )
    rule = hf.Filtered(hf.OGD(hf.Ball(9.0)), hf.TopK(2), on=on)
    record = hf.play(rule, hf.Replay(X, np.ones(14), loss), compiled=compiled)
    player = hf.Player(rule, dim=3, compiled=compiled)
    decisions = [player.learn(x, 1.0, loss) for x in X]
    bad = [8, 9, 10, 11, 13]
    for t in range(14):
        found = (decisions[t].kept, decisions[t].size)
        assert np.array_equal(found, (record.kept[t], record.size[t]), equal_nan=True)
        if t in bad:
            assert not decisions[t].kept
            assert not decisions[t].size < math.inf
            assert math.isnan(decisions[t].threshold)
    assert player.unmeasured_count == record.unmeasured_count >= len(bad)
    assert np.isfinite(record.final).all() and np.array_equal(record.final, player.predict())


@pytest.mark.parametrize("compiled", [False, True])
def test_a_slope_of_0_has_size_0_and_x_is_not_read(compiled):
    """Here the loss is flat whatever the prediction: no gradient can be large, and none is unmeasured."""
    rule = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1))
    X = np.array([[1e300, -1e300], [5e-324, 0.0], [1.0, 1.0]])
    record = hf.play(rule, hf.Replay(X, np.zeros(3), hf.Linear()), compiled=compiled)
    assert record.size.tolist() == [0.0, 0.0, 0.0]
    assert record.kept.all() and record.unmeasured_count == 0
    assert record.final.tolist() == [0.0, 0.0]
    state, decision = rule.observe(rule.init(2), Round(0.0, np.array([math.nan, math.inf])))
    assert decision.size == 0.0 and decision.kept
    assert rule.predict(state).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "loss",
    [
        hf.Hinge(),
        hf.losses.SquaredHinge(),
        hf.Logistic(),
        hf.Absolute(),
        hf.Huber(),
        hf.losses.Pinball(),
        hf.Linear(),
    ],
)
def test_a_label_that_is_not_a_number_is_skipped(loss):
    player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), dim=1)
    assert not player.learn([1.0], math.nan, loss).kept


@pytest.mark.parametrize("size", [1e3, 1e9, 1e150, 1e300])
def test_what_is_learned_does_not_depend_on_the_size_of_an_outlier(size):
    G = np.random.default_rng(0).standard_normal((300, 3))
    G[[40, 170, 171]] = size
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), hf.Gradients(G))
    G[[40, 170, 171]] = 1e6
    reference = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), hf.Gradients(G))
    assert np.array_equal(record.final, reference.final)
    assert np.array_equal(record.kept, reference.kept)


def test_the_first_round_of_an_epoch_has_its_target():
    """A learner that starts again learns from the target of that round."""
    scaled = hf.Scaled(hf.AdaGrad(hf.Box(-1.0, 1.0)), target=True, patience=2)
    player = hf.Filtered(scaled, hf.Quantile(0.5))
    state, restarts = player.init(dim=1), 0
    for t in range(1100):
        restart = player.filter.restarts(state.memory)
        state, verdict = player.observe(state, Round(1.0, np.ones(1), 50.0 + t))
        if restart and verdict.kept:
            restarts += 1
            assert state.learner.rounds == 1.0 and state.learner.y_center == 50.0 + t
    assert restarts > 0
