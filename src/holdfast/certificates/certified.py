"""A player that keeps the books for its own certificate, in O(k + d) memory."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.protocols import Player, PlayerInDomain
from holdfast.role_checks import check_role
from holdfast.rule import rule
from holdfast.sketches.heap import is_heap, replace_top, replace_top_row
from holdfast.vectors import add, add_exactly, assign, dot

_EPS = 2.0**-53  # the relative error of a rounded sum, product, quotient or root
_ADDED = 85  # no term of a sum of `holdfast.vectors` is in more additions than this, however long the sum


class SoloFTRLState(NamedTuple):
    """A running sum, and what rounding has lost of it (Knuth's two-sum)."""

    value: float
    rest: float

    def plus(self, x):
        after = self.value + x
        part = after - self.value
        return SoloFTRLState(after, self.rest + ((self.value - (after - part)) + (x - part)))


class CertifiedState(NamedTuple):
    """What a certificate for at most k outliers needs to know of the rounds so far."""

    inner: Any  # the player's own state
    rounds: int  # with a finite size
    kept: int
    products: SoloFTRLState  # of <w, g> over the kept rounds
    gradients: np.ndarray  # the sum of g over the kept rounds,
    rest: np.ndarray  # and what rounding has lost of it
    magnitudes: float  # the sum, over the kept rounds, of what rounding errors are counted in
    pulls: np.ndarray  # a heap of the k largest max_u <u - w, g> of kept rounds, rounding allowed for
    rows: np.ndarray  # a heap of the k+2 largest rounds: size, 1 if kept, max_u <w - u, g>, allowed for, too
    lost: SoloFTRLState  # of max_u <w - u, g> over the skipped rounds that are not in `rows`


def allowance(dim):
    """What <w, g> and a support function can be off together, in units of the magnitude that goes with them.

    The `reaches` of a domain has that magnitude; `docs/math.md`, 8.1, counts the operations.
    """
    return (3 * min(dim, _ADDED) + 32) * _EPS


@rule
class Certified:
    """Play as `player` does, and be able to prove at any time what the regret is at most.

    Works around any filter and any learner with a bounded domain, and costs a few passes over a gradient a
    round. No rounding error makes a certificate smaller than the exact regret of the run, as rational
    arithmetic would have it from the weights and gradients of the record: sums are compensated, and for what
    is rounded nevertheless there is an allowance.

    Parameters
    ----------
    player : Filtered
    k : int
        The most outliers a certificate will allow for; `record.certificate(k)` takes any k up to this.

    Guarantee
    ---------
    `docs/math.md`, Theorem B and Lemma 8.1: for every set of at most k outliers, in floats.

    Examples
    --------
    >>> import holdfast as hf
    >>> player = hf.Player(Certified(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), k=1), dim=1)
    >>> for g in [1.0, -1.0] * 500 + [1e9]:
    ...     decision = player.observe([g])
    >>> player.certificate(k=1).sizes.tolist(), round(player.certificate(k=1).bound)
    ([1000000000.0, 1.0], 45)
    """

    player: Player
    k: int

    def check(self):
        if self.k < 0:
            raise ValueError(f"k counts outliers, so it cannot be negative: got {self.k}")
        check_role(self.player.core(), PlayerInDomain)
        require_bounded(self.player.core().learner.domain)

    def core(self):
        return self.player.core()

    def check_dim(self, dim):
        self.player.check_dim(dim)

    def init(self, dim):
        rows = np.zeros((self.k + 2, 3))
        rows[:, 1] = 1.0  # nobody was skipped yet
        nothing, sums, pulls = SoloFTRLState(0.0, 0.0), (np.zeros(dim), np.zeros(dim)), np.zeros(self.k)
        return CertifiedState(self.player.init(dim), 0, 0, nothing, *sums, 0.0, pulls, rows, nothing)

    def valid(self, state):
        rows = state.rows
        flags = (rows[:, 1] == 0.0) | (rows[:, 1] == 1.0)
        heaps = is_heap(state.pulls, len(state.pulls)) and is_heap(rows[:, 0], len(rows))
        return (
            heaps and bool(flags.all()) and 0 <= state.kept <= state.rounds and self.player.valid(state.inner)
        )

    def reset(self, state, dim):
        assign(state.gradients, np.zeros(dim))
        assign(state.rest, np.zeros(dim))
        assign(state.pulls, np.zeros(self.k))
        for i in range(len(state.rows)):
            state.rows[i, 0], state.rows[i, 1], state.rows[i, 2] = 0.0, 1.0, 0.0
        inner = self.player.reset(state.inner, dim)
        nothing, sums = SoloFTRLState(0.0, 0.0), (state.gradients, state.rest)
        return CertifiedState(inner, 0, 0, nothing, *sums, 0.0, state.pulls, state.rows, nothing)

    def set_target(self, state, y):
        inner = self.player.set_target(state.inner, y)
        books = (state.rounds, state.kept, state.products, state.gradients, state.rest, state.magnitudes)
        return CertifiedState(inner, *books, state.pulls, state.rows, state.lost)

    def to_lazy(self, state, summed):
        return state._replace(inner=self.player.to_lazy(state.inner, summed))

    def predict(self, state):
        return self.player.predict(state.inner)

    def current_weights(self, state):
        return self.player.current_weights(state.inner)

    def observe(self, state, slope, x):
        g = np.zeros(len(state.gradients))
        if slope != 0.0:
            add(g, slope, x)
        product = dot(self.player.predict(state.inner), g)  # before the update, which writes into the weights
        inner, decision = self.player.observe(state.inner, slope, x)
        if not decision.size < math.inf:
            return state, decision
        up, down, magnitude = self.player.core().learner.domain.reaches(g)
        error = allowance(len(g)) * magnitude
        pull, push = max(up - product + error, 0.0), max(down + product + error, 0.0)
        kept, products, magnitudes, lost = state.kept, state.products, state.magnitudes, state.lost
        if decision.kept:
            kept, products, magnitudes = kept + 1, products.plus(product), magnitudes + magnitude
            add_exactly(state.gradients, state.rest, g)
            if len(state.pulls) > 0 and pull > state.pulls[0]:
                replace_top(state.pulls, len(state.pulls), pull)
        rows = state.rows
        if decision.size > rows[0, 0]:
            if rows[0, 1] == 0.0:  # the round that is dropped was skipped
                lost = lost.plus(float(rows[0, 2]))
            replace_top_row(rows, decision.size, 1.0 if decision.kept else 0.0, push)
        elif not decision.kept:
            lost = lost.plus(push)
        sums = (products, state.gradients, state.rest, magnitudes)
        after = CertifiedState(inner, state.rounds + 1, kept, *sums, state.pulls, rows, lost)
        return after, decision


def require_bounded(domain):
    """Raise if a domain has none: no regret is bounded against every u of it."""
    if not domain.bounded():
        raise ValueError(
            f"a certificate compares with every u of the domain, and {domain!r} has no end: "
            "learn in a bounded one, such as Ball(radius)"
        )
