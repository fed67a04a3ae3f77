"""The Vovk-Azoury-Warmuth forecaster: ridge regression that looks at the row before it predicts."""

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.cholesky import solved_below
from holdfast.learners.ridge import OnlineRidge, RidgeState, forget, rotate_round, with_cost
from holdfast.protocols import Domain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import ForecastWeights, add, dot


@rule
class VAW:
    """Predict x'A⁻¹ (sum of y x so far), where A = strength I + the sum of xx' with this row's already in it.

    That is the prediction of ridge regression, drawn towards 0 where the row is unlike all others. Its
    regret does not depend on its own residuals, only on the targets. All else is as in `OnlineRidge`.

    Parameters:
        strength: Of the regularisation.
        domain (Everywhere): There is no version of it for other domains.
        memory: As for `OnlineRidge`.

    Guarantee: For squared losses, regret against u at most strength ‖u‖² / 2 + ½ Σ y² x'A⁻¹x on the rounds
    learned from, at most strength ‖u‖² / 2 + dim max y² / 2 ln(1 + Σ ‖x‖² / (strength dim)) (`docs/math.md`,
    9.8). With a memory there is none.

    >>> from holdfast.vectors import dot
    >>> vaw, x = VAW(), np.ones(1)
    >>> state = vaw.init(dim=1)
    >>> for y in (4.0, 4.0, 4.0):
    ...     state = vaw.update(state, Round(slope=dot(vaw.predict(state), x) - y, x=x))
    >>> round(dot(vaw.predict(state), x), 9), round(vaw.bound(state, np.array([4.0])), 3)
    (2.4, 16.667)
    """

    strength: float = 1.0
    domain: Domain = Everywhere()
    memory: float | None = None

    check, needs, reads_rows = OnlineRidge.check, OnlineRidge.needs, OnlineRidge.reads_rows
    init, valid, reset, bound = OnlineRidge.init, OnlineRidge.valid, OnlineRidge.reset, OnlineRidge.bound

    def predict(self, state: RidgeState) -> Weights:
        return ForecastWeights(self, state)

    def forecast(self, state: RidgeState, x: Row) -> float:
        """What it predicts for a row."""
        row = np.zeros(len(state.w))
        add(row, 1.0, x)
        z = solved_below(state.root, row)
        return dot(state.w, x) / (1.0 + dot(z, z))

    def blind(self, state: RidgeState) -> Weights:
        """The weights of ridge regression, which do not depend on the row."""
        return state.w

    def update(self, state: RidgeState, round: Round) -> RidgeState:
        slope, x = round.slope, round.x
        y = self.forecast(state, x) - float(slope)
        forget(state, self.strength, self.memory)
        leverage = rotate_round(state, y, x)
        return with_cost(state, 0.5 * y * y * leverage)
