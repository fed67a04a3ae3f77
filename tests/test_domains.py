"""Every domain: against a solver, the laws of projections, and extreme floats."""

import math
import pickle
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from samples import slow

from holdfast._compiled import call
from holdfast.domains import Ball, Box, Ellipsoid, Interval, L1Ball, Shifted, Simplex
from holdfast.norms import L1, L2, LInf, Lp, Mahalanobis
from holdfast.roles import Rule
from holdfast.vectors import dot, largest

C, SIDES = np.array([1.0, -2.0, 0.5]), np.array([0.0, 1.0, 2.0])
M = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 0.25]])
ROOT, Z = np.linalg.cholesky(M), cp.Variable(3)  # u' M⁻¹ u = ‖Z‖² for u = ROOT Z


class Case(NamedTuple):
    domain: Any
    constraints: Any  # the same set for cvxpy
    dim: int = 3


CASES = [
    Case(Ball(2.0), lambda u: [cp.norm2(u) <= 2]),
    Case(Ball(2.0, around=0.25), lambda u: [cp.norm2(u - 0.25) <= 2]),
    Case(Ball(0.5, around=C), lambda u: [cp.norm2(u - C) <= 0.5]),
    Case(L1Ball(1.5), lambda u: [cp.norm1(u) <= 1.5]),
    Case(L1Ball(1.5, around=C), lambda u: [cp.norm1(u - C) <= 1.5]),
    Case(Simplex(), lambda u: [u >= 0, cp.sum(u) == 1]),
    Case(Shifted(Simplex(), C), lambda u: [u - C >= 0, cp.sum(u - C) == 1]),
    Case(Box(-1.0, 2.0), lambda u: [u >= -1, u <= 2]),
    Case(Box(C, C + SIDES), lambda u: [u >= C, u <= C + SIDES]),
    Case(Box(C, 3.0), lambda u: [u >= C, u <= 3]),
    Case(Ellipsoid(M), lambda u: [u == ROOT @ Z, cp.norm2(Z) <= 1]),
    Case(Ellipsoid(M, around=C), lambda u: [u - C == ROOT @ Z, cp.norm2(Z) <= 1]),
    Case(Interval(-1.0, 2.0), lambda u: [u >= -1, u <= 2], dim=1),
    Case(Ball(2.0), lambda u: [cp.norm2(u) <= 2], dim=1),
    Case(L1Ball(2.0, around=[1.0]), lambda u: [cp.abs(u - 1) <= 2], dim=1),
    Case(Simplex(), lambda u: [u == 1], dim=1),
    Case(Ellipsoid([[4.0]]), lambda u: [cp.abs(u) <= 2], dim=1),
]

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.domain)[:22])
seeds = st.integers(0, 2**32 - 1)
scales = st.floats(-12.0, 12.0).map(lambda power: 10.0**power)


def point(dim, seed, scale):
    return scale * np.random.default_rng(seed).normal(size=dim)


def size(case):
    """The diameter of the domain plus its distance from 0: rounding errors are relative to it."""
    return case.domain.diameter(L2(), case.dim) + L2().of(case.domain.center(case.dim))


# -- against a solver and exact arithmetic


@every_case
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_projection_and_support_are_what_a_solver_finds(case, scale):
    w, u = point(case.dim, 7, scale), cp.Variable(case.dim)
    tight = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    cp.Problem(cp.Minimize(cp.sum_squares(u - w)), case.constraints(u)).solve(**tight)
    np.testing.assert_allclose(case.domain.project(w.copy()), u.value, atol=1e-6)
    best = cp.Problem(cp.Maximize(w @ u), case.constraints(u)).solve(**tight)
    assert case.domain.support(w) == pytest.approx(best, abs=1e-6 * scale)


@settings(deadline=None)
@given(w=arrays(np.float64, 4, elements=st.floats(-1e300, 1e300) | st.floats(-1.0, 1.0)))
def test_simplex_projection_is_exact_at_every_scale(w):
    exact = [Fraction(entry) for entry in w.tolist()]
    falling = sorted(exact, reverse=True)
    theta = max((sum(falling[:k]) - 1) / k for k in range(1, 5))
    expected = [float(max(entry - theta, 0)) for entry in exact]
    np.testing.assert_allclose(Simplex().project(w), expected, rtol=0.0, atol=2e-15)


