"""A guarded transformation takes the good steps as its inner one does, and a skipped one changes nothing."""

import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: make test-all installs it")
optax = pytest.importorskip("optax", reason="Optax is not installed: make test-all installs it")

import jax.numpy as jnp  # noqa: E402

from holdfast.optax import audit_of, guarded  # noqa: E402

PARAMS = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
FACTORS = [1.0, 1.1, 0.9, 1e6, 1.0, jnp.nan, jnp.inf, 1.0, 1e30, 1.2]
INNER = {
    "adamw": optax.adamw(0.1, weight_decay=0.1),
    "sgd": optax.sgd(0.1, momentum=0.9),
    "lion": optax.lion(0.1),
    "chain": optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale(-0.1)),
    "multi steps": optax.MultiSteps(optax.adam(0.1), 2).gradient_transformation(),
    "hyperparams": optax.inject_hyperparams(optax.adam)(0.1),
    "bfloat16 state": optax.adam(0.1, mu_dtype=jnp.bfloat16),
}


@jax.jit
def gradient(step, factor):
    keys = jax.random.split(jax.random.key(step))
    return {"w": factor * jax.random.normal(keys[0], (3, 2)), "b": factor * jax.random.normal(keys[1], (2,))}


def same(a, b):
    return jax.tree.structure(a) == jax.tree.structure(b) and all(
        (x == y).all() for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    )


@pytest.mark.parametrize("name", INNER)
def test_skipped_steps_leave_no_trace(name):
    inner, ours = INNER[name], guarded(INNER[name], outliers=2)
    step, free = jax.jit(ours.update), jax.jit(inner.update)
    params = others = PARAMS
    state, inner_state = ours.init(params), inner.init(params)
    for i, factor in enumerate(FACTORS):
        g = gradient(i, factor)
        updates, state = step(g, state, params)
        params = optax.apply_updates(params, updates)
        if state.last_kept:
            updates, inner_state = free(g, inner_state, others)
            others = optax.apply_updates(others, updates)
        assert same(state.inner_state, inner_state)
        assert same(params, others)
    assert (int(state.kept), int(state.skipped)) == (4, 6)


def test_one_step_in_ten_may_be_bad_if_nothing_is_said():
    """No bad step is taken, and no good one lost but the first ones."""
    bad = jax.random.uniform(jax.random.key(0), 400) < 0.1
    bad = bad.at[:10].set(False)
    optimizer = guarded(optax.sgd(1.0))

    def body(state, size):
        _, state = optimizer.update(size[None], state)
        return state, state.last_kept

    _, kept = jax.lax.scan(body, optimizer.init(jnp.zeros(1)), jnp.where(bad, 1e6, 1.0))
    assert (kept == ~bad.at[:4].set(True)).all()


def run(optimizer, factors):
    """All steps in one scan: the final state, and which steps were taken."""

    def body(state, factor_and_step):
        factor, i = factor_and_step
        _, state = optimizer.update(gradient(i, factor), state, PARAMS)
        return state, state.last_kept

    return jax.lax.scan(body, optimizer.init(PARAMS), (factors, jnp.arange(len(factors))))


def test_scan_vmap_and_pmap_decide_alike():
    optimizer = guarded(optax.adam(0.1), outliers=1, window=4)
    streams = jnp.array([FACTORS, FACTORS[::-1]])
    alone = jax.jit(lambda stream: run(optimizer, stream)[1])
    one_by_one = jnp.stack([alone(stream) for stream in streams])
    assert (jax.vmap(lambda s: run(optimizer, s)[1])(streams) == one_by_one).all()
    assert (jax.pmap(lambda s: run(optimizer, s)[1])(streams[:1]) == one_by_one[:1]).all()


