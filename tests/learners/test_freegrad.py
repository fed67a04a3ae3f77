"""FreeGrad against its formula, hints and domains for it, and its regret against its bound."""

import math

import numpy as np
import pytest
from guards import guarded
from hypothesis import given
from hypothesis import strategies as st
from learners.trials import streams

import holdfast as hf
from holdfast.rounds import Round
from holdfast_lab.trials.ratios import learned, linear_ratio

FREE = hf.learners.Clipped(hf.learners.FreeGrad())
INSIDE = [
    hf.learners.Bounded(FREE, hf.Ball(1.0)),
    hf.learners.Clipped(hf.learners.Bounded(hf.learners.FreeGrad(0.1), hf.Box([-1.0, 2.0], [1.0, 4.0]))),
    hf.learners.Bounded(FREE, hf.Simplex()),
]


def test_the_weights_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    free = hf.learners.Clipped(hf.learners.FreeGrad(epsilon=0.3))
    state, total, squares, h1, h = free.init(2), np.zeros(2), 0.0, 0.0, 0.0
    for g in rng.standard_normal((100, 2)) * np.geomspace(1.0, 50.0, 100)[:, None] + 0.5:
        state, size = free.update(state, Round(1.0, g)), np.linalg.norm(g)
        g = g * min(1.0, h / size)
        total, squares, h = total + g, squares + g @ g, max(h, size)
        h1 = h1 or h
        V, G = h1**2 + squares, np.linalg.norm(total)
        w = -total * 0.3 * h1**2 * (2 * V + h * G) / (2 * (V + h * G) ** 2 * math.sqrt(V))
        assert free.predict(state) == pytest.approx(
            w * math.exp(G**2 / (2 * V + 2 * h * G)), rel=1e-9, abs=1e-12
        )


@given(streams())
def test_what_is_clipped_away_is_no_larger_than_the_largest_gradient(G):
    _, state = learned(FREE, G)
    most = max(map(hf.norms.L2().of, G))
    assert state.hint == most
    assert hf.norms.L2().of(state.left) <= most * (1.0 + 1e-9)


@given(streams())
def test_the_regret_is_at_most_its_bound(G):
    assert linear_ratio(FREE, G) <= 1.0 + 1e-9


@given(streams(), st.sampled_from(INSIDE))
def test_in_a_domain_too(G, learner):
    assert linear_ratio(learner, G) <= 1.0 + 1e-9


@given(streams(), st.sampled_from(INSIDE[:2]))
def test_the_surrogate_gradients_have_no_less_regret(G, learner):
    """Of the reduction itself, round by round: <g, w - u> is at most <surrogate, v - u>."""
    domain = learner.domain if isinstance(learner, hf.learners.Bounded) else learner.learner.domain
    rng, bounded = (
        np.random.default_rng(0),
        hf.learners.Bounded(hf.learners.SoloFTRL(hf.domains.Everywhere(), 0.1), domain),
    )
    state = bounded.init(2)
    for g in G:
        v, w = state.center + bounded.learner.predict(state.inner), state.w.copy()
        out = state.out
        assert out == pytest.approx(v - w, abs=1e-9 * (10.0 + np.abs(v).max()))
        far = np.linalg.norm(out)
        along = min(out @ g / far, 0.0) if far > 0.0 else 0.0
        surrogate = g - (along / far * out if far > 0.0 else 0.0)
        assert np.linalg.norm(surrogate) <= np.linalg.norm(g) * (1.0 + 1e-9)
        for u in (domain.project(10.0 * rng.standard_normal(2)) for _ in range(3)):
            assert g @ (w - u) <= surrogate @ (v - u) + 1e-9 * np.abs(g).sum() * (10.0 + np.abs(v).sum())
        state = bounded.update(state, Round(1.0, g))


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_it_learns_at_every_scale(size):
    G = np.random.default_rng(2).standard_normal((50, 2)) + 0.3
    one, other = (FREE.predict(learned(FREE, scale * G)[1]) for scale in (1.0, size))
    assert one == pytest.approx(other, rel=1e-6)


def test_a_thousand_gradients_alike_are_still_a_number():
    state = FREE.init(1)
    for _ in range(5000):
        state = FREE.update(state, Round(1.0, np.ones(1)))
    assert np.isfinite(FREE.predict(state)).all()


def test_without_hints_it_is_refused_before_the_game():
    with pytest.raises(TypeError, match=r"before it comes: write Clipped\(FreeGrad"):
        hf.Player(hf.Filtered(hf.learners.FreeGrad(), hf.TopK(1)), dim=1)
    for wrapped in (
        hf.Filtered(hf.Scaled(hf.learners.FreeGrad()), hf.TopK(1)),
        guarded(hf.learners.FreeGrad()),
    ):
        with pytest.raises(TypeError, match=r"write Clipped\(FreeGrad"):
            hf.Player(wrapped, dim=1)


def test_without_a_domain_there_is_no_certificate():
    with pytest.raises(ValueError, match="use a bounded one"):
        hf.Certified(hf.Filtered(FREE, hf.TopK(1)), k=1)
    record = hf.play(hf.Filtered(FREE, hf.TopK(1)), hf.Gradients(np.ones((5, 1))), compiled=False)
    with pytest.raises(ValueError, match="use a bounded one"):
        record.certificate(k=1)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: hf.learners.FreeGrad(epsilon=0.0), r"must be positive: got 0\.0"),
        (lambda: hf.learners.FreeGrad(domain=hf.Ball(1.0)), r"Bounded\(Clipped\(FreeGrad\(\)\), Ball"),
        (lambda: hf.learners.Clipped(hf.OGD(hf.Ball(1.0))), "OGD need not: use it as it is"),
        (lambda: hf.learners.Bounded(hf.OGD(hf.Ball(1.0)), hf.Ball(1.0)), "this one has one: OGD"),
        (lambda: hf.OGD(hf.domains.Everywhere()), "use a bounded domain"),
    ],
)
def test_combinations_without_meaning_are_refused(make, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        make()
