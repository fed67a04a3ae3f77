"""Proposition 9: i.i.d. features, filtered by their size, and losses that depend on x_t and w_t."""

from typing import Any

import numpy as np
import pytest
from theorems.trials import in_order, mean_and_error, played

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Pareto, QuantileStream, Uniform

D, X_P = 2.0, 1.0


@hf.rule
class Liar:
    """The target always has the sign opposite to the prediction."""

    X: np.ndarray
    loss: Any
    far: float

    def extent(self):
        return self.X.shape

    def start(self):
        return 0

    def reveal(self, state, t, w):
        x = self.X[t]
        z = np.dot(w, x)
        y = -self.far if z > 0.0 else self.far
        return state, self.loss.value(z, y), self.loss.slope(z, y), x


@pytest.mark.parametrize("ranks", ["bernstein", "binomial", "newsvendor"])
@pytest.mark.parametrize(
    ("loss", "far", "lipschitz"),
    [
        (hf.Hinge(), 1.0, 1.0),
        (hf.Logistic(), 1.0, 1.0),
        (hf.Huber(3.0), 1e9, 3.0),
        (hf.losses.Pinball(0.1), 5.0, 0.9),
    ],
    ids=repr,
)
def test_the_mean_regret_is_below_the_bound(ranks, loss, far, lipschitz):
    p, T, regrets = 0.8, 300, []
    quantile = hf.Quantile(p, horizon=T, ranks=ranks, exact=True)
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), quantile, on=hf.Features())
    for seed in range(15):
        stream = QuantileStream(p, T, 3, seed, X_P, Pareto(0.2) if seed % 2 else Uniform(1.0))
        record = played(player, Liar(stream.stream.G, loss, far))
        lengths = np.abs(stream.stream.G).max(axis=1)
        assert np.array_equal(record.size, lengths)  # the slope does not matter
        regrets.append(hf.regret.linearised_regret(record, stream.inliers))
    B = bounds.ogd(D, lipschitz * X_P, p * T)
    exact = bounds.theorem_8_exact(B, D, lipschitz * X_P, bounds.ranks(quantile, T), p)
    mean, error = mean_and_error(regrets)
    assert in_order(mean - 4.0 * error, exact, bounds.proposition_9(B, D, X_P, p, T, L=lipschitz))
    if lipschitz <= 1.0:
        assert in_order(exact, bounds.proposition_9_paper(B, D, X_P, p, T))


@hf.rule
class Shorter:
    """Gradients of at most `steepest` times i.i.d. sizes; direction and slope depend on w_t and t."""

    sizes: np.ndarray
    steepest: float

    def extent(self):
        return len(self.sizes), 2

    def start(self):
        return 0

    def reveal(self, state, t, w):
        length = np.sqrt(np.dot(w, w))
        direction = w / length if length > 0.0 else np.eye(2)[t % 2]
        slope, x = self.steepest * (1.0 - 0.5 * (t % 2)), self.sizes[t] * direction
        return state, slope * np.dot(w, x), slope, x


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_gradients_need_not_be_rows_but_only_be_no_longer(p):
    T, L, regrets = 300, 2.5, []
    quantile = hf.Quantile(p, horizon=T, exact=True)
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), quantile, on=hf.Features())
    for seed in range(15):
        stream = QuantileStream(p, T, 2, seed, X_P, Pareto(0.2))
        record = played(player, Shorter(np.abs(stream.stream.G).max(axis=1), L))
        regrets.append(hf.regret.linearised_regret(record, stream.inliers))
    B = bounds.ogd(D, L * X_P, p * T)
    exact = bounds.theorem_8_exact(B, D, L * X_P, bounds.ranks(quantile, T), p)
    mean, error = mean_and_error(regrets)
    assert in_order(mean - 4.0 * error, exact, bounds.proposition_9(B, D, X_P, p, T, L=L))
