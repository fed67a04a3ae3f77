"""Regret against its definition, best comparators against a grid, worst cases against all sets."""

import math

import numpy as np
import pytest
from equivalents import inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import LOSSES

import holdfast as hf
from holdfast.regret import (
    best_comparator,
    gradients_at,
    largest_size,
    linearised_regret,
    losses_of,
    robust_regret,
    worst_case,
)

KEEP = ("losses", "sizes", "thresholds", "kept", "products", "gradients", "iterates")
PLAYER = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(2))


def data(seed=0, rounds=80, dim=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, dim))
    y = np.where(rng.random(rounds) < 0.3, -1.0, 1.0) * np.sign(X[:, 0])
    inliers = rng.random(rounds) > 0.1
    X[~inliers] *= 100.0
    return X, y, inliers


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_best_comparator_beats_every_point_of_a_grid(loss):
    X, y, inliers = data()
    record = hf.play(PLAYER, hf.Replay(X, y, loss))
    u = best_comparator(record, inliers)
    assert hf.Ball(1.0).contains(u)
    mine = losses_of(record, u)[inliers].sum()
    for angle in np.linspace(0, 2 * math.pi, 24):
        for radius in (0.0, 0.3, 0.6, 1.0):
            other = radius * np.array([math.cos(angle), math.sin(angle)])
            assert mine <= losses_of(record, other)[inliers].sum() + 1e-4 * (1 + abs(mine))


@pytest.mark.parametrize(
    "domain",
    [
        hf.Ball(1.0),
        hf.Ball(0.5, around=[1.0, 2.0]),
        hf.Box([-1.0, 0.0], [1.0, 4.0]),
        hf.Simplex(),
        hf.domains.L1Ball(2.0),
        hf.domains.Ellipsoid([[4.0, 1.0], [1.0, 1.0]]),
    ],
    ids=repr,
)
def test_for_linear_losses_the_closed_form_and_the_solver_agree(domain):
    G = np.random.default_rng(0).standard_normal((40, 2)) + 0.3
    player = hf.Filtered(hf.OGD(domain), hf.TopK(2))
    closed = best_comparator(hf.play(player, hf.Gradients(G)))
    solved = best_comparator(hf.play(player, hf.Replay(G, np.ones(40), hf.Linear())))
    assert domain.contains(closed)
    assert closed @ G.sum(axis=0) == pytest.approx(solved @ G.sum(axis=0), rel=1e-5)
    assert closed @ G.sum(axis=0) == pytest.approx(-domain.support(-G.sum(axis=0)))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_linearised_regret_is_an_upper_bound(loss):
    X, y, inliers = data(1)
    record = hf.play(PLAYER, hf.Replay(X, y, loss), keep=KEEP)
    for u in ([0.0, 0.0], [0.6, -0.8], [-1.0, 0.0]):
        regret, linear = robust_regret(record, inliers, u), linearised_regret(record, inliers, u)
        assert regret <= linear + 1e-9 * (1 + abs(linear))
        assert linear <= linearised_regret(record, inliers) + 1e-9 * (1 + abs(linear))


def test_regret_agrees_with_its_definition():
    X, y, inliers = data(2)
    record, u = hf.play(PLAYER, hf.Replay(X, y, hf.Hinge()), keep=KEEP), np.array([0.3, 0.4])
    by_hand = sum(
        max(0, 1 - y[t] * (record.iterates[t] @ X[t])) - max(0, 1 - y[t] * (u @ X[t]))
        for t in np.flatnonzero(inliers)
    )
    assert robust_regret(record, inliers, u) == pytest.approx(by_hand)


def test_the_second_part_of_a_game_has_a_regret_of_its_own():
    X, y, _ = data(3)
    replay = hf.Replay(X, y, hf.Hinge())
    first = hf.play(PLAYER, replay, rounds=30, keep=KEEP)
    whole = hf.play(PLAYER, replay, keep=KEEP)
    second = hf.play(PLAYER, replay, after=first, keep=KEEP)
    u = [0.5, 0.5]
    parts = robust_regret(first, comparator=u) + robust_regret(second, comparator=u)
    assert parts == pytest.approx(robust_regret(whole, comparator=u))


entries = st.sampled_from([0.5, -0.5, 1.0, -1.0, 2.0, -3.0])