@pytest.mark.parametrize("w", [[1.0] * 4, [0.5, 3e-3, 1e-5, 2e-6], [1e-3, 1e3, 1e-8, 1.0], [9e99] * 4])
def test_the_projection_onto_a_flat_ellipsoid_has_twelve_digits(w):
    getcontext().prec = 50
    squares = [Decimal(10) ** -power for power in (0, 4, 8, 12)]
    y, low, high = [Decimal(entry) for entry in w], Decimal(0), Decimal("1e101")
    for _ in range(600):  # bisection on the multiplier
        mu = (low + high) / 2
        outside = sum(s * (x / (s + mu)) ** 2 for s, x in zip(squares, y, strict=True)) > 1
        low, high = (mu, high) if outside else (low, mu)
    expected = [float(s * x / (s + mu)) for s, x in zip(squares, y, strict=True)]
    found = Ellipsoid(np.diag([float(s) for s in squares])).project(np.array(w))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-16)


# -- the laws of projections


@every_case
@settings(deadline=None, max_examples=30)
@given(seed=seeds, scale=scales)
def test_no_point_of_the_domain_is_on_the_far_side_of_the_projection(case, seed, scale):
    w = point(case.dim, seed, scale)
    nearest = case.domain.project(w.copy())
    step = w - nearest
    assert case.domain.contains(nearest)
    assert case.domain.support(step) - dot(step, nearest) <= 1e-11 * L2().of(step) * size(case)


@every_case
@settings(deadline=None, max_examples=30)
@given(seed=seeds, scale=scales, share=st.floats(0.0, 1.0))
def test_a_point_inside_does_not_change(case, seed, scale, share):
    edge = case.domain.project(point(case.dim, seed, scale))
    inside = share * edge + (1.0 - share) * case.domain.center(case.dim)
    for w in (edge, inside):
        again = w.copy()
        assert case.domain.contains(w)
        assert case.domain.project(again) is again
        if w is inside and isinstance(case.domain, Box | Interval):  # rounding may move it slightly outside
            np.testing.assert_allclose(again, w, rtol=1e-15, atol=1e-15)
        else:
            assert again.tobytes() == w.tobytes()


@every_case
@settings(deadline=None, max_examples=30)
@given(seed=seeds, scale=scales, apart=scales)
def test_projections_are_not_farther_apart_than_the_points(case, seed, scale, apart):
    a, b = point(case.dim, seed, scale), point(case.dim, seed + 1, apart)
    far = L2().of(a - b)
    assert L2().of(case.domain.project(a) - case.domain.project(b)) <= far * (1.0 + 1e-9) + 1e-11 * size(case)


@every_case
def test_points_well_outside_are_not_contained(case):
    for seed in range(20):
        w = point(case.dim, seed, 10.0)
        moved = L2().of(case.domain.project(w.copy()) - w)
        assert case.domain.contains(w) == (moved == 0.0)


# -- support, center, diameter


@every_case
def test_support_is_attained_and_never_exceeded(case):
    corners = [case.domain.project(point(case.dim, seed, 1e9)) for seed in range(50)]
    for seed in range(50):
        g = point(case.dim, seed, 1.0)
        assert case.domain.support(g) == pytest.approx(dot(corners[seed], g), rel=1e-6, abs=1e-6)
        assert max(dot(u, g) for u in corners) <= case.domain.support(g) + 1e-9


@every_case
def test_reaches_is_the_support_in_both_directions_and_a_magnitude(case):
    corners = np.array([case.domain.project(point(case.dim, seed, 1e9)) for seed in range(50)])
    for seed in range(20):
        g = point(case.dim, seed, 1.0)
        for up, down, size in (case.domain.reaches(g), Rule.reaches(case.domain, g)):
            assert up == pytest.approx(case.domain.support(g), rel=1e-13, abs=1e-13)
            assert down == pytest.approx(case.domain.support(-g), rel=1e-13, abs=1e-13)
            assert (np.abs(corners) @ np.abs(g)).max() <= size * (1.0 + 1e-9)


def test_a_small_entry_counts_beside_a_huge_one_of_a_fixed_weight():
    box = Box([0.0, -1e290], [0.0, 1e290])
    assert box.support(np.array([1e300, 1e-100])) == pytest.approx(1e190)
    assert Box(-1e290, 1e290).support(np.array([1e300, 1.0])) == math.inf
    assert Box([1e290, 1e290], [1e290, 1e290]).support(np.array([1e300, -1e300])) == 0.0