def test_extra_arguments_reach_the_inner_transformation():
    inner = optax.contrib.reduce_on_plateau(factor=0.5, patience=1)
    ours = guarded(optax.chain(optax.sgd(1.0), inner), outliers=1)
    state, step = ours.init(PARAMS), jax.jit(ours.update)
    for i in range(5):
        _, state = step(gradient(i, 1.0), state, PARAMS, value=jnp.array(1.0))
    assert optax.tree.get(state, "scale") == 0.5**3  # of 4 steps that were taken, the first is the best


def test_it_works_inside_of_chains_and_tells_what_happened():
    optimizer = optax.chain(optax.identity(), guarded(optax.sgd(0.1), outliers=1))
    state, step = optimizer.init(PARAMS), jax.jit(optimizer.update)
    for i, factor in enumerate(FACTORS):
        _, state = step(gradient(i, factor), state, PARAMS)
    assert int(optax.tree.get(state, "skipped")) + int(optax.tree.get(state, "kept")) == len(FACTORS)
    assert float(optax.tree.get(state, "last_size")) <= float(optax.tree.get(state, "last_threshold"))


def test_a_spike_in_one_array_is_hidden_in_the_norm_of_all():
    params = {"large": jnp.zeros(1000), "small": jnp.zeros(2)}
    for per, caught in (("all", False), ("tensor", True)):
        optimizer = guarded(optax.sgd(0.1), outliers=1, per=per)
        state, step = optimizer.init(params), jax.jit(optimizer.update)
        for i in range(8):
            small = jnp.full(2, 20.0 if i == 7 else 1.0)
            _, state = step({"large": jnp.ones(1000), "small": small}, state, params)
        assert bool(state.last_kept) is not caught


def test_gradients_of_fewer_bits_are_measured_in_float32():
    params = jnp.zeros(4, jnp.bfloat16)
    optimizer = guarded(optax.adam(0.1), outliers=1)
    state, step = optimizer.init(params), jax.jit(optimizer.update)
    for factor in (1.0, 1.0, 1e30, 1.0):
        updates, state = step(jnp.full(4, factor, jnp.bfloat16), state, params)
    assert (int(state.kept), float(state.last_size)) == (2, 2.0)
    assert updates.dtype == jnp.bfloat16


def test_bad_settings_are_refused():
    for wrong in ({"outliers": 0}, {"outliers": 1.5}, {"per": "group"}):
        with pytest.raises(ValueError, match="got"):
            guarded(optax.sgd(0.1), **wrong)
    with pytest.raises(ValueError, match="window"):
        guarded(optax.sgd(0.1), outliers=0.01, window=None)
    with pytest.raises(TypeError, match="GradientTransformation"):
        guarded("adam")


def test_the_audit_is_found_in_a_chain_and_names_the_array():
    optimizer = optax.chain(optax.scale(1.0), guarded(optax.adam(0.1), outliers=1, per="tensor"))
    state, step = optimizer.init(PARAMS), jax.jit(optimizer.update)
    for i in range(8):
        g = gradient(i, 1.0)
        g["w" if i == 5 else "b"] *= 1e9 if i in (5, 6) else 1.0
        _, state = step(g, state, PARAMS)
    audit = audit_of(state)
    assert audit["step"] == [0, 5, 6] and audit["reason"] == ["warm-up", "gradient", "gradient"]
    assert audit["check"] == ["gradient"] * 3 and audit["column"][1:] == ["1", "0"]  # b is the first leaf
    assert all(size > limit for size, limit in zip(audit["size"], audit["threshold"], strict=True))


def test_an_audit_is_that_of_one_optimizer():
    optimizer = guarded(optax.sgd(0.1), outliers=1)
    with pytest.raises(ValueError, match="0 are in this state"):
        audit_of(optax.sgd(0.1).init(PARAMS))
    several = jax.vmap(lambda _: optimizer.init(PARAMS))(jnp.zeros(3))
    with pytest.raises(ValueError, match=r"\(3,\) optimizers"):
        audit_of(several)
    assert audit_of(jax.tree.map(lambda array: array[0], several))["step"] == []
    with pytest.raises(ValueError, match="history counts skipped steps"):
        guarded(optax.sgd(0.1), history=0)
