"""MetaGrad, full and diagonal, against its definition, and its regret against its bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners.minima import over_ball
from learners.trials import streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import learned, linear_ratio

FULL, FEW = (
    hf.learners.Clipped(hf.MetaGrad(hf.Ball(2.0), etas=6)),
    hf.learners.Clipped(hf.MetaGrad(hf.Ball(1.0), etas=2)),
)
DIAGONAL = hf.learners.DiagonalMetaGrad(hf.Box([-1.0, 0.0], [1.0, 4.0]), etas=8)


def slow_metagrad(G, radius, etas):
    """The definition in one dimension, where matrices are numbers, with gradients of one size."""
    eta, w, A, logs = (
        0.25 / radius / 2.0 ** np.arange(etas),
        np.zeros(etas),
        np.full(etas, radius**-2.0),
        np.zeros(etas),
    )
    prior, path = 1.0 / ((np.arange(etas) + 1.0) * (np.arange(etas) + 2.0)), [0.0]
    for g in G:
        y = eta * (w - path[-1]) * g
        logs -= y + y * y
        A += 2.0 * (eta * g) ** 2
        w = np.clip(w - eta * (1.0 + 2.0 * y) * g / A, -radius, radius)
        weight = prior * eta * np.exp(logs)
        path.append(weight @ w / weight.sum())
    return path[-1]


@pytest.mark.parametrize("learner", [FULL, hf.learners.DiagonalMetaGrad(hf.Box(-2.0, 2.0), etas=6)], ids=repr)
def test_the_weights_are_those_of_the_definition(learner):
    G = np.random.default_rng(0).choice([-1.0, 1.0, 1.0], 100)
    _, state = learned(learner, G[:, None])
    assert learner.predict(state) == pytest.approx(
        slow_metagrad(G[1:], 2.0, 6), abs=1e-9
    )  # the first is a hint


def test_a_round_of_the_full_one_is_newtons_step_for_each_eta_and_cvxpys_projection():
    G, full = np.random.default_rng(1).uniform(0.5, 2.0, (30, 3)), hf.MetaGrad(hf.Ball(5.0), etas=3)
    state, far = full.set_hint(full.init(3), 4.0), 0
    A, w = [np.eye(3) / 25.0 for _ in range(3)], np.zeros((3, 3))
    for g in G:
        product, g1 = full.predict(state) @ g / 4.0, g / 4.0
        state = full.update(state, Round(1.0, g))
        for j in range(3):
            eta = 0.05 / 2.0**j
            A[j] += 2.0 * eta**2 * np.outer(g1, g1)
            q = eta * (1.0 + 2.0 * eta * (w[j] @ g1 - product)) * g1
            v = w[j] - np.linalg.solve(A[j], q)
            w[j], far = over_ball(A[j], A[j] @ v, 5.0), far + int(np.linalg.norm(v) > 5.0)
            assert state.each[j] == pytest.approx(w[j], abs=1e-9)
    assert 3 < far < 87


@settings(max_examples=40)
@given(streams(rounds=12), st.sampled_from([FULL, FEW]))
def test_the_regret_is_at_most_its_bound(G, learner):
    assert linear_ratio(learner, G) <= 1.0 + 1e-9


@given(
    streams(rounds=30), st.sampled_from([DIAGONAL, hf.learners.DiagonalMetaGrad(hf.Box(-1.0, 1.0), etas=2)])
)
def test_and_so_is_that_of_the_diagonal_one(G, learner):
    assert linear_ratio(learner, G) <= 1.0 + 1e-9


@pytest.mark.parametrize("learner", [FULL, DIAGONAL], ids=["full", "diagonal"])
def test_easy_gradients_cost_little(learner):
    """All gradients are alike: the regret stays constant, where sqrt(T) grows by a factor of 20."""
    early, late = (ratio_free_regret(learner, np.ones((rounds, 2))) for rounds in (40, 400))
    assert late <= early + 5.0


def ratio_free_regret(learner, G):
    products, _ = learned(learner, G)
    return products + learner.domain.support(-G.sum(axis=0))


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("learner", [FULL, DIAGONAL], ids=["full", "diagonal"])
def test_it_learns_at_every_scale(learner, size):
    G = np.random.default_rng(2).standard_normal((15, 2)) + 0.3
    one, other = (learner.predict(learned(learner, scale * G)[1]) for scale in (1.0, size))
    assert one == pytest.approx(other, rel=1e-6)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: hf.MetaGrad(hf.Box(-1.0, 1.0)), r"balls, Ball\(radius\): got Box"),
        (lambda: hf.MetaGrad(hf.Ball(1.0), etas=0), "from 1 to 1000: got 0"),
        (lambda: hf.learners.DiagonalMetaGrad(hf.Ball(1.0)), r"Box\(low, high\): got Ball"),
        (lambda: hf.learners.DiagonalMetaGrad(hf.Box(-1.0, 1.0), etas=0), "from 1 to 1000: got 0"),
        (
            lambda: hf.Player(hf.Filtered(hf.MetaGrad(hf.Ball(1.0)), hf.TopK(1)), dim=2),
            r"write Clipped\(Meta",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        make()