@every_case
def test_the_center_is_a_new_point_in_the_middle(case):
    center = case.domain.center(case.dim)
    assert center.dtype == np.float64 and case.domain.contains(center)
    case.domain.center(case.dim)[:] = math.nan
    np.testing.assert_array_equal(case.domain.center(case.dim), center)
    for seed in range(10 if "Simplex" not in str(case.domain) else 0):
        g = point(case.dim, seed, 1.0)
        ahead, behind = case.domain.support(g), case.domain.support(-g)
        assert ahead - dot(center, g) == pytest.approx(behind + dot(center, g))


NORMS = [L1(), L2(), LInf(), Lp(1.5), Lp(3.0), Mahalanobis(M)]
BOUNDS = {("Ellipsoid", "L1"), ("Ellipsoid", "Lp"), ("Box", "Mahalanobis")}  # NP-hard: only an upper bound


@pytest.mark.parametrize("case", CASES[:12], ids=lambda case: type(case.domain).__name__)
def test_diameter_is_the_distance_of_the_two_points_farthest_apart(case):
    rng = np.random.default_rng(5)
    ways = [*rng.normal(size=(1500, 3)), *np.eye(3), *(rng.choice([-1.0, 1.0], size=(8, 3)) + 1e-9)]
    pairs = [case.domain.project(1e7 * g) - case.domain.project(-1e7 * g) for g in ways]
    for norm in NORMS:
        found, claimed = max(norm.of(pair) for pair in pairs), case.domain.diameter(norm, 3)
        assert found <= claimed * (1.0 + 1e-9)
        body = getattr(case.domain, "domain", case.domain)
        if (type(body).__name__, type(norm).__name__) not in BOUNDS:
            assert found >= 0.995 * claimed


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
def test_diameter_is_exact_where_the_corners_are_known(norm):
    def widest(corners):
        return max(norm.of(a - b) for a in corners for b in corners)

    cube = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T
    assert Simplex().diameter(norm) == pytest.approx(widest(np.eye(3)), rel=1e-14)
    assert L1Ball(1.0).diameter(norm) == pytest.approx(widest([*np.eye(3), *-np.eye(3)]), rel=1e-14)
    box, exact = Box(C, C + SIDES).diameter(norm), widest(cube * SIDES)
    assert box == pytest.approx(exact, rel=1e-14) if norm != NORMS[-1] else exact <= box <= 1.2 * exact


def test_bounds_on_hard_diameters_are_exact_along_the_axes():
    diagonal = Mahalanobis(np.diag([1.0, 4.0, 9.0]))
    assert Box(0.0, 1.0).diameter(diagonal, 3) == pytest.approx(math.sqrt(14.0))
    assert Ellipsoid(np.eye(3)).diameter(L1()) == pytest.approx(2.0 * math.sqrt(3.0))


def test_diameter_needs_the_dimension_only_where_it_matters():
    assert Ball(1.0).diameter(L2()) == Ball(1.0).diameter(LInf()) == Ball(1.0).diameter(Lp(3.0)) == 2.0
    assert Ball(1.0, around=C).diameter(L1()) == Ball(1.0).diameter(L1(), dim=3)
    assert Simplex().diameter(L1()) == 2.0 and Simplex().diameter(L1(), dim=1) == 0.0
    for domain, norm in [(Ball(1.0), L1()), (Ball(1.0, around=2.0), Lp(1.5)), (Box(0.0, 1.0), L2())]:
        with pytest.raises(ValueError, match="pass dim="):
            domain.diameter(norm)


# -- extreme floats


@every_case
@pytest.mark.parametrize("scale", [1.7e308, 1e300, 1e155, 1e-155, 1e-300, 5e-324])
def test_any_finite_point_is_projected_to_a_finite_point_inside(case, scale):
    for w in ([1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, 0.5, 0.0], [0.0, 1e-3, -1.0]):
        w = scale * np.array(w[: case.dim])
        nearest = case.domain.project(w.copy())
        assert np.isfinite(nearest).all() and case.domain.contains(nearest)


@pytest.mark.parametrize("unit", [1e-290, 1e-140, 1e140, 1e280])
def test_domains_of_any_size_work_alike(unit):
    w = np.array([3.0, -4.0, 1.0])
    for make in (Ball, L1Ball, lambda unit: Box(-unit, unit), lambda unit: Ball(unit, around=C * unit)):
        expected = make(1.0).project(w.copy())
        np.testing.assert_allclose(make(unit).project(unit * w) / unit, expected, rtol=1e-13, atol=1e-15)
    for M_unit in (1e-280, 1e280):
        unit = math.sqrt(M_unit)
        expected = unit * Ellipsoid(M).project(w.copy())
        np.testing.assert_allclose(Ellipsoid(M_unit * M).project(unit * w), expected, rtol=1e-12)


