"""A player that tracks its own certificate, in O(k + d) memory."""

__all__ = ["Certified"]

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.protocols import Player, PlayerInDomain, Weights
from holdfast.roles import check_role
from holdfast.rounds import Round, Verdict
from holdfast.rule import rule
from holdfast.sketches.heap import is_heap, replace_top, replace_top_row
from holdfast.vectors import add, add_exactly, assign, dot

_EPS = 2.0**-53  # the relative error of a rounded sum, product, quotient or root
_MAX_ADDITIONS = 85  # in a sum of `holdfast.vectors` each term is in at most so many additions


class CompensatedSum(NamedTuple):
    """A running sum and its rounding error (Knuth's two-sum)."""

    value: float
    rest: float

    def plus(self, x: float) -> "CompensatedSum":
        after = self.value + x
        part = after - self.value
        return CompensatedSum(after, self.rest + ((self.value - (after - part)) + (x - part)))


class CertifiedState(NamedTuple):
    """The numbers for a certificate of at most k outliers. Pulls and pushes include the `allowance`."""

    inner: Any  # the state of the player
    rounds: int  # with a finite size
    kept: int
    products: CompensatedSum  # of <w, g> over the kept rounds
    gradients: np.ndarray  # the sum of g over the kept rounds
    rest: np.ndarray  # the rounding error of that sum
    magnitudes: float  # the sum of the magnitudes of `reaches` over the kept rounds
    pulls: np.ndarray  # a heap of the k largest pulls max_u <u - w, g> of kept rounds
    rows: np.ndarray  # a heap of the k+2 largest rounds: size, 1 if kept, push max_u <w - u, g>
    lost: CompensatedSum  # of the pushes of skipped rounds that are not in `rows`


def allowance(dim: int) -> float:
    """The largest rounding error of <w, g> and a support function together, relative to their magnitude.

    `reaches` of a domain returns that magnitude; `docs/math.md`, 8.1, counts the operations.
    """
    return (3 * min(dim, _MAX_ADDITIONS) + 32) * _EPS


@rule
class Certified:
    """Play like `player`, and track a certificate: a proved bound on the regret so far.

    Works with any filter and any learner with a bounded domain. A round takes a few more passes over the
    gradient. A certificate is never smaller than the exact regret, computed in rational arithmetic from the
    weights and gradients of the run: sums are compensated, and other rounding errors have an allowance.

    Parameters:
        player (Filtered): Whose run it is about.
        k: The largest number of outliers for a certificate; `record.certificate(k)` takes any k up to this.

    Guarantee: `docs/math.md`, Theorem B and Lemma 8.1: for every set of at most k outliers, in floats.

    >>> import holdfast as hf
    >>> player = hf.Player(Certified(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), k=1), dim=1)
    >>> for g in [1.0, -1.0] * 500 + [1e9]:
    ...     verdict = player.observe([g])
    >>> player.certificate(k=1).sizes.tolist(), round(player.certificate(k=1).bound)
    ([1000000000.0, 1.0], 45)
    """

    player: Player
    k: int

    def check(self) -> None:
        player: Any = self.player
        if self.k < 0:
            raise ValueError(f"k counts outliers, so it cannot be negative: got {self.k}")
        check_role(player.core(), PlayerInDomain)
        require_bounded(player.core().learner.domain)

    def core(self: Any) -> Any:
        return self.player.core()

    def check_names(self: Any) -> tuple[str, ...]:
        return self.player.check_names()

    def check_dim(self: Any, dim: int) -> None:
        self.player.check_dim(dim)

    def init(self, dim: int) -> CertifiedState:
        rows = np.zeros((self.k + 2, 3))
        rows[:, 1] = 1.0  # no round was skipped yet
        nothing, sums, pulls = CompensatedSum(0.0, 0.0), (np.zeros(dim), np.zeros(dim)), np.zeros(self.k)
        return CertifiedState(self.player.init(dim), 0, 0, nothing, *sums, 0.0, pulls, rows, nothing)

    def valid(self, state: CertifiedState) -> bool:
        player: Any = self.player
        rows = state.rows
        flags = (rows[:, 1] == 0.0) | (rows[:, 1] == 1.0)
        heaps = is_heap(state.pulls, len(state.pulls)) and is_heap(rows[:, 0], len(rows))
        return heaps and bool(flags.all()) and 0 <= state.kept <= state.rounds and player.valid(state.inner)

    def reset(self, state: CertifiedState, dim: int) -> CertifiedState:
        player: Any = self.player
        assign(state.gradients, np.zeros(dim))
        assign(state.rest, np.zeros(dim))
        assign(state.pulls, np.zeros(self.k))
        for i in range(len(state.rows)):
            state.rows[i, 0], state.rows[i, 1], state.rows[i, 2] = 0.0, 1.0, 0.0
        inner = player.reset(state.inner, dim)
        nothing, sums = CompensatedSum(0.0, 0.0), (state.gradients, state.rest)
        return CertifiedState(inner, 0, 0, nothing, *sums, 0.0, state.pulls, state.rows, nothing)

    def to_lazy(self: Any, state: CertifiedState, summed: bool) -> CertifiedState:
        return state._replace(inner=self.player.to_lazy(state.inner, summed))

    def predict(self, state: CertifiedState) -> Weights:
        return self.player.predict(state.inner)

    def current_weights(self, state: CertifiedState) -> Weights:
        return self.player.current_weights(state.inner)

    def observe(self, state: CertifiedState, round: Round) -> tuple[CertifiedState, Verdict]:
        player: Any = self.player
        g = np.zeros(len(state.gradients))
        if round.slope != 0.0:
            add(g, round.slope, round.x)
        product = dot(player.predict(state.inner), g)  # before the update, which writes into the weights
        inner, verdict = player.observe(state.inner, round)
        size = verdict.sizes[-1]
        if not size < math.inf:
            return state, verdict
        up, down, magnitude = player.core().learner.domain.reaches(g)
        error = allowance(len(g)) * magnitude
        pull, push = max(up - product + error, 0.0), max(down + product + error, 0.0)
        kept, products, magnitudes, lost = state.kept, state.products, state.magnitudes, state.lost
        if verdict.kept:
            kept, products, magnitudes = kept + 1, products.plus(product), magnitudes + magnitude
            add_exactly(state.gradients, state.rest, g)
            if len(state.pulls) > 0 and pull > state.pulls[0]:
                replace_top(state.pulls, len(state.pulls), pull)
        rows = state.rows
        if size > rows[0, 0]:
            if rows[0, 1] == 0.0:  # the round that is dropped was skipped
                lost = lost.plus(float(rows[0, 2]))
            replace_top_row(rows, size, 1.0 if verdict.kept else 0.0, push)
        elif not verdict.kept:
            lost = lost.plus(push)
        sums = (products, state.gradients, state.rest, magnitudes)
        after = CertifiedState(inner, state.rounds + 1, kept, *sums, state.pulls, rows, lost)
        return after, verdict


def require_bounded(domain: Any) -> None:
    """Raise if a domain is unbounded: the regret against all its points has no bound."""
    if not domain.bounded():
        raise ValueError(
            f"a certificate compares with every u of the domain, but {domain!r} is unbounded: "
            "use a bounded one, such as Ball(radius), or say which u: record.certificate(k, "
            "comparators=Ball(radius))"
        )
