"""A gradient transformation that takes its inner one's step, or none."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from holdfast.filters.fixed_memory import filter_for_training
from holdfast.optax.array_filter import ArrayFilter, FilterState


class GuardedOptState(NamedTuple):
    """What `guarded` remembers, as arrays. `optax.tree.get(state, "skipped")` finds one inside of a chain."""

    kept: jax.Array  # how many steps were taken
    skipped: jax.Array
    last_kept: jax.Array  # of the last step: whether it was taken,
    last_size: jax.Array  # the size nearest to its threshold or beyond it,
    last_threshold: jax.Array  # and that threshold
    filter_state: FilterState
    inner_state: Any


def guarded(inner, outliers=0.01, window=1000, *, slack=2.0, per="all"):
    """Make a gradient transformation skip the steps whose gradients are outliers.

    A step is taken if the Euclidean norm of the gradients is at most `slack` times the (k+1)-th largest norm
    of the last `window` to 2 `window` steps, where k of them may be outliers. On a skip the updates are zeros
    and the inner state stays as it is. Gradients with NaN or infinity are skipped and not remembered. The
    first steps are skipped until there are more norms than possible outliers.

    Everything is an array operation: it runs under jit, scan, vmap and pmap, without a callback to the host.
    All that moves weights must be inside, weight decay too. Average the gradients over the devices before.

    Parameters
    ----------
    inner : optax.GradientTransformation
    outliers : float, int or filter
        The share of steps that may be bad, if below 1; how many of them may be, otherwise; or a `TopK` or
        `TopShare` of holdfast.
    window : int or None
        The memory in steps. Norms shrink during training, and a memory without end (None) would let every
        late spike pass.
    slack : float
        How much larger than usual a norm may be.
    per : "all" or "tensor"
        What is measured: all gradients together, or each array. One bad array skips the whole step.

    Returns
    -------
    optax.GradientTransformationExtraArgs
        Its state is a `GuardedOptState`. Extra arguments go to `inner`.

    Guarantee: deep learning is not convex, so there is no bound on the regret. Theorem W still says which
    steps can be taken at all: if at most k_t of the remembered steps are outliers, no gradient larger than
    `slack` times the largest of the others, of the last two windows, ever moves a weight.

    Examples
    --------
    >>> optimizer = guarded(optax.sgd(0.1), outliers=1)
    >>> params = jnp.array([1.0, -1.0])
    >>> state = optimizer.init(params)
    >>> for factor in (1.0, 1.0, 1e9, jnp.nan, 1.0):
    ...     updates, state = jax.jit(optimizer.update)(factor * params, state, params)
    ...     params = optax.apply_updates(params, updates)
    >>> int(state.kept), int(state.skipped)
    (2, 3)
    """
    if per not in ("all", "tensor"):
        raise ValueError(f'per must be "all" or "tensor": got {per!r}')
    if not isinstance(inner, optax.GradientTransformation):
        raise TypeError(f"guard an optax.GradientTransformation: got {inner!r}")
    memory = ArrayFilter(filter_for_training(outliers, window, slack))
    inner = optax.with_extra_args_support(inner)

    def init(params):
        parts = 1 if per == "all" else max(len(_real(params)), 1)
        filter_state = memory.init(parts)
        nothing = jnp.zeros((), filter_state.largest.dtype)
        # Separate arrays: a jitted step may reuse the memory of each of them.
        return GuardedOptState(
            kept=jnp.zeros((), jnp.int32),
            skipped=jnp.zeros((), jnp.int32),
            last_kept=jnp.zeros((), bool),
            last_size=nothing,
            last_threshold=jnp.zeros_like(nothing),
            filter_state=filter_state,
            inner_state=inner.init(params),
        )

    def update(updates, state, params=None, **extra_args):
        dtype = state.filter_state.largest.dtype
        sizes = _sizes(_real(updates), dtype, together=per == "all")
        filter_state, thresholds, kept = memory.decide(state.filter_state, sizes)
        keep = kept.all()

        def take():
            return inner.update(updates, state.inner_state, params, **extra_args)

        def skip():
            shapes, inner_shapes = jax.eval_shape(take)
            same = jax.tree.map(lambda old, new: old.astype(new.dtype), state.inner_state, inner_shapes)
            return jax.tree.map(lambda like: jnp.zeros(like.shape, like.dtype), shapes), same

        new_updates, inner_state = jax.lax.cond(keep, take, skip)
        worst = jnp.argmax(jnp.where(kept, jnp.nan_to_num(sizes / thresholds), jnp.inf))
        return new_updates, GuardedOptState(
            kept=state.kept + keep,
            skipped=state.skipped + ~keep,
            last_kept=keep,
            last_size=sizes[worst],
            last_threshold=thresholds[worst],
            filter_state=filter_state,
            inner_state=inner_state,
        )

    return optax.GradientTransformationExtraArgs(init, update)


def _real(tree):
    """The arrays that have a gradient; that of a whole number has the type float0."""
    return [leaf for leaf in jax.tree.leaves(tree) if leaf.dtype != jax.dtypes.float0]


def _sizes(gradients, dtype, together):
    """The Euclidean norm of all gradients, or of each. Squares are of entries divided by the largest one."""
    entries = [jnp.abs(g).astype(dtype).ravel() for g in gradients] or [jnp.zeros(1, dtype)]
    largest = jnp.stack([jnp.max(e, initial=0.0) for e in entries])
    if together:
        largest = jnp.full_like(largest, largest.max())
    scale = jnp.where((largest > 0.0) & (largest < jnp.inf), largest, 1.0)
    squares = jnp.stack([jnp.square(e / s).sum() for e, s in zip(entries, scale, strict=True)])
    return scale[:1] * jnp.sqrt(squares.sum(keepdims=True)) if together else scale * jnp.sqrt(squares)
