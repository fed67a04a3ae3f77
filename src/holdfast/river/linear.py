"""Learners of holdfast as River models: their weights have names, and new names may appear at any time."""

import math
from typing import Any

import numpy as np
from river import base

from holdfast.dry_run import check_rule
from holdfast.learners import ONS
from holdfast.losses import slope_at
from holdfast.norms import HUGE, LONG, euclidean
from holdfast.options import LEARNER, read_learner, read_loss, refuse_weights
from holdfast.protocols import Learner, Loss
from holdfast.river.batches import as_float
from holdfast.river.measures import gradient_size
from holdfast.river.named_units import Row
from holdfast.rounds import Round
from holdfast.vectors import ScaledWeights, Sparse, dot, values_of

_CAPACITY = 8  # weights at first


class NamedWeights:
    """A learner on dicts. A name gets an index when it is first learned from; index 0 is the constant.

    Rows are sparse, so the time for a row depends on its number of features only, if the learner can do that.
    When the arrays of the state are full, each is copied into one of twice the length. That is exact, because
    a weight that no row has touched has the same value in an array of any length.

    >>> import holdfast as hf
    >>> weights = NamedWeights(hf.OGD(hf.Ball(1.0)))
    >>> weights.update(-1.0, weights.row({"rain": 2.0}, learning=True))
    >>> {name: round(weight, 2) for name, weight in weights.by_name().items()}
    {'rain': 0.89}
    """

    def __init__(self, learner: Any) -> None:
        check_rule(learner, Learner, _CAPACITY)
        self.learner, self.capacity = learner, _CAPACITY
        self.names: dict[Any, int] = {}
        self.state = self._new_state(_CAPACITY)
        w = learner.predict(self.state)
        if isinstance(learner, ONS):
            raise TypeError(
                f"{type(learner).__name__} needs all features in the first gradient, so that none may come "
                "later: use MetaGrad, which does not need to know the curvature of the losses either"
            )
        if isinstance(w, ScaledWeights):
            raise TypeError(f"features are scaled by a StandardScaler before the model, not by {learner!r}")
        if np.any(values_of(w) != 0.0):
            raise ValueError(
                f"a new feature has weight 0, so all weights must begin there: not those of {learner!r}"
            )

    def row(self, x: dict[Any, float], learning: bool) -> Sparse:
        """A dict of finite floats as a sparse row. New names are left out, unless the row is learned from."""
        if learning:
            for name in x:
                self.names.setdefault(name, len(self.names) + 1)
            while len(self.names) >= self.capacity:
                self._grow()
        known = [(self.names[name], value) for name, value in x.items() if name in self.names]
        places = np.array([0, *(place for place, _ in known)])
        return Sparse(places, np.array([1.0, *(value for _, value in known)]), self.capacity)

    def product(self, row: Sparse) -> float:
        """<w, x>"""
        return dot(self.learner.predict(self.state), row)

    @np.errstate(all="ignore")
    def update(self, slope: float, row: Sparse) -> None:
        """Learn from the gradient slope * x, if it is finite, and the row too if the learner reads it."""
        length, limit = euclidean(row), LONG if self.learner.reads_rows() else HUGE
        if length < limit and abs(slope) * length < limit:
            self.state = self.learner.update(self.state, Round(slope, row, math.nan, row, 0.0))

    def constant(self) -> float:
        return float(values_of(self.learner.predict(self.state))[0])

    def by_name(self) -> dict[Any, float]:
        w = values_of(self.learner.predict(self.state))
        return {name: float(w[place]) for name, place in self.names.items()}

    def _new_state(self, capacity: int) -> Any:
        return self.learner.to_lazy(self.learner.init(capacity), False)

    def _grow(self) -> None:
        old, new = self._new_state(self.capacity), self._new_state(2 * self.capacity)
        self.state, self.capacity = _enlarged(self.state, old, new), 2 * self.capacity


def _enlarged(state: Any, first: Any, larger: Any) -> Any:
    """The state in more dimensions. `first` and `larger` are first states, in fewer and more dimensions."""
    if isinstance(state, tuple):
        parts = zip(state, first, larger, strict=True)
        return tuple.__new__(type(state), [_enlarged(*part) for part in parts])
    if isinstance(state, np.ndarray):
        if state.shape == larger.shape:
            return state
        larger[tuple(slice(0, extent) for extent in state.shape)] = state
        return larger
    return larger if state == first else state  # such as the diameter of a box


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

    Parameters:
        learner: A learner whose weights begin at 0 and that works with any number of features, or a name of
            `holdfast.options.LEARNERS`, such as "adaftrl". By default that of the other estimators:
            `AdaGrad(Box(-10, 10), rate=0.008, ballast=1)`.
        loss: A loss of holdfast or its name, such as "huber"; by default `Absolute()`.

    Guarantee: The regret of its learner. With `OGD(Ball(D / 2))` in `Robust(..., outliers=k)` the gradients
    are filtered as in Theorem 1, and rows that are skipped because of their features or targets cost as in
    Theorem H.

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

    Parameters:
        learner: As in `LinearRegressor`.
        loss: A loss of holdfast or its name, by default `Logistic()`. With the hinge losses, probabilities
            are in the right order, but not calibrated.

    Guarantee: as in `LinearRegressor`.

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
