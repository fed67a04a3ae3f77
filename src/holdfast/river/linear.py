"""Learners of holdfast as River models."""

import math
from typing import Any

from river import base

from holdfast.dry_run import check_rule
from holdfast.losses import slope_at
from holdfast.options import LEARNER, read_learner, read_loss, refuse_weights
from holdfast.protocols import Loss
from holdfast.river.cells import as_float
from holdfast.river.measures import gradient_size
from holdfast.river.named_weights import NamedWeights

Row = dict[Any, Any]


class LinearModel(base.Estimator):
    """What the two models share."""

    def __init__(self, learner: Any = None, loss: Any = None) -> None:
        self.learner, self.loss = learner, loss
        self._loss = read_loss(loss, isinstance(self, base.Regressor))
        check_rule(self._loss, Loss, dim=1)
        self._weights = NamedWeights(read_learner(learner, self._loss) or LEARNER)

    @property
    def weights(self) -> dict[Any, float]:
        """The weights by feature."""
        return self._weights.by_name()

    @property
    def intercept(self) -> float:
        """The constant term."""
        return self._weights.constant()

    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:
        """Learn from a row of weight w, if all of it is finite."""
        if w != 1.0:
            refuse_weights(self._weights.learner)
        finite = _finite(x)
        if len(finite) == len(x):
            row = self._weights.row(finite, learning=True)
            self._weights.update(w * slope_at(self._loss, self._weights.product(row), self._target(y)), row)

    def _prediction(self, x: Row) -> float:
        """<w, x> over the finite features; the intercept if that is not finite."""
        z = self._weights.product(self._weights.row(_finite(x), learning=False))
        return z if abs(z) < math.inf else self.intercept


class LinearRegressor(LinearModel, base.Regressor):
    """A linear regression with any learner of holdfast. Features may be added or absent at any time.

    It neither scales features nor skips outliers. Usually, use

        Robust(StandardScaler() | TargetStandardScaler(LinearRegressor()))

    which corresponds to `holdfast.defaults.recommended`. River's scaler counts each feature on its own, so a
    feature that appears late is soon scaled like the others. An absent feature counts as its mean.

    Parameters
    ----------
    learner
        A learner whose weights begin at 0 and that works with any number of features, or a name of
        `holdfast.options.LEARNERS`, such as "adaftrl". By default that of the other estimators:
        `AdaGrad(Box(-10, 10), rate=0.008, ballast=1)`.
    loss
        A loss of holdfast or its name, such as "huber"; by default `Absolute()`.

    Attributes
    ----------
    weights, intercept
        What was learned so far.

    Guarantee
    ---------
    The regret of its learner. With `OGD(Ball(D / 2))` in `Robust(..., outliers=k)` the gradients are filtered
    as in Theorem 1, and rows that are skipped because of their features or targets cost as in Theorem H.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from holdfast.river import LinearRegressor, Robust
    >>> model = preprocessing.TargetStandardScaler(LinearRegressor())
    >>> model = Robust(preprocessing.StandardScaler() | model)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.4...
    """

    def predict_one(self, x: Row) -> float:
        """Predict the target of a round, from its finite features."""
        return self._prediction(x)

    def _target(self, y: Any) -> float:
        return as_float(y)


class LinearClassifier(LinearModel, base.Classifier):
    """A linear classifier of two labels with any learner of holdfast. Features may be added or absent.

    It neither scales features nor skips outliers. Usually, use
    `Robust(StandardScaler() | LinearClassifier())`. For more labels there is River's `OneVsRestClassifier`.

    Parameters
    ----------
    learner
        As in `LinearRegressor`.
    loss
        A loss of holdfast or its name, by default `Logistic()`. With the hinge losses, probabilities are in
        the right order, but not calibrated.

    Attributes
    ----------
    weights, intercept
        What was learned so far.

    Guarantee: as in `LinearRegressor`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from holdfast.river import LinearClassifier, Robust
    >>> model = Robust(preprocessing.StandardScaler() | LinearClassifier())
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89...%
    """

    def predict_proba_one(self, x: Row) -> dict[Any, float]:
        """Predict the probability of each label, from the finite features."""
        z = self._prediction(x)
        small = math.exp(-abs(z)) / (1.0 + math.exp(-abs(z)))
        return {False: small, True: 1.0 - small} if z > 0.0 else {False: 1.0 - small, True: small}

    def _target(self, y: Any) -> float:
        return 1.0 if y else -1.0


@gradient_size.register
def _(model: LinearModel, x: Row, y: Any, w: float = 1.0) -> float:
    z = model._weights.product(model._weights.row(x, learning=False))
    return abs(w * slope_at(model._loss, z, model._target(y))) * math.hypot(1.0, *x.values())


def _finite(x: Row) -> dict[Any, float]:
    floats = ((name, as_float(value)) for name, value in x.items())
    return {name: value for name, value in floats if abs(value) < math.inf}
