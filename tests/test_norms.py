"""Every norm: against its definition in sixty digits, and the inequalities of norms."""

import math
import pickle
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from holdfast._compiled import call
from holdfast.norms import L1, L2, LInf, Lp, Mahalanobis
from holdfast.vectors import dot

MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 0.25]])
NORMS = [L1(), L2(), LInf(), Lp(1.0), Lp(1.5), Lp(2.0), Lp(7.3), Lp(1e6), Lp(math.inf)]
NORMS += [Mahalanobis(MATRIX), Mahalanobis(MATRIX).dual()]

every_norm = pytest.mark.parametrize("norm", NORMS, ids=lambda norm: str(norm)[:12])
vectors = arrays(np.float64, 3, elements=st.floats(-1e6, 1e6))
wild_vectors = arrays(np.float64, 3, elements=st.floats(allow_nan=False, allow_infinity=False))

EXTREMES = [1e308, 1e200, 1e155, 1.0, 1e-155, 1e-200, 1e-308, 5e-324]


def definition(norm, x):
    """The norm of x in sixty digits, without overflow."""
    getcontext().prec = 60
    sizes = [abs(Decimal(float(entry))) for entry in x]
    if isinstance(norm, Mahalanobis):
        A = [[Decimal(entry) for entry in row] for row in norm.matrix.tolist()]
        y = [Decimal(float(entry)) for entry in x]
        return sum(A[i][j] * y[i] * y[j] for i in range(len(y)) for j in range(len(y))).sqrt()
    p = {L1: 1.0, L2: 2.0, LInf: math.inf}.get(type(norm)) or norm.p
    m = max(sizes)
    if m == 0 or p == math.inf:
        return m
    return m * sum((size / m) ** Decimal(p) for size in sizes) ** (1 / Decimal(p))


def about(size, exact):
    return math.isclose(size, float(exact), rel_tol=1e-13, abs_tol=1e-323)


# -- values


@every_norm
@settings(deadline=None, max_examples=50)
@given(x=vectors | wild_vectors)
def test_a_norm_is_its_definition_at_every_scale(norm, x):
    assert about(norm.of(x), definition(norm, x))


@pytest.mark.parametrize("dim", [1, 7, 8, 129, 1000])
def test_norms_agree_with_numpy_in_every_dimension(dim):
    x = np.random.default_rng(dim).normal(size=dim)
    for norm, order in [(L1(), 1), (L2(), 2), (LInf(), math.inf), (Lp(3.5), 3.5), (Lp(1.25), 1.25)]:
        assert math.isclose(norm.of(x), np.linalg.norm(x, order), rel_tol=1e-13)


@every_norm
@pytest.mark.parametrize("scale", EXTREMES)
def test_only_zero_has_size_zero_and_nothing_finite_has_size_nan(norm, scale):
    assert norm.of(np.zeros(3)) == 0.0
    for x in np.vstack([np.eye(3), np.ones(3), [1.0, -1.0, 0.5]]):
        assert 0.0 < norm.of(scale * x) <= math.inf


@every_norm
def test_infinity_gives_infinity_and_nan_gives_nan(norm):
    for infinite in ([math.inf, 1.0, 2.0], [0.0, -math.inf, math.inf], [1e308, -math.inf, 1e308]):
        assert norm.of(np.array(infinite)) == math.inf
    for unknown in ([math.nan, 1.0, 2.0], [0.0, math.inf, math.nan], [math.nan] * 3):
        assert math.isnan(norm.of(np.array(unknown)))


@every_norm
@pytest.mark.parametrize("scale", [1e30, 1.0, 1e-30, 1e-44])
def test_single_precision_is_measured_in_double(norm, scale):
    x = np.array([scale, -0.3 * scale, 0.7 * scale], dtype=np.float32)
    assert norm.of(x) == norm.of(x.astype(np.float64))
    assert type(norm.of(x)) is float


@pytest.mark.parametrize("norm", NORMS[:9], ids=str)
def test_an_empty_vector_has_size_zero(norm):
    assert norm.of(np.zeros(0)) == 0.0


def test_an_almost_flat_mahalanobis_norm_has_no_false_zeros():
    norm = Mahalanobis(np.array([[1.0, 1.0], [1.0, 1.0]]) + 1e-11 * np.eye(2))
    thin = np.array([1.0, -1.0])
    assert math.isclose(norm.of(thin), math.sqrt(2e-11), rel_tol=1e-4)
    assert norm.of(5e-324 * thin) > 0.0


# -- the laws of norms


