"""Rounds that are not finite do not change the learner, with every measure, and no weight becomes NaN."""

import copy
import itertools
import math

import numpy as np
import pytest
from guards import guarded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laws import same
from samples import FILTERS, LEARNERS, LOSSES, NORMS, SCALED

import holdfast as hf
from holdfast.learners import Averaged
from holdfast.losses import slope_at
from holdfast.rounds import Round
from holdfast.vectors import ScaledWeights, Sparse, dot, target_for, values_of

INNER = [*LEARNERS, *SCALED, Averaged(hf.OGD(hf.Ball(1.0))), hf.Scaled(hf.VAW(), target=True, patience=2)]
ON = {"range": hf.measures.Range(), "features": hf.Features()}
MEASURES = [hf.measures.Gradient(), hf.Features(), hf.measures.LossForm(2.0)]

ODD = [0.0, -0.0, 1.0, -1.0, 2.0, 1e-308, 5e-324, -1e-200, 1e-160, 1e9, 1e155, -1e200, 1e300, 1e308, -1e308]
ODD += [1.7e308, -1.7e308, math.nan, math.inf, -math.inf]
values = st.sampled_from(ODD) | st.floats(-3.0, 3.0)
rounds = st.tuples(values, values, values | st.just(1.0), st.booleans(), st.booleans())


@st.composite
def players(draw):
    learner = draw(st.sampled_from(INNER))
    size = learner.needs().size
    ons = (
        [ON["range"], *MEASURES] if size == "range" else [ON["features"]] if size == "features" else MEASURES
    )
    on, norm = draw(st.sampled_from(ons)), draw(st.sampled_from(NORMS))
    if isinstance(learner, hf.Scaled) and isinstance(norm, hf.norms.Mahalanobis):
        norm = hf.norms.L2()  # the matrix is for two entries, but scaled rows have three
    if draw(st.booleans()):
        return hf.Filtered(learner, draw(st.sampled_from(FILTERS)), norm, on)
    three = (draw(st.sampled_from([hf.TopK(0), hf.TopK(1), hf.Quantile(0.8)])) for _ in range(3))
    return guarded(learner, *three, draw(st.booleans()), norm, on)


def learned_part(player, state):
    """The learner's state, without its buffer for a row."""
    learner = copy.deepcopy(player.active_learner(copy.deepcopy(state)))
    return learner._replace(row=0) if "row" in getattr(learner, "_fields", ()) else learner


def is_finite(w):
    """Whether the weights are finite. Scaled weights may be infinite in the units of the features."""
    return (
        not np.isnan(values_of(w)).any()
        if isinstance(w, ScaledWeights)
        else bool(np.isfinite(values_of(w)).all())
    )


def survives(player, stream, loss):
    """Play, and check every round."""
    player.check_dim(2)
    by_gradients = player.learner.needs().losses != "squared"  # these compute the target from the slope
    state = player.init(2)
    for a, b, y, sparse, direct in stream:
        x = Sparse(np.array([1]), np.array([b]), 2) if sparse else np.array([a, b])
        w = player.predict(state)
        assert is_finite(w), (player, values_of(w))
        slope = y if direct and by_gradients else slope_at(loss, dot(w, x), target_for(w, y))
        round = player.learner.in_units(player.active_learner(state), Round(slope, x, y))
        row = values_of(round.row).copy()
        before = learned_part(player, state)
        state, decision = player.observe(state, Round(slope, x, y))
        gradient = slope * row if slope != 0.0 else np.zeros(2)
        if not np.isfinite(gradient).all():
            assert not decision.kept and not decision.size < math.inf
        if not decision.kept:
            assert same(before, learned_part(player, state))
        assert not (decision.kept and not decision.size < math.inf)
    assert is_finite(player.predict(state))


def fuzzed(examples):
    def decorate(test):
        test = given(players(), st.lists(rounds, min_size=1, max_size=12), st.sampled_from(LOSSES))(test)
        return settings(max_examples=examples, suppress_health_check=list(HealthCheck))(test)

    return decorate


@fuzzed(100)
@np.errstate(all="ignore")
def test_no_stream_makes_a_weight_nan_or_changes_the_learner_in_a_skipped_round(player, stream, loss):
    survives(player, stream, loss)


@pytest.mark.slow
@fuzzed(500)
@np.errstate(all="ignore")
def test_no_stream_does_that_in_many_examples(player, stream, loss):
    survives(player, stream, loss)


# -- cases found by hand


