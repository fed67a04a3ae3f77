"""An adversary whose gradient always has the direction of the learner's weights."""

from typing import Any

import numpy as np

from holdfast.adversaries.draws import frozen
from holdfast.norms import euclidean
from holdfast.rule import rule
from holdfast.vectors import dot


@rule
class Contrarian:
    """Round t reveals f(w) = <w, g_t> with g_t = G w_t / ‖w_t‖: every prediction but 0 loses.

    The loss of w_t is G ‖w_t‖. If w_t is 0, the gradient is along the first axis. The adversary is adaptive:
    the gradient depends on w_t, which individual-sequence bounds allow and i.i.d. bounds do not.

    Parameters
    ----------
    rounds, dim : int
        The extent.
    G : float
        The size of every gradient.

    Attributes
    ----------
    inliers : bool array
        All rounds: there are no outliers.

    Guarantee
    ---------
    The regret against 0 is G Σ ‖w_t‖, and the learner's bound holds.

    Examples
    --------
    >>> contrarian = Contrarian(rounds=10, dim=2, G=5.0)
    >>> _, loss, slope, x = contrarian.reveal(contrarian.start(), 0, np.array([3.0, -4.0]))
    >>> loss, slope * x
    (25.0, array([ 3., -4.]))
    """

    rounds: int
    dim: int = 1
    G: float = 1.0
    inliers: Any = None

    def check(self):
        if self.rounds < 0 or self.dim < 1:
            raise ValueError(f"rounds and dim are counts: got {self.rounds} and {self.dim}")
        return self._replace(inliers=frozen(np.ones(self.rounds, bool)))

    def extent(self):
        return self.rounds, self.dim

    def start(self):
        return 0

    def reveal(self, state, t, w):
        length = euclidean(w)
        if length > 0.0:
            x = w / length
        else:
            x = np.zeros(self.dim)
            x[0] = 1.0
        return state, self.G * dot(w, x), self.G, x
