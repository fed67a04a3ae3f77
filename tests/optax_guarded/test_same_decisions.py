"""The core filter, the guard of torch and that of Optax take the same decisions about the same gradients."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import TopK, TopShare

jax = pytest.importorskip("jax", reason="JAX is not installed: make test-all installs it")
optax = pytest.importorskip("optax", reason="Optax is not installed: make test-all installs it")
torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all installs it")

import jax.numpy as jnp  # noqa: E402

from holdfast.optax import audit_of, guarded  # noqa: E402
from holdfast.torch import guard  # noqa: E402

LENGTH = 100
RULES = [
    TopK(0),
    TopK(1, window=5),
    TopK(4),
    TopK(2, slack=1.3, window=20),
    TopShare(0.01, exact=True, window=30),
    TopShare(0.1, slack=1.1, exact=True, window=2),
    TopShare(0.4, slack=3.0, exact=True, window=40, patience=9),
]
SIZES = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 1e100, math.inf, math.nan]),
    st.floats(1e-100, 1e6),
    st.floats(0.5, 2.0),
)
RAMPS = st.tuples(st.floats(1.01, 3.0), st.integers(1, 60)).map(lambda t: [t[0] ** i for i in range(t[1])])
FALLS = st.tuples(st.floats(0.8, 0.99), st.integers(1, 60)).map(lambda t: [t[0] ** i for i in range(t[1])])
BURSTS = st.tuples(SIZES, st.integers(1, 20)).map(lambda t: [t[0]] * t[1])
STREAMS = st.lists(st.one_of(SIZES.map(lambda s: [s]), BURSTS, RAMPS, FALLS), max_size=30).map(
    lambda pieces: [size for piece in pieces for size in piece][:LENGTH]
)


def by_core(rule, sizes):
    state, kept = rule.init(1), []
    for size in sizes:
        state, _, keep = rule.decide(state, size)
        kept.append(keep)
    return kept


def by_torch(rule, sizes):
    p = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = guard(torch.optim.SGD([p], lr=1.0), outliers=rule, history=LENGTH)
    for size in sizes:
        p.grad = torch.tensor([-size], dtype=torch.float64)
        optimizer.step()
    skipped = set(optimizer.holdfast.audit()["step"])
    return [i not in skipped for i in range(len(sizes))]


def scan_of(rule):
    optimizer = guarded(optax.sgd(1.0), outliers=rule)

    def body(state, size):
        _, state = optimizer.update(-size[None], state)
        return state, state.last_kept

    return jax.jit(lambda sizes: jax.lax.scan(body, optimizer.init(jnp.zeros(1)), sizes)[1])


SCANS = {}


def by_optax(rule, sizes):
    with jax.enable_x64(True):
        scan = SCANS.setdefault(rule, scan_of(rule))
        padded = jnp.array(sizes + [math.nan] * (LENGTH - len(sizes)), jnp.float64)
        return scan(padded)[: len(sizes)].tolist()


@pytest.mark.parametrize("rule", RULES, ids=repr)
@settings(deadline=None, max_examples=15)
@given(sizes=STREAMS)
def test_all_three_decide_alike(rule, sizes):
    assert by_core(rule, sizes) == by_torch(rule, sizes) == by_optax(rule, sizes)


def test_both_audits_are_the_same_table():
    rng, p = np.random.default_rng(1), torch.nn.Parameter(torch.zeros(1, dtype=torch.float32))
    rule, sizes = RULES[3], rng.exponential(size=60) * np.where(rng.random(60) < 0.1, 1e6, 1.0)
    sizes[[0, 20, 41]] = 0.0, np.nan, np.inf
    theirs = guard(torch.optim.SGD([p], lr=1.0), outliers=rule, history=60)
    ours = guarded(optax.sgd(1.0), rule, history=7)
    state, update = ours.init(jnp.zeros(1)), jax.jit(ours.update)
    for size in sizes.astype(np.float32):
        p.grad = torch.tensor([size])
        theirs.step()
        _, state = update(jnp.array([size]), state)
    every, last = theirs.holdfast.audit(), audit_of(state)
    assert list(every) == list(last) and len(every["step"]) > len(last["step"]) == 7
    assert {"warm-up", "gradient", "not readable"} == set(every["reason"])
    for name, column in last.items():
        if name == "threshold":  # torch multiplies by the slack in double precision
            np.testing.assert_allclose(column, every[name][-7:], rtol=1e-6)
        else:
            np.testing.assert_array_equal(np.array(column), np.array(every[name][-7:]), err_msg=name)
