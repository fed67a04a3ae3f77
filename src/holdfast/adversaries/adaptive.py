"""Adversaries that react to the weights of the learner."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.norms import euclidean
from holdfast.protocols import Adversary, Row, Weights
from holdfast.rule import frozen, replaced, rule
from holdfast.sketches.largest import Largest
from holdfast.vectors import dot

_BELOW = 1.0 - 1e-12  # to stay below the threshold after rounding


class ChaserState(NamedTuple):
    inner: Any
    sizes: Largest  # the same list as in the filter
    spent: int  # outliers so far
    inliers: np.ndarray  # false for outliers


@rule
class Chaser:
    """Play the rounds of another adversary, and k times reverse one, as large as `TopK(k)` will keep.

    It maintains the same list as the filter, so it can compute the largest size that would be kept next:
    `slack` times the k-th largest so far, which is the threshold once the outlier is in the list. It uses an
    outlier whenever the learner gains, ⟨w_t, g_t⟩ < 0: the linear loss with gradient -g_t, scaled to that
    size, which reverses the last steps. Sizes are Euclidean lengths of gradients, the default of `Filtered`.

    Parameters:
        inner: Its rounds are the inliers.
        k: The number of outliers, and the k of the filter.
        slack: The slack of the filter.

    Attributes: The inliers depend on the game. After it, `record.state[1].inliers` is their mask.

    Guarantee: Theorem 1 holds. There are at most k outliers, and none is larger than slack times G(𝒮).

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

    def check(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is the number of outliers, at least 1: got {self.k}")

    def extent(self) -> tuple[int, int]:
        return self.inner.extent()

    def start(self: Any) -> Any:
        rounds = self.extent()[0]
        return ChaserState(self.inner.start(), Largest(np.zeros(self.k + 1)), 0, np.ones(rounds, np.bool_))

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
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


def _second_smallest(heap: np.ndarray) -> float:
    return min(heap[1], heap[2]) if len(heap) > 2 else heap[1]


@rule
class Contrarian:
    """Round t reveals f(w) = <w, g_t> with g_t = G w_t / ‖w_t‖: every prediction but 0 loses.

    The loss of w_t is G ‖w_t‖. If w_t is 0, the gradient is along the first axis. The adversary is adaptive:
    the gradient depends on w_t, which individual-sequence bounds allow and i.i.d. bounds do not.

    Parameters:
        rounds, dim: The extent.
        G: The size of every gradient.

    Attributes:
        inliers (bool array): All rounds: there are no outliers.

    Guarantee: the regret against 0 is G Σ ‖w_t‖, and the learner's bound holds.

    >>> contrarian = Contrarian(rounds=10, dim=2, G=5.0)
    >>> _, loss, slope, x = contrarian.reveal(contrarian.start(), 0, np.array([3.0, -4.0]))
    >>> loss, slope * x
    (25.0, array([ 3., -4.]))
    """

    rounds: int
    dim: int = 1
    G: float = 1.0
    inliers: Any = None

    def check(self) -> Any:
        if self.rounds < 0 or self.dim < 1:
            raise ValueError(f"rounds and dim are counts: got {self.rounds} and {self.dim}")
        return replaced(self, inliers=frozen(np.ones(self.rounds, bool)))

    def extent(self) -> tuple[int, int]:
        return self.rounds, self.dim

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        length = euclidean(w)
        if length > 0.0:
            x = w / length
        else:
            x = np.zeros(self.dim)
            x[0] = 1.0
        return state, self.G * dot(w, x), self.G, x
