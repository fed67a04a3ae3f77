"""An adversary that sees everything: it tries sizes on a copy of the contestant and takes what harms most."""

import numpy as np

from holdfast_lab.gauntlet.learners import Model, copied

SIZES = (0.5, 1.0, 2.0, 4.0, 8.0, 30.0, 1e3, 1e9)  # of a bad row, in standard deviations
_PROBES = 30  # good rows on which the harm is measured


class Adversary:
    """It replaces a bad row. Each candidate is learned by a copy, which then predicts the last good rows.

    So it knows thresholds, weights and what was remembered. A contestant that cannot be copied meets sizes in
    turn.
    """

    def __init__(self, regression: bool, seed: int) -> None:
        self.regression, self.rng = regression, np.random.default_rng([seed, 9])
        self.turn = 0

    def replace(
        self, model: Model, x: np.ndarray, y: float, past: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, float]:
        """The row and the target that harm most."""
        X, goals = past[0][-300:], past[1][-300:]
        center, width = np.median(X, axis=0), X.std(axis=0) + 1e-12
        direction = (x - center) / width
        direction /= max(float(np.linalg.norm(direction)), 1e-12)
        candidates = [self._candidate(size, center, width, direction, x, y, goals) for size in SIZES]
        self.turn += 1
        if copied(model) is None:
            return candidates[self.turn % len(SIZES)]
        some = self.rng.choice(len(goals), min(_PROBES, len(goals)), replace=False)
        harms = [self._harm(model, each, X[some], goals[some]) for each in candidates]
        return candidates[int(np.argmax(harms))]

    def _candidate(self, size, center, width, direction, x, y, goals):
        """So far out in the direction of the row, with a target on the wrong side."""
        far = center + width * direction * size * np.sqrt(len(x)) if size > 1.0 else x
        if not self.regression:
            return far, -y
        return far, float(y - np.sign(y - np.median(goals) or 1.0) * size * goals.std())

    def _harm(self, model: Model, candidate: tuple[np.ndarray, float], X: np.ndarray, y: np.ndarray) -> float:
        victim = copied(model)
        assert victim is not None
        try:
            with np.errstate(all="ignore"):
                victim.partial_fit(candidate[0][None], np.array([candidate[1]]))
                errors = np.abs(np.asarray(victim.predict(X), float) - y)
        except (ValueError, OverflowError, ZeroDivisionError, FloatingPointError, RuntimeError):
            return np.inf
        return float(np.nan_to_num(errors, nan=np.inf).mean())
