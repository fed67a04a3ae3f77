"""A player that keeps the books for its own certificate, in O(k + d) memory."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.sketches.heap import is_heap, replace_top, replace_top_row
from holdfast.vectors import add, dot, refill


class Ledger(NamedTuple):
    """What a certificate for at most k outliers needs to know of the rounds so far."""

    inner: Any  # the player's own state
    rounds: int  # with a finite size
    kept: int
    products: float  # the sum of <w, g> over the kept rounds
    gradients: np.ndarray  # the sum of g over the kept rounds
    pulls: np.ndarray  # a heap of the k largest max_u <u - w, g> of kept rounds
    rows: np.ndarray  # a heap of the k+2 largest rounds: size, 1 if kept, max_u <w - u, g>
    lost: float  # the sum of max_u <w - u, g> over the skipped rounds that are not in `rows`


@rule
class Certified:
    """Play as `player` does, and be able to prove at any time what the regret is at most.

    Works around any filter and any learner with a bounded domain, and costs two support functions a round.

    Parameters
    ----------
    player : Filtered
    k : int
        The most outliers a certificate will allow for; `record.certificate(k)` takes any k up to this.

    Guarantee
    ---------
    `docs/math.md`, Theorem B: for every set of at most k outliers.

    Examples
    --------
    >>> import holdfast as hf
    >>> player = hf.Player(Certified(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), k=1), dim=1)
    >>> for g in [1.0, -1.0] * 500 + [1e9]:
    ...     decision = player.observe([g])
    >>> player.certificate(k=1).sizes.tolist(), round(player.certificate(k=1).bound)
    ([1000000000.0, 1.0], 45)
    """

    player: Any
    k: int

    def check(self):
        if self.k < 0:
            raise ValueError(f"k counts outliers, so it cannot be negative: got {self.k}")
        demand_bounds(getattr(self.player.core().learner, "domain", None))

    def core(self):
        return self.player.core()

    def fits(self, dim):
        self.player.fits(dim)

    def init(self, dim):
        rows = np.zeros((self.k + 2, 3))
        rows[:, 1] = 1.0  # nobody was skipped yet
        return Ledger(self.player.init(dim), 0, 0, 0.0, np.zeros(dim), np.zeros(self.k), rows, 0.0)

    def valid(self, state):
        rows = state.rows
        flags = (rows[:, 1] == 0.0) | (rows[:, 1] == 1.0)
        heaps = is_heap(state.pulls, len(state.pulls)) and is_heap(rows[:, 0], len(rows))
        return (
            heaps and bool(flags.all()) and 0 <= state.kept <= state.rounds and self.player.valid(state.inner)
        )

    def renewed(self, state, dim):
        refill(state.gradients, np.zeros(dim))
        refill(state.pulls, np.zeros(self.k))
        for i in range(len(state.rows)):
            state.rows[i, 0], state.rows[i, 1], state.rows[i, 2] = 0.0, 1.0, 0.0
        inner = self.player.renewed(state.inner, dim)
        return Ledger(inner, 0, 0, 0.0, state.gradients, state.pulls, state.rows, 0.0)

    def told(self, state, y):
        inner = self.player.told(state.inner, y)
        books = (state.rounds, state.kept, state.products, state.gradients, state.pulls, state.rows)
        return Ledger(inner, *books, state.lost)

    def lazily(self, state, summed):
        return state._replace(inner=self.player.lazily(state.inner, summed))

    def predict(self, state):
        return self.player.predict(state.inner)

    def learned(self, state):
        return self.player.learned(state.inner)

    def observe(self, state, slope, x):
        product = slope * dot(self.player.predict(state.inner), x)
        inner, decision = self.player.observe(state.inner, slope, x)
        if not decision.size < math.inf:
            return state, decision
        g = np.zeros(len(state.gradients))
        add(g, slope, x)
        domain = self.player.core().learner.domain
        pull, push = max(domain.support(g) - product, 0.0), max(domain.support(-g) + product, 0.0)
        kept, products, lost = state.kept, state.products, state.lost
        if decision.kept:
            kept, products = kept + 1, products + product
            add(state.gradients, 1.0, g)
            if len(state.pulls) > 0 and pull > state.pulls[0]:
                replace_top(state.pulls, len(state.pulls), pull)
        rows = state.rows
        if decision.size > rows[0, 0]:
            lost += float(
                (1.0 - rows[0, 1]) * rows[0, 2]
            )  # who has to go, if skipped, is now among the small
            replace_top_row(rows, decision.size, 1.0 if decision.kept else 0.0, push)
        elif not decision.kept:
            lost += push
        after = Ledger(inner, state.rounds + 1, kept, products, state.gradients, state.pulls, rows, lost)
        return after, decision


def demand_bounds(domain):
    """Raise if a domain has none: no regret is bounded against every u of it."""
    if domain is not None and not domain.bounded():
        raise ValueError(
            f"a certificate compares with every u of the domain, and {domain!r} has no end: "
            "learn in a bounded one, such as Ball(radius)"
        )
