"""Theorem B in exact arithmetic: rounding never makes a certificate smaller than the regret."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import FILTERS

import holdfast as hf

KEEP = ("sizes", "kept", "products", "gradients", "iterates")
FIXED = hf.Box([-1.0, 0.5], [1.0, 0.5])
CORNERS = {
    hf.Box(-1.0, 2.0): [[-1.0, -1.0], [-1.0, 2.0], [2.0, -1.0], [2.0, 2.0]],
    FIXED: [[-1.0, 0.5], [1.0, 0.5]],
    hf.Simplex(): [[1.0, 0.0], [0.0, 1.0]],
}
values = st.sampled_from([0.0, 1.0, -1.0, 0.1, -0.3, 3.0, 1e16, -1e16, 1e-16, 1e-300, 1e300, -1e300, 5e-324])


def exact_regret(record, corners, k, size):
    """The largest regret over all u and all 𝒮 with sizes up to `size` and at most k outliers, exactly."""
    small = record.size <= size
    left, worst = k - int((np.isfinite(record.size) & ~small).sum()), None
    for u in corners:
        pairs = zip(record.iterates[small], record.gradients[small], strict=True)
        terms = [
            sum((Fraction(a) - Fraction(c)) * Fraction(b) for a, b, c in zip(w, g, u, strict=True))
            for w, g in pairs
        ]
        best = sorted(terms)[:left] if left > 0 else []
        regret = sum(terms, Fraction(0)) - sum((term for term in best if term < 0), Fraction(0))
        worst = regret if worst is None else max(worst, regret)
    return worst


def proves(player, domain, stream, k):
    game = hf.Gradients(stream)
    record = hf.play(player, game, keep=KEEP, compiled=False)
    certified = hf.play(hf.Certified(player, k), game, keep=(), compiled=False)
    for proof in (record.certificate(k), certified.certificate(k)):
        for size, bound in zip(proof.sizes, proof.bounds, strict=True):
            assert not np.isnan(bound)
            if bound < np.inf:
                assert exact_regret(record, CORNERS[domain], k, size) <= Fraction(float(bound)), (size, bound)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(values, values), min_size=1, max_size=10).map(np.array),
    st.sampled_from(FILTERS),
    st.sampled_from(list(CORNERS)),
    st.integers(0, 3),
)
def test_a_certificate_is_at_least_the_exact_regret(stream, filter, domain, k):
    proves(hf.Filtered(hf.OGD(domain), filter), domain, stream, k)


@pytest.mark.parametrize("k", [0, 1])
def test_it_holds_if_one_gradient_is_much_larger_than_the_others(k):
    """A fixed weight with one gradient of 1e16 and 2000 of 0.9."""
    stream = np.zeros((2001, 2))
    stream[0, 1], stream[1:, 1] = 1e16, 0.9
    stream[1:, 0] = np.where(np.arange(2000) % 2, 0.9, -0.9)
    proves(hf.Filtered(hf.OGD(FIXED), hf.Everything()), FIXED, stream, k)
