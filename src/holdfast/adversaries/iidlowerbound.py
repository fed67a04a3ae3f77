"""The adversary of the first lower bound (section 3.2, "Lower Bound with I.I.D. Losses")."""

from typing import Any

import numpy as np

from holdfast.adversaries import draws
from holdfast.adversaries.draws import check_budget, frozen, signs
from holdfast.adversaries.gradients import Gradients
from holdfast.domains import Interval
from holdfast.rule import rule


@rule
class IidLowerBound:
    """f_t(w) = G ξ_t w on [-W, W], where ξ_t is +1 or -1 with probability one half.

    No learner can predict ξ_t, so the mean loss of every learner is 0. Let ζ be another random sign. The
    outliers are those of the first k rounds with ξ_t ≠ ζ, and the comparator is u = -W ζ, which gains G W in
    each of the other first k rounds, about k/2 of them. All sizes are equal, so no filter finds the outliers.

    Parameters
    ----------
    k : int
        The largest number of outliers; on average half of it is used.
    rounds : int
        At least k.
    G, W : float
        The size of every gradient, and half the width D of the domain.
    seed : int
        For ξ and ζ.

    Attributes
    ----------
    zeta : float
        ζ.
    inliers : bool array
        S_ζ ∪ {k+1, ..., T}.
    comparator : array
        u.
    domain : Interval
        The domain of the learner.

    Guarantee
    ---------
    The expected robust regret of every learner is exactly D G k / 4 (`docs/math.md`, 3.4).

    Examples
    --------
    >>> coins = IidLowerBound(k=4, rounds=6, seed=3)
    >>> coins.stream.G[:, 0], coins.zeta
    (array([ 1., -1., -1., -1., -1.,  1.]), 1.0)
    >>> coins.inliers
    array([ True, False, False, False,  True,  True])
    >>> coins.comparator, coins.domain
    (array([-1.]), Interval(low=-1.0, high=1.0, dim=1))
    """

    k: int
    rounds: int
    G: float = 1.0
    W: float = 1.0
    seed: int = 0
    stream: Any = None
    zeta: Any = None
    inliers: Any = None
    comparator: Any = None
    domain: Any = None

    def check(self):
        check_budget(self.k, self.rounds)
        rng = np.random.default_rng(self.seed)
        xi, zeta = signs(rng, self.rounds), float(signs(rng, 1)[0])
        inliers = xi == zeta
        inliers[self.k :] = True
        return self._replace(
            stream=Gradients(self.G * xi[:, None]),
            zeta=zeta,
            inliers=frozen(inliers),
            comparator=frozen(np.array([-self.W * zeta])),
            domain=Interval(-self.W, self.W),
        )

    extent, start, reveal = draws.extent, draws.start, draws.reveal