@every_case
@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])
def test_a_point_that_is_not_finite_is_not_contained_and_does_not_raise(case, wild):
    w = np.array([0.1, 0.2, 0.3][: case.dim])
    w[0] = wild
    assert not case.domain.contains(w)
    assert case.domain.project(w) is w


def test_projections_are_right_in_many_dimensions():
    rng = np.random.default_rng(6)
    B = rng.normal(size=(100, 100))
    for domain, dim in [(Ball(1.0), 1000), (L1Ball(9.0), 1000), (Simplex(), 1000), (Ellipsoid(B @ B.T), 100)]:
        for w in (rng.normal(size=dim), 1.0 + 1e-3 * rng.normal(size=dim)):
            nearest = domain.project(w.copy())
            step = w - nearest
            assert domain.contains(nearest)
            assert domain.support(step) - dot(step, nearest) <= 1e-10 * L2().of(step) * domain.diameter(L2())


# -- compiled code, and errors


def answers(domain, norm, w, g):
    """The results of all methods of a domain for w and g."""
    inside, center = domain.contains(w), domain.center(len(w))
    bound, wide = domain.support(g), domain.diameter(norm, len(w))
    return inside, center, bound, domain.reaches(g), wide, domain.project(w)


@pytest.mark.parametrize("i", [0, *map(slow, (2, 3, 5, 9, 10))], ids=lambda i: type(CASES[i].domain).__name__)
def test_python_and_compiled_answers_have_the_same_bits(i):
    case = CASES[i]  # one of each kind: compiling is slow
    for seed, scale in enumerate([1e-300, 1e-3, 1.0, 30.0, 1e12, 1e300]):
        w, g = point(case.dim, seed, scale), point(case.dim, seed + 9, scale)
        expected = answers(case.domain, L2(), w.copy(), g)
        found = call(answers, case.domain, L2(), w.copy(), g)
        for one, other in zip(expected, found, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@every_case
def test_domains_survive_pickling(case):
    assert pickle.loads(pickle.dumps(case.domain)) == case.domain


def test_a_domain_around_a_point_other_than_0_is_shifted():
    assert type(Ball(1.0, around=0)) is Ball and Ball(1.0, around=0) == Ball(1.0)
    assert Ball(1.0, around=C) == Shifted(Ball(1.0), C)
    assert largest(Ball(1e-3, around=1e6).project(np.array([1e6, 2e6])) - [1e6, 1e6 + 1e-3]) <= 1e-9


@every_case
def test_domains_accept_their_own_dimension(case):
    case.domain.check_dim(case.dim)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Ball(0.0), "positive and finite, got 0.0"),
        (lambda: Ball(math.inf), "got inf"),
        (lambda: L1Ball(-1.0), "L1Ball: .* got -1.0"),
        (lambda: L1Ball(math.nan), "got nan"),
        (lambda: Ball(1.0, around=math.nan), "around must be finite"),
        (lambda: Ball(1.0, around=np.eye(2)), "number or a vector"),
        (lambda: Ball(1.0, around=[]), "number or a vector"),
        (lambda: Box(2.0, 1.0), "low must not exceed high"),
        (lambda: Box([0.0, 2.0], 1.0), "low must not exceed high"),
        (lambda: Box([0.0, 0.0], [1.0, 1.0, 1.0]), "one dimension"),
        (lambda: Box(-math.inf, 1.0), "low must be finite"),
        (lambda: Interval(2.0, 1.0), "low must not exceed high"),
        (lambda: Interval(0.0, 1.0, dim=2), "use Box"),
        (lambda: Ellipsoid(np.ones((2, 3))), "square"),
        (lambda: Ellipsoid(-np.eye(2)), "positive definite"),
        (lambda: Ellipsoid(np.eye(2), around=C), "2 by 2"),
        (lambda: Ball(1.0, around=C).check_dim(4), "around has 3 entries, but the vectors have 4"),
        (lambda: Box(C, 3.0).check_dim(4), "Box has dimension 3"),
        (lambda: Interval(0.0, 1.0).check_dim(2), "Interval has dimension 1"),
        (lambda: Ellipsoid(M).check_dim(2), "3 by 3"),
        (lambda: Ellipsoid(M, around=1.0).check_dim(2), "3 by 3"),
    ],
)
def test_wrong_parameters_are_refused_with_the_reason(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()
