"""Huber's ε-contamination (section 3.1 of the paper): now and then, a round from somewhere else."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.adversaries.draws import frozen
from holdfast.protocols import Adversary
from holdfast.rule import rule
from holdfast.vectors import add


class ContaminatedState(NamedTuple):
    """Where the two adversaries stand, and room for the row of the round."""

    inner: Any
    outer: Any
    x: np.ndarray


@rule
class Contaminated:
    """Round t is that of `inner`, the P of the paper, or with probability `share` that of `outer`, its Q.

    Any two adversaries will do, adaptive ones too. Each is asked for its own round t, so that a share of 0
    or 1 plays just one of them; of the other's rounds it hears nothing.

    Parameters
    ----------
    inner, outer : adversaries
        P and Q, of equal extent.
    share : float
        ε, the probability of an outlier.
    seed : int
        For the M_t that pick between the two.

    Attributes
    ----------
    inliers : bool array
        𝒮*, the rounds with M_t = 0.

    Guarantee
    ---------
    Where P has gradients of size at most G, the corollary to the contamination lemma bounds the risk of the
    average (`docs/math.md`, 3.3): 4 ε D G / (1 - ε) remains however long the stream, and for some P and Q no
    learner gets below ε D G / (2 (1 - ε)).

    Examples
    --------
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

    def check(self):
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"share is a probability: expected 0 <= share <= 1, got {self.share}")
        if self.inner.extent() != self.outer.extent():
            raise ValueError(
                "inner and outer must have as many rounds and dimensions each: "
                f"got {self.inner.extent()} and {self.outer.extent()}"
            )
        rounds, _ = self.inner.extent()
        return self._replace(inliers=frozen(np.random.default_rng(self.seed).random(rounds) >= self.share))

    def extent(self):
        return self.inner.extent()

    def start(self):
        return ContaminatedState(self.inner.start(), self.outer.start(), np.zeros(self.extent()[1]))

    def reveal(self, state, t, w):
        inner, outer = state.inner, state.outer
        state.x[:] = 0.0  # the compiler wants one type of row: P may have float32 or sparse ones, Q float64
        if self.inliers[t]:
            inner, loss, slope, x = self.inner.reveal(inner, t, w)
            add(state.x, 1.0, x)
        else:
            outer, loss, slope, x_outer = self.outer.reveal(outer, t, w)
            add(state.x, 1.0, x_outer)
        return ContaminatedState(inner, outer, state.x), loss, slope, state.x
