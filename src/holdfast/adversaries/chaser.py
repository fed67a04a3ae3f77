"""The adversary that knows Algorithm 1 and stays just below its threshold."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.norms import euclidean
from holdfast.protocols import Adversary
from holdfast.rule import rule
from holdfast.sketches.largest import Largest
from holdfast.vectors import dot

_BELOW = 1.0 - 1e-12  # to stay below the threshold when the size is measured again


class ChaserState(NamedTuple):
    """Where the chase stands."""

    inner: Any
    sizes: Largest  # what the filter has in its own list
    spent: int
    inliers: np.ndarray  # false where an outlier was spent


@rule
class Chaser:
    """Plays another adversary's rounds, and k times turns one around, as large as `TopK(k)` will keep.

    It keeps the filter's list for itself, and so knows the largest size that would be kept next: `slack`
    times the k-th largest so far, for that is what the threshold will be once the outlier has joined the
    list. It strikes whenever the learner is ahead, ⟨w_t, g_t⟩ < 0: the outlier is then the linear loss with
    gradient -g_t, scaled to that size, which undoes what was learned. Sizes are Euclidean lengths of
    gradients, as in `Filtered` unless it was told otherwise.

    Parameters
    ----------
    inner : an adversary
        Whose rounds are the inliers.
    k : int
        The outliers to spend, and the k of the filter.
    slack : float
        That of the filter.

    Attributes
    ----------
    Who is an inlier is decided during the game: `record.state[1].inliers` tells after it, for as many rounds
    as were played.

    Guarantee
    ---------
    Theorem 1 holds, with at most k outliers, none of which is larger than slack times G(𝒮).

    Examples
    --------
    >>> from holdfast.adversaries.gradients import Gradients
    >>> chaser = Chaser(Gradients(np.ones((4, 1))), k=1)
    >>> state = chaser.start()
    >>> for t in range(4):
    ...     state, loss, slope, x = chaser.reveal(state, t, np.array([-0.5]))
    ...     print(f"{slope * x[0]:.1f}")
    1.0
    -2.0
    1.0
    1.0
    >>> state.inliers
    array([ True, False,  True,  True])
    """

    inner: Adversary
    k: int
    slack: float = 2.0

    def check(self):
        if self.k < 1:
            raise ValueError(f"k counts the outliers to spend, at least 1: got {self.k}")

    def extent(self):
        return self.inner.extent()

    def start(self):
        rounds = self.extent()[0]
        return ChaserState(self.inner.start(), Largest(np.zeros(self.k + 1)), 0, np.ones(rounds, np.bool_))

    def reveal(self, state, t, w):
        inner, loss, slope, x = self.inner.reveal(state.inner, t, w)
        size = abs(slope) * euclidean(x)
        allowed = self.slack * _second_smallest(state.sizes.heap) * _BELOW
        spent = state.spent
        if spent < self.k and allowed > 0.0 and slope * dot(w, x) < 0.0 and size < math.inf:
            slope = -slope * (allowed / size)
            loss = slope * dot(w, x)
            size = allowed
            state.inliers[t] = False
            spent += 1
        return ChaserState(inner, state.sizes.push(size), spent, state.inliers), loss, slope, x


def _second_smallest(heap):
    return min(heap[1], heap[2]) if len(heap) > 2 else heap[1]