@every_norm
@settings(deadline=None, max_examples=50)
@given(x=vectors, y=vectors, c=st.floats(-1e6, 1e6))
def test_homogeneity_and_triangle_inequality(norm, x, y, c):
    assert math.isclose(norm.of(c * x), abs(c) * norm.of(x), rel_tol=1e-9, abs_tol=1e-300)
    assert norm.of(x + y) <= (norm.of(x) + norm.of(y)) * (1.0 + 1e-9)


# -- duals


@every_norm
@settings(deadline=None, max_examples=50)
@given(x=vectors, y=vectors)
def test_hoelder(norm, x, y):
    slack = 1e-12 * L2().of(x) * L2().of(y) + 1e-300  # very small products have few digits
    assert abs(dot(x, y)) <= norm.of(x) * norm.dual().of(y) + slack


@pytest.mark.parametrize("norm", [norm for norm in NORMS if norm != Lp(1e6)], ids=lambda norm: str(norm)[:12])
@pytest.mark.parametrize("seed", range(5))
def test_hoelder_is_attained_by_the_gradient_of_the_norm(norm, seed):
    x, h = np.random.default_rng(seed).normal(size=3), 1e-6
    y = np.array([(norm.of(x + h * e) - norm.of(x - h * e)) / (2.0 * h) for e in np.eye(3)])
    assert math.isclose(dot(x, y), norm.of(x), rel_tol=1e-6)
    assert math.isclose(norm.dual().of(y), 1.0, rel_tol=1e-6)


@every_norm
@settings(deadline=None, max_examples=50)
@given(x=vectors)
def test_the_dual_of_the_dual_is_the_norm(norm, x):
    assert math.isclose(norm.dual().dual().of(x), norm.of(x), rel_tol=1e-9)


def test_the_duals_are_the_expected_norms():
    assert (L1().dual(), L2().dual(), LInf().dual()) == (LInf(), L2(), L1())
    assert (Lp(3).dual(), Lp(1).dual(), Lp(math.inf).dual()) == (Lp(1.5), Lp(math.inf), Lp(1))
    np.testing.assert_allclose(Mahalanobis(MATRIX).dual().matrix, np.linalg.inv(MATRIX), rtol=1e-12)
    assert Mahalanobis(MATRIX).dual().dual() == Mahalanobis(MATRIX)


# -- compiled code, and errors


def sizes(norm, x):
    return norm.of(x), norm.dual().of(x)


@every_norm
def test_python_and_compiled_sizes_have_the_same_bits(norm):
    rng = np.random.default_rng(3)
    rows = [scale * rng.normal(size=3) for scale in [*EXTREMES[1:], 0.0]]
    rows += [np.full(3, 1e308), np.array([math.inf, 1.0, 0.0])]
    if not isinstance(norm, Mahalanobis):
        rows += [rng.normal(size=dim) for dim in (1, 9, 130, 1001)]
    rows += [rng.normal(size=3).astype(np.float32)] if norm == L2() else []
    for x in rows:
        assert call(sizes, norm, x) == sizes(norm, x)


def test_python_and_compiled_norms_of_a_large_matrix_have_the_same_bits():
    rng = np.random.default_rng(4)
    B = rng.normal(size=(150, 150))
    norm, x = Mahalanobis(B @ B.T + np.eye(150)), rng.normal(size=150)
    assert call(sizes, norm, x) == sizes(norm, x)


@every_norm
def test_norms_survive_pickling(norm):
    assert pickle.loads(pickle.dumps(norm)) == norm


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Lp(0.5), "expected p >= 1, got 0.5"),
        (lambda: Lp(math.nan), "got nan"),
        (lambda: Mahalanobis([1.0, 2.0]), "square"),
        (lambda: Mahalanobis(np.ones((2, 3))), "square"),
        (lambda: Mahalanobis(np.zeros((0, 0))), "square"),
        (lambda: Mahalanobis(np.zeros((2, 2))), "not zero"),
        (lambda: Mahalanobis([[1.0, math.nan], [math.nan, 1.0]]), "finite"),
        (lambda: Mahalanobis([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (lambda: Mahalanobis([[1.0, 0.0], [0.0, -1.0]]), "positive definite"),
        (lambda: Mahalanobis([[1.0, 0.0], [0.0, 1e-13]]), "condition number"),
        (lambda: Mahalanobis(np.eye(3)).check_dim(4), "3 by 3"),
        (lambda: L1().over_ball(0), "pass dim="),
        (lambda: Lp(1.9).over_ball(0), "pass dim="),
    ],
)
def test_wrong_parameters_are_refused_with_the_reason(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()


@every_norm
def test_norms_accept_their_dimension(norm):
    norm.check_dim(3)
