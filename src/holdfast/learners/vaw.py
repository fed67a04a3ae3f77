"""The Vovk-Azoury-Warmuth forecaster: ridge regression that looks at the row before it predicts."""

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.cholesky import solved_below
from holdfast.learners.needs import LOSS_FORM, Needs
from holdfast.learners.ridge import absorbed, begun_anew, check_ridge, first
from holdfast.protocols import Domain
from holdfast.rule import rule
from holdfast.vectors import ForecastWeights, add, dot


@rule
class VAW:
    """Predict x'A⁻¹ (sum of y x so far), where A = strength I + the sum of xx' with this row's already in it.

    That is the prediction of ridge regression, drawn towards 0 where the row is unlike all others. Its
    regret does not depend on its own residuals, only on the targets. `OnlineRidge` has the rest.

    Parameters
    ----------
    strength : float
        Of the regularisation.
    domain : Everywhere
        The only one it has.

    Guarantee
    ---------
    For squared losses, regret against u at most strength ‖u‖² / 2 + ½ Σ y² x'A⁻¹x on the rounds learned from,
    at most strength ‖u‖² / 2 + dim max y² / 2 ln(1 + Σ ‖x‖² / (strength dim)) (`docs/math.md`, 9.8).

    Examples
    --------
    >>> from holdfast.vectors import dot
    >>> vaw, x = VAW(), np.ones(1)
    >>> state = vaw.init(dim=1)
    >>> for y in (4.0, 4.0, 4.0):
    ...     state = vaw.update(state, slope=dot(vaw.predict(state), x) - y, x=x)
    >>> round(dot(vaw.predict(state), x), 9), round(vaw.bound(state, np.array([4.0])), 3)
    (2.4, 16.667)
    """

    strength: float = 1.0
    domain: Domain = Everywhere()

    def check(self):
        check_ridge(self)

    def reads_rows(self):
        return True

    def needs(self):
        return Needs("any", LOSS_FORM, "squared", True)

    def init(self, dim):
        return first(self.strength, dim)

    def reset(self, state, dim):
        return begun_anew(self.strength, state)

    def predict(self, state):
        return ForecastWeights(self, state)

    def forecast(self, state, x):
        """What it predicts for a row."""
        row = np.zeros(len(state.w))
        add(row, 1.0, x)
        z = solved_below(state.root, row)
        return dot(state.w, x) / (1.0 + dot(z, z))

    def blind(self, state):
        """Those of ridge regression, which do not know the row."""
        return state.w

    def update(self, state, slope, x):
        y = self.forecast(state, x) - float(slope)
        leverage = absorbed(state, y, x)
        return state.charged(0.5 * y * y * leverage)

    def bound(self, state, u):
        return 0.5 * self.strength * dot(u, u) + state.paid
