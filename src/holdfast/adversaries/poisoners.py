"""Corrupted data: k rows of a clean stream are reversed, made huge, or given the wrong label."""

from typing import Any

import numpy as np

from holdfast.adversaries.draws import all_but, check_budget, outliers
from holdfast.adversaries.replay import Replay
from holdfast.protocols import Row, Weights
from holdfast.rule import replaced, rule


def choose_outliers(
    stream: Any, k: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """k random rounds of a data stream, copies of its X and y to corrupt, and the random generator."""
    if not isinstance(stream, Replay):
        raise TypeError(f"the data to corrupt must be a Replay(X, y, loss): got {type(stream).__name__}")
    check_budget(k, len(stream.X))
    rng = np.random.default_rng(seed)
    return outliers(rng, k, len(stream.X)), stream.X.copy(), stream.y.copy(), rng


def lengths(X: np.ndarray) -> np.ndarray:
    """The Euclidean lengths of the rows."""
    with np.errstate(over="ignore"):
        return np.sqrt(np.square(X, dtype=np.float64).sum(axis=1))


def typical(values: np.ndarray) -> float:
    """The median of the finite values, or 1."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) > 0 else 1.0


# The methods of adversaries that play the data they have corrupted.


def _extent(self: Any) -> tuple[int, int]:
    return self.poisoned.extent()


def _start(self: Any) -> Any:
    return self.poisoned.start()


def _reveal(self: Any, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
    return self.poisoned.reveal(state, t, w)


@rule
class Accumulating:
    """A data stream with k-1 outliers of ordinary length in one direction, and then a long one, the trigger.

    Each push is as long as the median clean row, so no filter by size can recognise it. The trigger has the
    same direction, `factor` times the length and the opposite label. A learner that followed the pushes pays
    `factor` times for it, and without a filter it makes a large step in the other direction.

    Parameters:
        stream (Replay): The clean data.
        k: The number of outliers, including the trigger.
        factor: The length of the trigger, relative to a push.
        seed: For the choice of the rounds, and for the direction.

    Attributes:
        poisoned (Replay): The corrupted data. The label of a push is the largest clean one, that of the
            trigger its negative.
        inliers (bool array): The rounds that are not corrupted.

    Guarantee: Theorem 1 with this k, for `TopK(k)`.

    >>> from holdfast.losses import Hinge
    >>> clean = Replay(2.0 * np.ones((6, 1)), -np.ones(6), Hinge())
    >>> pushes = Accumulating(clean, k=3, factor=100.0)
    >>> pushes.poisoned.X[~pushes.inliers].tolist(), pushes.poisoned.y[~pushes.inliers]
    ([[2.0], [2.0], [200.0]], array([ 1.,  1., -1.]))
    """

    stream: Any
    k: int
    factor: float = 1000.0
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self) -> Any:
        if self.k < 1:
            raise ValueError(f"k counts the outliers, at least the trigger: got {self.k}")
        bad, X, y, rng = choose_outliers(self.stream, self.k, self.seed)
        direction = rng.standard_normal((1, X.shape[1]))
        X[bad] = direction * (typical(lengths(X)) / lengths(direction))
        y[bad] = np.fmax.reduce(np.abs(y))
        X[bad[-1]] *= self.factor
        y[bad[-1]] *= -1.0
        return replaced(self, poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = _extent, _start, _reveal


@rule
class FeatureBlowUp:
    """A data stream in which k random rows are multiplied by `factor`.

    The gradient grows with the row even if the slope is bounded, as for the logistic loss. So clipping the
    loss or its slope does not help. A negative factor also makes the label wrong.

    Parameters:
        stream, k, seed: As for `LabelFlip`. So are the attributes and the guarantee.
        factor: The factor of the features of outliers.

    >>> from holdfast.losses import Hinge
    >>> clean = Replay([[1.0], [2.0], [3.0]], [1, -1, 1], Hinge())
    >>> blown_up = FeatureBlowUp(clean, k=1, factor=1000.0, seed=1)
    >>> blown_up.poisoned.X.tolist(), blown_up.inliers
    ([[1.0], [2000.0], [3.0]], array([ True, False,  True]))
    """

    stream: Any
    k: int
    factor: float = 1000.0
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self) -> Any:
        bad, X, y, _ = choose_outliers(self.stream, self.k, self.seed)
        with np.errstate(over="ignore", invalid="ignore"):
            X[bad] *= self.factor
        return replaced(self, poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = _extent, _start, _reveal


@rule
class LabelFlip:
    """A data stream in which k random labels (or targets) have the wrong sign.

    The features do not change, so a filter on features cannot find the outliers. With a Lipschitz loss the
    gradients are not larger than before, so the outliers are kept. Theorem 1 bounds their cost.

    Parameters:
        stream (Replay): The clean data.
        k: The number of outliers.
        seed: For the choice of the rounds.

    Attributes:
        poisoned (Replay): The corrupted data.
        inliers (bool array): The rounds that are not corrupted.

    Guarantee: Theorem 1 with this k, for `TopK(k)`.

    >>> from holdfast.losses import Hinge
    >>> clean = Replay([[1.0], [2.0], [3.0]], [1, -1, 1], Hinge())
    >>> flipped = LabelFlip(clean, k=2, seed=0)
    >>> flipped.poisoned.y, flipped.inliers
    (array([ 1.,  1., -1.]), array([ True, False, False]))
    """

    stream: Any
    k: int
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self) -> Any:
        bad, X, y, _ = choose_outliers(self.stream, self.k, self.seed)
        y[bad] *= -1.0
        return replaced(self, poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = _extent, _start, _reveal


@rule
class Ramp:
    """A data stream in which k rows are reversed, each `growth` times as long as the one before.

    A filter with a threshold of some standard deviations over a window accepts them one by one, and its
    threshold grows with each. The list of Algorithm 1 has k+1 entries, so one of them is an inlier, and no
    outlier of more than twice the largest inlier is kept.

    Parameters:
        stream, k, seed: As for `LabelFlip`. So are the attributes and the guarantee.
        growth: The ratio of one outlier to the one before, and of the first to the median clean row.

    >>> from holdfast.losses import Hinge
    >>> clean = Replay(np.ones((6, 1)), np.ones(6), Hinge())
    >>> Ramp(clean, k=3, growth=2.0).poisoned.X[:, 0]
    array([ 1.,  1.,  1., -2., -4., -8.])
    """

    stream: Any
    k: int
    growth: float = 1.1
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self) -> Any:
        if not self.growth > 0.0:
            raise ValueError(f"growth is a factor and must be positive: got {self.growth}")
        bad, X, y, _ = choose_outliers(self.stream, self.k, self.seed)
        of_rows = lengths(X)
        wanted = typical(of_rows) * self.growth ** np.arange(1.0, self.k + 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            X[bad] *= np.where(of_rows[bad] > 0.0, -wanted / of_rows[bad], 0.0)[:, None]
        return replaced(self, poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = _extent, _start, _reveal
