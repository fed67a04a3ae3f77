"""Rounds of other adversaries: some of a second one (Huber's ε-contamination, section 3.1), or weighted."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.protocols import Adversary, Row, Weights
from holdfast.rule import frozen, replaced, rule
from holdfast.vectors import add


class ContaminatedState(NamedTuple):
    inner: Any
    outer: Any
    x: np.ndarray  # a buffer for the row of the round


@rule
class Contaminated:
    """Round t is round t of `inner`, the paper's P, or with probability `share` round t of `outer`, its Q.

    Both can be any adversaries, also adaptive ones. The state of each changes only in its own rounds.

    Parameters:
        inner, outer (adversaries): P and Q, of equal extent.
        share: ε, the probability of an outlier.
        seed: For the M_t that choose between the two.

    Attributes:
        inliers (bool array): 𝒮*, the rounds with M_t = 0.

    Guarantee: Where P has gradients of size at most G, the corollary to the contamination lemma bounds the
    risk of the average (`docs/math.md`, 3.3): it tends to 4 ε D G / (1 - ε) for long streams, and for some P
    and Q the risk of every learner is at least ε D G / (2 (1 - ε)).

    >>> from holdfast.adversaries.gradients import Gradients
    >>> good, bad = Gradients(np.ones((8, 1))), Gradients(np.full((8, 1), -1e9))
    >>> mixed = Contaminated(good, bad, share=0.25, seed=1)
    >>> mixed.inliers
    array([ True,  True, False,  True,  True,  True,  True,  True])
    >>> mixed.reveal(mixed.start(), 2, np.ones(1))[1]
    -1000000000.0
    """

    inner: Adversary
    outer: Adversary
    share: float
    seed: int = 0
    inliers: Any = None

    def check(self) -> Any:
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"share is a probability: expected 0 <= share <= 1, got {self.share}")
        if self.inner.extent() != self.outer.extent():
            raise ValueError(
                "inner and outer must have the same number of rounds and dimensions: "
                f"got {self.inner.extent()} and {self.outer.extent()}"
            )
        rounds, _ = self.inner.extent()
        return replaced(self, inliers=frozen(np.random.default_rng(self.seed).random(rounds) >= self.share))

    def extent(self) -> tuple[int, int]:
        return self.inner.extent()

    def start(self: Any) -> Any:
        return ContaminatedState(self.inner.start(), self.outer.start(), np.zeros(self.extent()[1]))

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        inner, outer = state.inner, state.outer
        state.x[:] = (
            0.0  # compiled, all rows need one type, but P may have float32 or sparse rows and Q float64
        )
        if self.inliers[t]:
            inner, loss, slope, x = self.inner.reveal(inner, t, w)
            add(state.x, 1.0, x)
        else:
            outer, loss, slope, x_outer = self.outer.reveal(outer, t, w)
            add(state.x, 1.0, x_outer)
        return ContaminatedState(inner, outer, state.x), loss, slope, state.x


@rule
class Weighted:
    """Round t is round t of `inner`, with its loss times weights[t].

    Parameters:
        inner: Such as `Replay(X, y, Hinge())`.
        weights (array of shape (rounds,)): Finite, and at least 0. A round of weight 0 does not change the
            learner, but a filter counts its size, which is 0. Leave such a round out if it should not count.

    >>> from holdfast.adversaries import Replay
    >>> from holdfast.losses import Hinge
    >>> weighted = Weighted(Replay([[1.0, 2.0]], [1], Hinge()), [3.0])
    >>> _, loss, slope, x = weighted.reveal(weighted.start(), 0, [0.5, 0.0])
    >>> loss, slope, x.tolist()
    (1.5, -3.0, [1.0, 2.0])
    """

    inner: Adversary
    weights: np.ndarray

    def check(self) -> None:
        rounds = self.inner.extent()[0]
        if self.weights.shape != (rounds,):
            raise ValueError(
                f"weights must be {rounds} numbers, one for each round: got {self.weights.shape}"
            )
        if not (np.isfinite(self.weights) & (self.weights >= 0.0)).all():
            raise ValueError("weights must be finite and not negative")

    def extent(self) -> tuple[int, int]:
        return self.inner.extent()

    def start(self: Any) -> Any:
        return self.inner.start()

    def is_sparse(self: Any) -> bool:
        return self.inner.is_sparse()

    def expect(self: Any, t: int) -> None:
        self.inner.expect(t)

    def target_at(self: Any, t: int) -> float:
        return self.inner.target_at(t)

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        state, loss, slope, x = self.inner.reveal(state, t, w)
        weight = float(self.weights[t])
        return state, weight * loss, weight * slope, x