@settings(max_examples=40)
@given(st.lists(st.tuples(entries, entries), min_size=1, max_size=8), st.integers(0, 3))
def test_the_worst_case_is_the_worst_over_all_sets(stream, k):
    record = hf.play(PLAYER, hf.Gradients(np.array(stream)))
    worst = worst_case(record, k)
    budgets = np.full(len(stream), k)
    assert worst.exact
    assert worst.regret == pytest.approx(
        max(linearised_regret(record, S) for S in inlier_sets(len(stream), budgets))
    )
    assert worst.regret == pytest.approx(linearised_regret(record, worst.inliers, worst.comparator))
    assert (~worst.inliers).sum() <= k


@settings(max_examples=20)
@given(st.lists(entries, min_size=1, max_size=9), st.integers(0, 3))
def test_in_one_dimension_alternating_is_exact(stream, k):
    from holdfast import regret

    record = hf.play(
        hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.TopK(2)),
        hf.Gradients(np.array(stream)[:, None]),
    )
    exact, limit = worst_case(record, k).regret, regret._MAX_SETS
    regret._MAX_SETS = 0
    try:
        assert worst_case(record, k).regret == pytest.approx(exact)
        assert worst_case(record, k).exact
    finally:
        regret._MAX_SETS = limit


def test_in_more_dimensions_the_worst_case_is_marked_as_a_lower_bound():
    G = np.random.default_rng(0).standard_normal((300, 3))
    record = hf.play(PLAYER, hf.Gradients(G))
    worst = worst_case(record, 10)
    assert not worst.exact
    assert worst.regret >= linearised_regret(record)


def test_the_quantities_of_the_bounds_agree_with_their_definitions():
    X, y, inliers = data(4)
    record, u = hf.play(PLAYER, hf.Replay(X, y, hf.Squared()), keep=KEEP), np.array([0.3, -0.4])
    G = record.size[inliers].max()
    near = record.size <= 2 * G
    assert largest_size(record, inliers) == G
    at_u = np.linalg.norm((X @ u - y)[:, None] * X, axis=1)
    assert gradients_at(record, u, inliers) == pytest.approx(2 * G + at_u[near].max())


def test_rounds_without_a_finite_size_are_never_inliers():
    X, y, inliers = data(5)
    X[3, 0] = math.nan
    record = hf.play(PLAYER, hf.Replay(X, y, hf.Hinge()), keep=KEEP)
    assert math.isfinite(robust_regret(record, inliers | True, [0.0, 0.0]))
    assert math.isfinite(linearised_regret(record))


@pytest.mark.parametrize(
    "call, complaint",
    [
        (lambda r: robust_regret(r, inliers=[1, 0]), "True or False for each of the 4 rounds"),
        (lambda r: robust_regret(r, inliers=[True]), r"shape \(1,\)"),
        (lambda r: r.column("iterates"), "the record has no iterates"),
        (lambda r: robust_regret(r, comparator=[1.0]), "1 entries, but the rounds have 2"),
    ],
)
def test_a_missing_column_or_a_wrong_shape_is_reported(call, complaint):
    record = hf.play(PLAYER, hf.Gradients(np.ones((4, 2))))
    with pytest.raises(ValueError, match=complaint):
        call(record)


def test_a_loss_of_the_user_needs_a_comparator():
    class Odd(hf.Hinge):
        pass

    Odd.__module__ = "mine"
    record = hf.play(PLAYER, hf.Replay(np.ones((4, 2)), np.ones(4), Odd()), compiled=False)
    with pytest.raises(TypeError, match="give a comparator"):
        robust_regret(record)


@pytest.mark.parametrize("scale", [1e6, 1e15, 1e200])
def test_where_the_solver_fails_robust_regret_answers_or_says_what_to_do(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.sign(X[:, 0])
    X[5] *= scale
    record = hf.play(PLAYER, hf.Replay(X, y, hf.Logistic()), compiled=False)
    if scale == 1e6:
        assert robust_regret(record) > 0.0
    else:
        with pytest.raises(ValueError, match="mark rounds of such a size as outliers"):
            robust_regret(record)
    assert math.isfinite(robust_regret(record, inliers=np.arange(100) != 5))


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e200, 1e300])
def test_the_best_comparator_is_an_end_of_the_domain_at_every_scale(size):
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.Everything())
    record = hf.play(player, hf.Gradients(np.full((50, 1), size)), compiled=False)
    assert best_comparator(record)[0] == -1.0
