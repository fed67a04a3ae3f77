"""`TopK` and `TopShare` with a window, on JAX arrays of fixed shape."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from holdfast.filters.fixed_memory import budget_table


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

    def __init__(self, rule):
        self.slack, self.window = rule.slack, rule.window
        self.budgets = budget_table(rule)

    def init(self, parts):
        empty, zero = jnp.zeros((parts, max(self.budgets) + 1)), jnp.zeros(parts, jnp.int32)
        return FilterState(empty, jnp.zeros_like(empty), zero, jnp.zeros_like(zero))

    def decide(self, state, sizes):
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


def _with(lists, sizes):
    """The lists with one more size each: as long as before, largest first."""
    at = (lists >= sizes[:, None]).sum(1, keepdims=True)
    places = jnp.arange(lists.shape[1])
    return jnp.where(places < at, lists, jnp.where(places == at, sizes[:, None], jnp.roll(lists, 1, 1)))
