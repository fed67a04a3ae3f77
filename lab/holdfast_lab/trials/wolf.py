"""WoLF: ridge regression by a Kalman filter that gives a round less weight the larger its residual is."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import dot

_RATE = 0.01  # of the running residual
_FAR = 4.0  # residuals count up to this many running residuals


class WoLFState(NamedTuple):
    """Weights, their covariance over that of the noise, the mean absolute residual, and the rounds."""

    w: np.ndarray
    covariance: np.ndarray
    residual: float
    rounds: float


@rule
class WoLF:
    """The weighted-observation-likelihood filter, with inverse multiquadric weights; for squared losses.

    Restated from Duran-Martin, Altamirano, Shestopaloff, Sánchez-Betancourt, Knoblauch, Jones, Briol and
    Murphy, "Outlier-robust Kalman filtering through generalised Bayes" (ICML 2024, arXiv 2405.05646): the
    likelihood of a round with residual e is raised to the power c² / (c² + e²). In a linear model that is one
    factor in the Kalman update.

    Three things are ours, because a stream has no known units: c is in units of a running residual, old
    rounds are forgotten at a constant rate, and no variance exceeds the one at the start. The paper leaves
    labels to future work, so this is for numbers only.

    Guarantee: in the paper, a bounded influence of each single target. None on rows, none on regret.
    """

    cutoff: float
    forgetting: float = 0.999
    prior: float = 10.0

    def reads_rows(self):
        return True

    def init(self, dim):
        return WoLFState(np.zeros(dim), self.prior * np.eye(dim), 1.0, 0.0)

    def predict(self, state):
        return state.w

    def update(self, state, round):
        slope, x = round.slope, round.x
        w, P, dim = state.w, state.covariance, len(state.w)
        Px = np.zeros(dim)
        for i in range(dim):
            P[i] /= self.forgetting
            Px[i] = dot(P[i], x)
        e, c = -slope, self.cutoff * state.residual
        weight = c * c / (c * c + e * e)
        total = 1.0 / max(weight, 1e-300) + dot(x, Px)
        for i in range(dim):
            w[i] += Px[i] / total * e
            for j in range(i + 1):
                P[i, j] -= Px[i] * Px[j] / total
                P[j, i] = P[i, j]
        for i in range(dim):  # the variance of a column that does not vary would grow without end
            if P[i, i] > self.prior:
                shrink = math.sqrt(self.prior / P[i, i])
                P[i] *= shrink
                P[:, i] *= shrink
        rounds, far = state.rounds + 1.0, min(abs(e), _FAR * state.residual)
        residual = state.residual + max(1.0 / rounds, _RATE) * (far - state.residual)
        return WoLFState(w, P, max(residual, 1e-12), rounds)
