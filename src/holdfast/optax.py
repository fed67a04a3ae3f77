"""Optax: a wrapper that makes any gradient transformation skip the steps whose gradients are outliers.

Its filter has fixed shapes, so that it runs under jit.

>>> optimizer = guarded(optax.adamw(1e-3))  # doctest: +SKIP
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

try:
    import jax
    import jax.numpy as jnp
    import optax
except ImportError as error:
    raise ImportError("holdfast.optax needs Optax: pip install 'holdfast[optax]'") from error

from holdfast.audit import table_of_steps
from holdfast.filters.fixed_memory import budget_table
from holdfast.filters.topk import TopK
from holdfast.filters.topshare import TopShare
from holdfast.options import filter_for_training

__all__ = ["GuardedOptState", "audit_of", "guarded"]


class FilterState(NamedTuple):
    """One row for each size that is judged: its largest values, and how many are remembered."""

    largest: jax.Array  # of the last W to 2W steps, largest first
    recent: jax.Array  # of the current block of W steps
    seen: jax.Array  # the number of steps in `largest`
    seen_recently: jax.Array


class ArrayFilter:
    """The decisions of a core filter, with exact=True, about several sizes at once.

    At the end of a block of W steps the list of this block replaces the list of all that is remembered. The
    list is as long as the largest budget needs. Without a window the filter is a `TopK`, and needs no counts.
    """

    def __init__(self, rule: Any) -> None:
        self.slack, self.window = rule.slack, rule.window
        self.budgets = budget_table(rule)

    def init(self, parts: int) -> FilterState:
        empty, zero = jnp.zeros((parts, max(self.budgets) + 1)), jnp.zeros(parts, jnp.int32)
        return FilterState(empty, jnp.zeros_like(empty), zero, jnp.zeros_like(zero))

    def decide(self, state: FilterState, sizes: jax.Array) -> tuple[FilterState, jax.Array, jax.Array]:
        """The next state, the thresholds, and which sizes are kept.

        A size that is not finite is neither remembered nor kept.
        """
        largest, recent, seen, seen_recently = state
        sizes = sizes.astype(largest.dtype)
        finite = sizes < math.inf
        if self.window is not None:
            ends = finite & (seen_recently == self.window)
            largest, recent = (
                jnp.where(ends[:, None], recent, largest),
                jnp.where(ends[:, None], 0.0, recent),
            )
            seen, seen_recently = jnp.where(ends, seen_recently, seen), jnp.where(ends, 0, seen_recently)
            recent = jnp.where(finite[:, None], _with(recent, sizes), recent)
            seen, seen_recently = seen + finite, seen_recently + finite
        largest = jnp.where(finite[:, None], _with(largest, sizes), largest)
        budget = jnp.asarray(self.budgets)[jnp.minimum(seen, len(self.budgets) - 1)]
        thresholds = self.slack * jnp.take_along_axis(largest, budget[:, None], 1)[:, 0]
        kept = finite & (sizes <= thresholds)
        return FilterState(largest, recent, seen, seen_recently), jnp.where(finite, thresholds, jnp.nan), kept


def _with(lists: jax.Array, sizes: jax.Array) -> jax.Array:
    """The lists with one more size each: as long as before, largest first."""
    at = (lists >= sizes[:, None]).sum(1, keepdims=True)
    places = jnp.arange(lists.shape[1])
    return jnp.where(places < at, lists, jnp.where(places == at, sizes[:, None], jnp.roll(lists, 1, 1)))


class SkippedSteps(NamedTuple):
    """The last skipped steps, in the order of a ring: step n of them is in row n modulo the length."""

    places: jax.Array  # the number of the step, from 0, and the part that was judged
    figures: jax.Array  # its size and its threshold


class GuardedOptState(NamedTuple):
    """What `guarded` remembers, as arrays. `optax.tree.get(state, "skipped")` finds one inside of a chain."""

    kept: jax.Array  # how many steps were taken
    skipped: jax.Array
    last_kept: jax.Array  # of the last step: whether it was taken,
    last_size: jax.Array  # the size nearest to its threshold or beyond it,
    last_threshold: jax.Array  # and that threshold
    log: SkippedSteps  # `audit_of` reads it
    filter_state: FilterState
    inner_state: Any


def audit_of(state: Any) -> dict[str, list[Any]]:
    """The last skipped steps, up to `history` of them: a dict of columns, for `pandas.DataFrame` too.

    The columns are those of every audit. `column` is the index of the array, in the order of
    `jax.tree.leaves`, with per="tensor". Steps of the warm-up are in the table. Not for use inside of jit: it
    waits for the device.

    Parameters:
        state: A `GuardedOptState`, or a state that has one somewhere inside, such as that of a chain.
    """
    leaves = jax.tree.leaves(state, is_leaf=lambda part: isinstance(part, GuardedOptState))
    found = [part for part in leaves if isinstance(part, GuardedOptState)]
    if len(found) != 1:
        raise ValueError(f"the audit is that of one GuardedOptState: {len(found)} are in this state")
    (guard,) = found
    if guard.skipped.ndim > 0:
        raise ValueError(
            f"this is the state of {guard.skipped.shape} optimizers: take that of one, such as "
            "jax.tree.map(lambda array: array[0], state)"
        )
    skipped, history = int(guard.skipped), len(guard.log.places)
    rows = [n % history for n in range(max(skipped - history, 0), skipped)]
    places, figures = np.asarray(guard.log.places)[rows], np.asarray(guard.log.figures, float)[rows]
    together = guard.filter_state.largest.shape[0] == 1
    columns = ["" if together else str(part) for part in places[:, 1].tolist()]
    steps, sizes, thresholds = places[:, 0].tolist(), figures[:, 0].tolist(), figures[:, 1].tolist()
    return table_of_steps(("gradient",), steps, [0] * len(steps), sizes, thresholds, columns)


def guarded(
    inner: optax.GradientTransformation,
    outliers: float | TopK | TopShare = 0.1,
    window: int | None = 1000,
    *,
    slack: float = 2.0,
    per: Literal["all", "tensor"] = "all",
    history: int = 100,
) -> optax.GradientTransformationExtraArgs:
    """Make a gradient transformation skip the steps whose gradients are outliers.

    A step is taken if the Euclidean norm of the gradients is at most `slack` times the (k+1)-th largest norm
    of the last `window` to 2 `window` steps, where k of them may be outliers. On a skip the updates are zeros
    and the inner state stays as it is. Gradients with NaN or infinity are skipped and not remembered. The
    first steps are skipped until there are more norms than possible outliers.

    Everything is an array operation: it runs under jit, scan, vmap and pmap, without a callback to the host.
    All that moves weights must be inside, weight decay too. Average the gradients over the devices before.

    Parameters:
        inner: What takes the step: an optimizer, or a chain.
        outliers (float, int or filter): The share of steps that may be bad, if below 1; how many of them may
            be, otherwise; or a `TopK` or `TopShare` of holdfast. The default of 0.1 leaves out at least the
            first four steps, and at most 256 after a lasting rise of all norms; 0.01 the first one, and 40.
        window: The memory in steps. Norms shrink during training, and a memory without end (None) would let
            every late spike pass.
        slack: How much larger than usual a norm may be.
        per: What is measured: all gradients together, or each array. One bad array skips the whole step.
        history: The number of last skipped steps that `audit_of(state)` can tell of.

    Returns:
        optax.GradientTransformationExtraArgs: Its state is a `GuardedOptState`. Extra arguments go to
            `inner`.

    Guarantee: deep learning is not convex, so there is no bound on the regret. Theorem W still says which
    steps can be taken at all: if at most k_t of the remembered steps are outliers, no gradient larger than
    `slack` times the largest of the others, of the last two windows, ever moves a weight.

    >>> optimizer = guarded(optax.sgd(0.1), outliers=1)
    >>> params = jnp.array([1.0, -1.0])
    >>> state = optimizer.init(params)
    >>> for factor in (1.0, 1.0, 1e9, jnp.nan, 1.0):
    ...     updates, state = jax.jit(optimizer.update)(factor * params, state, params)
    ...     params = optax.apply_updates(params, updates)
    >>> int(state.kept), int(state.skipped), audit_of(state)["reason"]
    (2, 3, ['warm-up', 'gradient', 'not readable'])
    """
    if per not in ("all", "tensor"):
        raise ValueError(f'per must be "all" or "tensor": got {per!r}')
    count: Any = history
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"history counts skipped steps, at least 1: got {history!r}")
    if not isinstance(inner, optax.GradientTransformation):
        raise TypeError(f"guard an optax.GradientTransformation: got {inner!r}")
    memory = ArrayFilter(filter_for_training(outliers, window, slack))
    inner = optax.with_extra_args_support(inner)

    def init(params: Any) -> GuardedOptState:
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
            log=SkippedSteps(jnp.zeros((history, 2), jnp.int32), jnp.zeros((history, 2), nothing.dtype)),
            filter_state=filter_state,
            inner_state=inner.init(params),
        )

    def update(
        updates: Any, state: GuardedOptState, params: Any = None, **extra_args: Any
    ) -> tuple[Any, GuardedOptState]:
        dtype = state.filter_state.largest.dtype
        sizes = _sizes(_real(updates), dtype, together=per == "all")
        filter_state, thresholds, kept = memory.decide(state.filter_state, sizes)
        keep = kept.all()

        def take() -> tuple[Any, Any]:
            return inner.update(updates, state.inner_state, params, **extra_args)

        def skip() -> tuple[Any, Any]:
            shapes, inner_shapes = jax.eval_shape(take)
            same = jax.tree.map(lambda old, new: old.astype(new.dtype), state.inner_state, inner_shapes)
            return jax.tree.map(lambda like: jnp.zeros(like.shape, like.dtype), shapes), same

        new_updates, inner_state = jax.lax.cond(keep, take, skip)
        worst = jnp.argmax(jnp.where(kept, jnp.nan_to_num(sizes / thresholds), jnp.inf))
        place = (jnp.stack([state.kept + state.skipped, worst.astype(jnp.int32)]), state.log.places)
        figures = (jnp.stack([sizes[worst], thresholds[worst]]), state.log.figures)
        row = state.skipped % history
        log = [old.at[row].set(jnp.where(keep, old[row], new)) for new, old in (place, figures)]
        return new_updates, GuardedOptState(
            kept=state.kept + keep,
            skipped=state.skipped + ~keep,
            last_kept=keep,
            last_size=sizes[worst],
            last_threshold=thresholds[worst],
            log=SkippedSteps(*log),
            filter_state=filter_state,
            inner_state=inner_state,
        )

    return optax.GradientTransformationExtraArgs(init, update)


def _real(tree: Any) -> list[Any]:
    """The arrays that have a gradient; that of a whole number has the type float0."""
    return [leaf for leaf in jax.tree.leaves(tree) if leaf.dtype != jax.dtypes.float0]


def _sizes(gradients: Any, dtype: Any, together: bool) -> jax.Array:
    """The Euclidean norm of all gradients, or of each. Squares are of entries divided by the largest one."""
    entries = [jnp.abs(g).astype(dtype).ravel() for g in gradients] or [jnp.zeros(1, dtype)]
    largest = jnp.stack([jnp.max(e, initial=0.0) for e in entries])
    if together:
        largest = jnp.full_like(largest, largest.max())
    scale = jnp.where((largest > 0.0) & (largest < jnp.inf), largest, 1.0)
    squares = jnp.stack([jnp.square(e / s).sum() for e, s in zip(entries, scale, strict=True)])
    return scale[:1] * jnp.sqrt(squares.sum(keepdims=True)) if together else scale * jnp.sqrt(squares)