OVERFLOW = np.array([1e308, 1e308])
BY_RANGE = [hf.AdaHedge(), hf.EG(0.1), hf.learners.Clipped(hf.learners.Squint())]
OTHERS = [
    *(
        hf.OGD(hf.Ball(1.0)),
        hf.AdaFTRL(hf.Ball(1.0)),
        hf.learners.SoloFTRL(hf.Ball(1.0)),
        hf.AdaGrad(hf.Box(-1.0, 1.0)),
    ),
    *(hf.ONS(hf.Ball(1.0), 1.0), hf.learners.Clipped(hf.MetaGrad(hf.Ball(1.0))), hf.OnlineRidge(), hf.VAW()),
    *(
        hf.learners.Bounded(hf.learners.Clipped(hf.learners.FreeGrad()), hf.Ball(1.0)),
        hf.learners.DiagonalMetaGrad(hf.Box(-1.0, 1.0)),
    ),
]
MEASURED = [(learner, on) for learner in BY_RANGE for on in [*MEASURES, hf.measures.Range()]]
MEASURED += [(learner, on) for learner in OTHERS for on in MEASURES]


LARGE_NORM = hf.norms.Mahalanobis(np.diag([1e200, 1e200]))  # in its dual, 1e308 has size 1e208


@pytest.mark.parametrize("learner, on", MEASURED, ids=repr)
def test_a_gradient_that_overflows_is_unmeasured_with_every_measure(learner, on):
    """x and the slope are finite, their product is not."""
    rows = OVERFLOW, Sparse(np.array([0, 1]), OVERFLOW, 2)
    for norm, row in itertools.product([hf.norms.L1(), hf.norms.L2(), hf.norms.LInf(), LARGE_NORM], rows):
        guard = guarded(learner, *[hf.TopK(1)] * 3, norm=norm, on=on)
        for player in (hf.Filtered(learner, hf.TopK(1), norm, on), guard):
            state = player.init(2)
            for x in ([1.0, 0.0], [0.0, 1.0], [1.0, 0.5]):
                state, _ = player.observe(state, Round(1.0, np.array(x)))
            before = copy.deepcopy(state)
            state, decision = player.observe(state, Round(2.0, row))
            assert same(before, state)
            assert not decision.kept and not decision.size < math.inf and math.isnan(decision.threshold)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e308])
@pytest.mark.parametrize("learner", [hf.OnlineRidge(), hf.VAW(), hf.ScaleInvariant(), *SCALED], ids=repr)
def test_a_row_that_is_not_finite_is_not_learned_from_if_the_slope_is_0(learner, bad):
    player = hf.Filtered(learner, hf.Everything())
    state = player.init(2)
    for t in range(30):
        state, _ = player.observe(state, Round(1.0, np.array([1.0, t % 3]), 0.0))
    before = learned_part(player, state)
    state, decision = player.observe(state, Round(0.0, np.array([1.0, bad]), 0.0))
    if learner in SCALED and bad == 1e308:
        assert decision.kept and np.isfinite(values_of(player.predict(state).v)).all()  # clipped
    else:
        assert (
            not decision.kept and not decision.size < math.inf and same(before, learned_part(player, state))
        )


def test_an_infinite_target_is_unmeasured_even_if_the_slope_is_finite():
    for loss in (hf.Absolute(), hf.Huber(), hf.losses.Pinball(), hf.losses.EpsilonInsensitive()):
        player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), dim=1, compiled=False)
        for y in (math.inf, -math.inf):
            assert not player.learn([1.0], y, loss).size < math.inf
        assert player.predict().tolist() == [0.0]


def test_later_values_of_a_sparse_feature_are_kept_after_a_denormal_value():
    """The inverse of its size is infinite, which made every later value of the feature infinite."""
    player = hf.Filtered(hf.Scaled(hf.OGD(hf.Ball(1.0)), patience=1), hf.Everything())
    state = player.init(2)
    for value in (1e-310, 1.0, 1.0):
        state, decision = player.observe(state, Round(1.0, Sparse(np.array([0]), np.array([value]), 2)))
        assert decision.kept


@pytest.mark.slow  # compiles for long
@pytest.mark.parametrize(
    "player",
    [
        hf.Filtered(hf.AdaHedge(), hf.TopK(1), on=hf.measures.Range()),
        hf.Filtered(hf.AdaFTRL(hf.Ball(1.0)), hf.TopK(0), on=hf.Features()),
    ],
    ids=["range", "features"],
)
def test_compiled_games_skip_the_same_rounds(player):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 2)) < 0.3, rng.choice(ODD, (300, 2)), rng.standard_normal((300, 2)))
    y = np.where(rng.random(300) < 0.3, rng.choice(ODD, 300), 1.0)
    slow, fast = (
        hf.play(player, hf.Replay(X, y, hf.Linear()), compiled=compiled) for compiled in (False, True)
    )
    assert same(slow.sizes, fast.sizes) and same(slow.kept, fast.kept) and same(slow.final, fast.final)
    assert np.isfinite(fast.final).all() and 0 < fast.unmeasured_count < 300
    assert np.isfinite(fast.certificate(1).bounds).all()
