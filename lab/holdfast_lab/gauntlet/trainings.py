"""Small trainings: a network of 2,410 weights learns digits with AdamW, and some steps are bad."""

import functools
import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from holdfast_lab.gauntlet.optimizers import AdamW
from holdfast_lab.gauntlet.scores import Score, finite
from holdfast_lab.gauntlet.stepping import Stepper

BATCH, START = 64, 200  # rows of a step, and the step from which on something is bad


class TrainingScenario(NamedTuple):
    """What goes wrong in a training of 400 steps."""

    kind: str = "clean"
    steps: int = 400
    seed: int = 0

    @property
    def name(self) -> str:
        return f"training: {self.kind}" + (f", seed {self.seed}" if self.seed else "")

    @property
    def larger(self) -> bool:
        return self.kind in ("masking", "early spike", "large features", "infinite features", "spikes 5 %")


class Batch(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    factor: float = 1.0
    bad: bool = False


def spoil(kind: str, step: int, batch: Batch, rng: np.random.Generator) -> Batch:
    """The batch of a step, as the scenario makes it."""
    later = step - START
    if kind == "masking" and later in (0, 20):
        return batch._replace(factor=1e6 if later == 0 else 4e5, bad=True)
    if kind == "early spike" and step == 5:
        return batch._replace(factor=1e6, bad=True)
    if kind == "one NaN" and later == 0:
        return _with(batch, math.nan)
    if kind == "many NaN" and 0 <= later < 50 and step % 5:
        return _with(batch, math.nan)
    if kind == "new scale" and later >= 0:
        return batch._replace(factor=100.0)
    if kind == "large features" and later in (0, 30, 60):
        return batch._replace(X=1e6 * batch.X, bad=True)
    if kind == "infinite features" and later in (0, 30, 60):
        return _with(batch, math.inf)
    if kind == "spikes 5 %" and step >= 100 and rng.random() < 0.05:
        return batch._replace(factor=10.0 ** rng.uniform(2.0, 12.0), bad=True)
    if kind == "wrong labels 10 %" and step >= 100 and rng.random() < 0.1:
        return batch._replace(y=(batch.y + 1) % 10, bad=True)
    return batch


def _with(batch: Batch, value: float) -> Batch:
    X = batch.X.copy()
    X[0, 0] = value
    return batch._replace(X=X, bad=True)


def train(scenario: TrainingScenario, stepper: Stepper | None, bad: int = 0) -> tuple[float, Score]:
    """The loss on rows kept apart, and the score without its excess. None is the oracle: bad steps are left.

    A bad step is not only large: its gradient points the other way, as that of wrong data does.
    """
    X, y, tested, goals = digits()
    rng, spoiling = np.random.default_rng(scenario.seed), np.random.default_rng([scenario.seed, 1])
    weights = _start(np.random.default_rng([scenario.seed, 2]))
    optimizer = AdamW(weights)
    stepping = optimizer if stepper is None else stepper.make(optimizer, bad)
    taken: list[tuple[bool, bool, bool]] = []  # bad, moved, late
    note, spent = "", 0.0
    for step in range(scenario.steps):
        rows = rng.integers(len(X), size=BATCH)
        batch = spoil(scenario.kind, step, Batch(X[rows], y[rows]), spoiling)
        if stepper is None and batch.bad:
            continue
        with np.errstate(all="ignore"):
            gradients = [batch.factor * (-1.0 if batch.bad else 1.0) * g for g in slopes(weights, batch)]
        before, begin = weights[0].copy(), time.process_time()
        try:
            stepping.step(gradients)
        except (RuntimeError, ValueError, OverflowError, ZeroDivisionError) as problem:
            note = f"raised in step {step}: {str(problem)[:80]}"
            break
        spent += time.process_time() - begin
        taken.append((batch.bad, not np.array_equal(before, weights[0]), step >= 100))
    loss = math.inf if note else loss_on(weights, tested, goals)
    good = [moved for is_bad, moved, late in taken if late and not is_bad]
    spoilt = [moved for is_bad, moved, _ in taken if is_bad]
    broken = not loss < 1e6
    last = max((t for t, (is_bad, _, _) in enumerate(taken) if is_bad), default=len(taken))
    rest = [t for t, (_, moved, _) in enumerate(taken) if t > last and moved]
    return loss, Score(
        finite(loss),
        None,
        good.count(False) / max(len(good), 1),
        spoilt.count(True) / len(spoilt) if spoilt else None,
        None if not spoilt else bool(rest) and not broken,
        rest[0] - last - 1 if spoilt and rest and not broken else None,
        broken,
        note or ("NaN or infinity reached the weights" if broken else ""),
        1e6 * spent / max(len(taken), 1),
    )


def count_bad(scenario: TrainingScenario) -> int:
    """How many steps are bad."""
    X, y, _, _ = digits()
    rng = np.random.default_rng([scenario.seed, 1])
    batch = Batch(X[:2], y[:2])
    return sum(spoil(scenario.kind, step, batch, rng).bad for step in range(scenario.steps))


@functools.cache
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Digits of scikit-learn: 1,400 to learn from, the others to test on."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    return X[:1400], y[:1400], X[1400:], y[1400:]


def _start(rng: np.random.Generator) -> list[np.ndarray]:
    return [
        rng.uniform(-1.0, 1.0, (64, 32)) / 8.0,
        np.zeros(32),
        rng.uniform(-1.0, 1.0, (32, 10)) / math.sqrt(32),
        np.zeros(10),
    ]


def _forward(weights: Sequence[np.ndarray], X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the hidden layer and the logarithms of the probabilities are."""
    A, a, B, b = weights
    with np.errstate(all="ignore"):
        hidden = np.maximum(X @ A + a, 0.0)
        out = hidden @ B + b
        out = out - out.max(axis=1, keepdims=True)
        return hidden, out - np.log(np.exp(out).sum(axis=1, keepdims=True))


def slopes(weights: Sequence[np.ndarray], batch: Batch) -> list[np.ndarray]:
    """The gradient of the mean cross-entropy."""
    hidden, logs = _forward(weights, batch.X)
    with np.errstate(all="ignore"):
        out = np.exp(logs)
        out[np.arange(len(batch.y)), batch.y] -= 1.0
        out /= len(batch.y)
        back = (out @ weights[2].T) * (hidden > 0.0)
        return [batch.X.T @ back, back.sum(axis=0), hidden.T @ out, out.sum(axis=0)]


def loss_on(weights: Sequence[np.ndarray], X: np.ndarray, y: np.ndarray) -> float:
    _, logs = _forward(weights, X)
    return float(-logs[np.arange(len(y)), y].mean())
