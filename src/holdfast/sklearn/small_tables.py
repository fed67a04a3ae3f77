"""Small and wide tables: the strength of the regularisation is chosen by leave-one-out errors."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.linear_model import LinearModels
from holdfast.sklearn.rows import MOST_DENSE, filled
from holdfast.steady import Ridges

_FEW_ROWS = 200
_MANY_COLUMNS = 1000  # with these, learners of second order take a few seconds for _FEW_ROWS
_ROWS_A_COLUMN = 5
_LEAST_ROWS = 10
_STRENGTHS = np.logspace(-0.5, 4.0, 10)
_FACTOR = 3.0  # some of the learners forget, and need more regularisation than ridge regression does
_FAR = 10.0  # standard deviations: cells that are farther count as this
_CAP = 5.0  # times the smallest median: larger errors count as this


def columns_for_learner(X: Any, all_rows: bool) -> float:
    """The number of columns by which to choose a learner: 0 if the table is so small that each is fast.

    It is infinite for sparse rows that are too wide to be learned from as dense ones.
    """
    if sp.issparse(X) and X.shape[1] > MOST_DENSE:
        return np.inf
    return 0 if all_rows and X.shape[0] <= _FEW_ROWS and X.shape[1] <= _MANY_COLUMNS else X.shape[1]


def is_small(X: Any, learner: Any) -> bool:
    """Whether regularisation matters for these rows, and the learner is one of which it can be chosen."""
    few = X.shape[0] <= max(_FEW_ROWS, _ROWS_A_COLUMN * X.shape[1])
    return few and isinstance(learner, Ridges)


def regularised(
    player: Any, X: Any, y: NDArray[np.float64], model: LinearModels, missing_share: float, passes: int
) -> Any:
    """The player, with the best strength for these rows if it learns from them in so many passes.

    The rows are standardised as a model has them.
    """
    Z = (filled(X, model.center[0], missing_share) - model.center[0]) * model.factors[0]
    strength = best_strength(np.clip(Z, -_FAR, _FAR), y) if len(y) >= _LEAST_ROWS else 1.0
    return player._replace(learner=player.learner._replace(strength=passes * _FACTOR * strength))


def best_strength(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """The strength of ridge regression, with an intercept, that has the smallest leave-one-out errors.

    X has no missing cells, and columns of about the same scale. Far errors count as five medians, so that a
    few wrong targets do not decide. One decomposition of X gives the errors for all strengths (Golub, Heath
    and Wahba, "Generalized cross-validation", 1979).

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 40))
    >>> best_strength(X, X[:, 0]) < best_strength(X, X[:, 0] + 10.0 * rng.standard_normal(50))
    True
    """
    y = y - y.mean()
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    errors = []
    for strength in _STRENGTHS:
        shares = s * s / (s * s + strength)
        own = (U * U) @ shares + 1.0 / len(y)  # how much a target moves its own prediction
        errors.append(np.abs(y - U @ (shares * (U.T @ y))) / np.maximum(1.0 - own, 1e-6))
    cap = _CAP * np.median(errors, axis=1).min()
    return float(_STRENGTHS[np.argmin((np.minimum(errors, cap) ** 2).mean(axis=1))])
