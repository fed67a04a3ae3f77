"""The paper's game, on [-1, 1]: a contestant in front of online gradient descent, and who plays against it.

Round t reveals the loss g_t w. Some rounds are outliers; the others are inliers. Robust regret is the loss on
the inliers, less that of the best fixed w on them. All contestants have the same learner behind them.
"""

import math
from typing import NamedTuple

import numpy as np

from holdfast_lab.gauntlet.optimizers import Gradients
from holdfast_lab.gauntlet.stepping import Stepper

SCALE = 30.0  # of all slopes: not 1, at which some rules clip by default
_SIZES = (0.1, 0.5, 0.9, 1.0, 1.9, 3.0, 10.0, 1e3, 1e9)  # of an outlier, over the largest inlier


class AdaptiveDescent:
    """w - 2 g / √(sum of g²), kept in [-1, 1]: it needs no scale, so that rules alone differ."""

    def __init__(self) -> None:
        self.w, self.squares = np.zeros(1), np.zeros(1)

    def step(self, gradients: Gradients, rate: float = 1.0) -> None:
        g = rate * float(gradients[0][0])
        self.squares[0] += g * g
        squares = float(self.squares[0])
        if 0.0 < squares < math.inf:
            self.w[0] = min(max(float(self.w[0]) - 2.0 * g / math.sqrt(squares), -1.0), 1.0)
        elif squares != 0.0:
            self.w[0] = math.nan

    def arrays(self) -> list[np.ndarray]:
        return [self.w, self.squares]

    def forget(self) -> None:
        self.squares[:] = 0.0


class Round(NamedTuple):
    """Slopes, and which of them are outliers."""

    slopes: np.ndarray
    outliers: np.ndarray


def regret(stepper: Stepper | None, game: Round) -> float:
    """Robust regret over G √T, with G the largest inlier; None is the oracle, who skips the outliers only."""
    learner = AdaptiveDescent()
    stepping = learner if stepper is None else stepper.make(learner, int(game.outliers.sum()))
    loss, total, inliers = 0.0, 0.0, ~game.outliers
    for g, inlier in zip(game.slopes.tolist(), inliers.tolist(), strict=True):
        if inlier:
            loss += g * float(learner.w[0])
            total += g
        if stepper is not None or inlier:
            stepping.step([np.array([SCALE * g])])
    largest = float(np.abs(game.slopes[inliers]).max(initial=0.0)) or 1.0
    found = (loss + abs(total)) / (largest * math.sqrt(len(game.slopes)))
    return found if math.isfinite(found) else math.inf


def coins(k: int, rounds: int, rng: np.random.Generator) -> Round:
    """Theorem 6: random signs, and those of the first k that differ from another random sign are outliers.

    Sizes differ a little: where all are equal, a rule of deviations divides by 0 and skips every round, which
    happens to be the best that one can do against coins.
    """
    slopes = rng.choice((-1.0, 1.0), rounds) * rng.uniform(0.9, 1.0, rounds)
    outliers = np.zeros(rounds, bool)
    outliers[:k] = np.sign(slopes[:k]) != rng.choice((-1.0, 1.0))
    return Round(slopes, outliers)


def pretenders(k: int, rounds: int, rng: np.random.Generator) -> Round:
    """Small inliers all along; outliers of growing size pull to the other side, and look like a new scale."""
    slopes = rng.uniform(0.5, 1.0, rounds)
    outliers = np.zeros(rounds, bool)
    outliers[rng.choice(np.arange(rounds // 4, rounds), k, replace=False)] = True
    slopes[outliers] *= -(1.9 ** np.arange(k))[:k].clip(max=1e12)
    return Round(slopes, outliers)


def awakening(k: int, rounds: int, rng: np.random.Generator) -> Round:
    """Inliers grow a hundredfold in the middle, and turn: who takes them for outliers learns nothing new."""
    slopes = rng.uniform(0.5, 1.0, rounds)
    slopes[rounds // 2 :] *= -100.0
    outliers = np.zeros(rounds, bool)
    some = rng.choice(np.arange(10, rounds // 2), k, replace=False)
    outliers[some] = True
    slopes[some] = 1e6 * rng.choice((-1.0, 1.0), k)
    return Round(slopes, outliers)


ADVERSARIES = {"coins": coins, "pretenders": pretenders, "awakening": awakening}


def climb(stepper: Stepper, k: int, rounds: int, budget: int, seed: int) -> tuple[float, float]:
    """Hill climbing: the game of `budget` tries with the largest regret beyond the oracle's; both regrets.

    A game is: the sign and the size of inliers in ten blocks, the place of outliers, their size and sign. A
    try changes some of these. The same tries of the random numbers for each contestant, but their successes
    differ: each meets what is worst for it.
    """
    rng = np.random.default_rng([seed, k])
    best, worth, regrets = _random_game(k, rng), -math.inf, (0.0, 0.0)
    for _ in range(budget):
        game = _mutated(best, rng) if worth > -math.inf else best
        played = _of_genes(game, rounds)
        mine, least = regret(stepper, played), regret(None, played)
        if mine - least > worth:
            best, worth, regrets = game, mine - least, (mine, least)
        if worth == math.inf:
            break
    return regrets


class Genes(NamedTuple):
    blocks: np.ndarray  # signed sizes of inliers in ten blocks
    places: np.ndarray  # of outliers, as shares of the rounds
    sizes: np.ndarray  # of outliers, signed, over the largest inlier so far


def _random_game(k: int, rng: np.random.Generator) -> Genes:
    return Genes(
        rng.choice((-1.0, 1.0), 10) * rng.uniform(0.2, 1.0, 10),
        rng.random(k),
        rng.choice((-1.0, 1.0), k) * rng.choice(_SIZES, k),
    )


def _mutated(genes: Genes, rng: np.random.Generator) -> Genes:
    other = _random_game(len(genes.places), rng)
    rate = rng.choice((0.1, 0.3, 1.0))
    return Genes(*(np.where(rng.random(len(a)) < rate, b, a) for a, b in zip(genes, other, strict=True)))


def _of_genes(genes: Genes, rounds: int) -> Round:
    slopes = np.repeat(genes.blocks, math.ceil(rounds / len(genes.blocks)))[:rounds].copy()
    outliers = np.zeros(rounds, bool)
    largest = np.maximum.accumulate(np.abs(slopes))
    places = (genes.places * rounds).astype(int)
    outliers[places] = True
    slopes[places] = genes.sizes * largest[places]
    return Round(slopes, outliers)
