"""Gradients of any size: what a learner does must not depend on whether their squares are floats."""

import numpy as np
import pytest
from samples import FORGETTING, LEARNERS
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.rounds import Round, after_round
from holdfast.vectors import values_of

DEPENDENT = (  # on the unit of the gradients
    *(
        hf.ONS,
        hf.OnlineRidge,
        hf.VAW,
        hf.learners.OnlineLogistic,
        hf.learners.RobustRidge,
    ),
    *(hf.EG, hf.ScaleInvariant, hf.learners.Bettors, hf.learners.Reserved),
)


def scale_free(learner):
    if isinstance(learner, DEPENDENT):
        return False
    if isinstance(learner, hf.OGD):
        return isinstance(learner.step, hf.learners.Adaptive)
    return not (isinstance(learner, hf.AdaGrad) and learner.ballast > 0.0)


def path(learner, scale, rounds=60):
    """The weights of a game, and the bound at its end in units of the scale."""
    rng = np.random.default_rng(0)
    state, weights = learner.init(2), []
    with np.errstate(all="ignore"):
        for t in range(rounds):
            g = rng.standard_normal(2) * (100.0 if t == 7 else 0.0 if t == 20 else 1.0)
            state = after_round(learner, state, Round(scale, g))
            weights.append(np.array(values_of(learner.predict(state))))
        has_bound = learner not in FORGETTING
        return np.array(weights), learner.bound(state, learner.domain.center(2)) / scale if has_bound else 0.0


@pytest.mark.parametrize("power", [-900, -500, 500, 900])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:70])
def test_a_game_in_other_units_is_the_same_game(learner, power):
    found, bound = path(learner, 2.0**power)
    assert np.isfinite(found).all()
    if scale_free(learner):
        expected, expected_bound = path(learner, 1.0)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-13)
        assert bound == pytest.approx(expected_bound, rel=1e-13)


SIZES = [1e-320, 1e-300, 1e-170, 1e-100, 1.0, 1e100, 1e160, 1e306]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("domain", [hf.Box(-1.0, 1.0), hf.Ball(1.0)], ids=repr)
def test_adagrad_keeps_its_bound_at_every_size(domain, size):
    """200 rounds of the same gradient: the regret, the bound and the theorem, in units of it."""
    adagrad = hf.AdaGrad(domain)
    state, regret = adagrad.init(1), 0.0
    for _ in range(200):
        regret += float(adagrad.predict(state)[0]) + 1.0
        state = after_round(adagrad, state, Round(size, np.ones(1)))
    theorem = 2.0 * np.sqrt(2.0 * 200.0)
    assert regret == pytest.approx(1.0)
    assert adagrad.bound(state, -np.ones(1)) / size == pytest.approx(theorem, rel=1e-4)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("radius", [1e-100, 1.0, 1e100])
def test_the_regret_of_ogd_is_at_most_its_bound_at_every_size(radius, size):
    ogd = hf.OGD(hf.Ball(radius))
    state, regret = ogd.init(1), 0.0
    for _ in range(200):
        regret += (float(ogd.predict(state)[0]) + radius) * size
        state = after_round(ogd, state, Round(size, np.ones(1)))
    assert regret <= ogd.bound(state, -np.ones(1)) * (1.0 + 1e-9)


def test_tiny_gradients_leave_no_trace_in_the_steps_of_larger_ones():
    """As with a saturated logistic loss, whose slopes are 1e-300 up to the first mistake."""
    adagrad = hf.AdaGrad(hf.Box(-1.0, 1.0))
    tiny, plain = adagrad.init(1), adagrad.init(1)
    for _ in range(9):
        tiny = after_round(adagrad, tiny, Round(-1e-300, np.ones(1)))
    plain.w[0] = 1.0
    assert tiny.w.tolist() == [1.0]
    for g in (0.7, -0.3, 0.2):
        round = Round(g, np.ones(1))
        tiny, plain = adagrad.update(tiny, round), adagrad.update(plain, round)
        assert tiny.w.tobytes() == plain.w.tobytes()


@pytest.mark.parametrize("sparse", [False, True])
def test_every_weight_has_a_range_of_its_own_and_both_worlds_the_same_bits(sparse):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 13)) * 10.0 ** rng.integers(-320, 300, (200, 13))
    X[rng.random(X.shape) < 0.4] = 0.0
    player = hf.Filtered(hf.AdaGrad(hf.Box(-1.0, 1.0)), hf.Everything(), norm=hf.norms.L1())
    rows = hf.Replay(csr_array(X) if sparse else X, np.ones(200), hf.Linear())
    interpreted, compiled = (hf.play(player, rows, keep=("iterates",), compiled=way) for way in (False, True))
    assert interpreted.iterates.tobytes() == compiled.iterates.tobytes()
    for i in range(13):  # each weight learns as it would alone
        alone = hf.play(player, hf.Gradients(X[:, i : i + 1]), keep=("iterates",), compiled=False)
        np.testing.assert_array_equal(interpreted.iterates[:, i], alone.iterates[:, 0])


@pytest.mark.parametrize(
    ("radius", "slope", "x"), [(1e200, 1.0, 1e-291), (1.0, 1e20, 1e-310), (1e200, 1e5, 5e-324)]
)
def test_weights_stay_finite_where_a_step_is_no_float_times_the_row(radius, slope, x):
    ogd = hf.OGD(hf.Ball(radius))
    state = after_round(ogd, ogd.init(2), Round(slope, np.array([x, 0.0])))
    assert np.isfinite(ogd.predict(state)).all()
