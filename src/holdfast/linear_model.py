"""What predicts: the numbers of linear models, how they score rows (docs/run-folder.md has the formula).

Of several classes each pair has a model, or, if they are many, each class against the rest.
The estimators, runs, Spark and ONNX have their models in this form.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels import by_type
from holdfast.vectors import ScaledWeights, rescaled, values_of

Floats = NDArray[np.float64]
Indices = NDArray[np.integer[Any]]

_WIDE = ("center", "factors", "weights")  # with one entry for each feature
_TOGETHER = 2**16  # cells of a matrix that are standardised together: 0.5 MB, which stay in the cache
_FEW = 2**12  # cells, of all models together
_FAR = 4.0  # knees: squashing leaves less than a third of a cell that is further away


class LinearModels(NamedTuple):
    """Linear models of the same features. The first axis of each array is the model.

    A cell is (x - center) * factor, squashed beyond the knee and at most `clip`. It is 0 if x is missing or
    infinite, or if it is beyond `wild` (`wild_limit`). The prediction is
    y_center + y_spread * (weights · cells + constant), from `low` to `high`.
    """

    center: Floats
    factors: Floats
    weights: Floats
    knee: Floats
    clip: Floats
    wild: Floats
    constant: Floats
    high: Floats
    low: Floats
    y_center: Floats
    y_spread: Floats

    def coefficients(self) -> Floats:
        """The weights in the units of the data."""
        return rescaled(self.effects(), self.factors)

    def intercepts(self) -> Floats:
        """The predictions where all features are 0, as far as no cell is squashed or clipped."""
        shift = np.array(
            [w @ (f * c) for w, f, c in zip(self.weights, self.factors, self.center, strict=True)]
        )
        return self.y_center + self.y_spread * (self.constant - shift)

    def effects(self) -> Floats:
        """How far one unit of the scale of each feature moves the prediction."""
        return self.y_spread[:, None] * self.weights

    def part(self, which: Any) -> "LinearModels":
        """Some of the models; not copied, if they are a slice."""
        return LinearModels(*(array[which] for array in self))

    @np.errstate(all="ignore")
    def dense_scores(self, X: Floats, models: Indices) -> Floats:
        """The sum of the weighted cells of each row. `models`: that of each row, or one for all rows."""
        Z = (X - self.center[models]) * self.factors[models]
        Z = _seen(Z, self.knee[models, None], self.clip[models, None], self.wild[models, None])
        finite = np.isfinite(X)
        if not finite.all():
            Z = np.where(finite, Z, 0.0)
        # No BLAS: its bits depend on the number of rows.
        return np.ascontiguousarray(Z * self.weights[models]).sum(axis=1)

    @np.errstate(all="ignore")
    def sparse_scores(self, values: Floats, places: Indices, starts: Indices, models: Indices) -> Floats:
        """The same for compressed rows: row i has values[starts[i]:starts[i + 1]], in these places."""
        count = len(starts) - 1
        row_of = np.repeat(np.arange(count), np.diff(starts))
        model: Any = models[row_of] if len(models) > 1 else models[0]
        center, factors, weights = (getattr(self, name)[model, places] for name in _WIDE)
        Z = _seen((values - center) * factors, self.knee[model], self.clip[model], self.wild[model])
        Z = np.where(np.isfinite(values), Z, 0.0)
        if not self.center.any():
            return np.asarray(np.bincount(row_of, Z * weights, count), np.float64)
        each = self.knee[:, None], self.clip[:, None], self.wild[:, None]
        zeros = _seen(-self.center * self.factors, *each)
        absent = (zeros * self.weights).sum(axis=1)[models]  # the score of a row of zeros
        return absent + np.bincount(row_of, (Z - zeros[model, places]) * weights, count)

    @np.errstate(all="ignore")
    def wild_cells(self, X: Floats, models: Indices) -> NDArray[np.bool_]:
        """Which cells of dense rows count as missing because they are wild. `models` as in `dense_scores`."""
        Z = np.abs((X - self.center[models]) * self.factors[models])
        return (self.wild[models, None] < Z) | np.isinf(X)

    def predictions(self, scores: Floats, models: Indices | slice) -> Floats:
        """The predictions of rows with these scores; that of the constant if a score is NaN."""
        constant = self.constant[models]
        z = scores + constant
        y = self.y_center[models] + self.y_spread[models] * np.where(np.isnan(z), constant, z)
        return np.minimum(np.maximum(y, self.low[models]), self.high[models])

    @np.errstate(all="ignore")
    def predict(self, X: Any) -> Floats:
        """What each model predicts for each row of a matrix, dense or of SciPy in CSR: a column each."""
        is_dense = isinstance(X, np.ndarray)
        if is_dense and len(self.weights) * X.size <= _FEW and np.isfinite(X).all():
            return self._predict_few(X)
        found = np.empty((X.shape[0], len(self.weights)))
        step = max(_TOGETHER // max(X.shape[1], 1), 1)
        for start in range(0, X.shape[0], step):
            some = X[start : start + step]
            for model in range(len(self.weights)):
                one = np.full(1, model)
                if is_dense:
                    scores = self.dense_scores(some, one)
                else:
                    scores = self.sparse_scores(some.data, some.indices, some.indptr, one)
                found[start : start + step, model] = self.predictions(scores, one)
        return found

    def _predict_few(self, X: Floats) -> Floats:
        """All models together, which saves time for a few finite rows; the same bits."""
        Z = (X - self.center[:, None]) * self.factors[:, None]
        Z = _seen(Z, *(limit[:, None, None] for limit in (self.knee, self.clip, self.wild)))
        scores = (Z * self.weights[:, None]).sum(axis=2).T
        return self.predictions(scores, slice(None))


def empty_models(models: int, features: int) -> LinearModels:
    """Models that predict 0, to write into; no cell is wild."""
    found = LinearModels(*map(np.zeros, shapes_of(models, features).values()))
    return found._replace(wild=np.full(models, np.inf))


def shapes_of(models: int, features: int) -> dict[str, tuple[int, ...]]:
    """The shape of each array."""
    return {name: (models, features) if name in _WIDE else (models,) for name in LinearModels._fields}


# The next two are compiled, too.


def write_scaled(models: Any, i: int, v: Any, w: Any) -> None:
    """Write model i: weights v, and that of the constant, in the units of scaled weights w."""
    dim = models.weights.shape[1]
    models.weights[i], models.constant[i] = v[:dim], v[dim]
    models.center[i], models.factors[i] = w.center, w.factors
    models.y_center[i], models.y_spread[i] = w.y_center, w.y_spread
    # If targets are not scaled, predictions have no limits.
    bounded = w.y_low <= w.y_high
    models.low[i] = w.y_low - w.y_spread if bounded else -np.inf
    models.high[i] = w.y_high + w.y_spread if bounded else np.inf


def write_plain(models: Any, i: int, v: Any) -> None:
    """Write model i: weights v of features without a scale, and that of the constant."""
    dim = models.weights.shape[1]
    models.weights[i], models.constant[i] = v[:dim], v[dim]
    models.factors[i], models.y_spread[i] = 1.0, 1.0
    models.low[i], models.high[i] = -np.inf, np.inf


@by_type
def write_model(models: Any, i: int, w: Any) -> None:
    """Write model i, with these weights."""
    if isinstance(w, ScaledWeights):
        write_scaled(models, i, values_of(w.v), w)
    else:
        write_plain(models, i, values_of(w))


def wild_limit(threshold: Any, knee: Any) -> Any:
    """The size beyond which a cell counts as missing when we predict, from the last threshold of its row.

    A row with such a cell would not be learned from, and squashing would leave less than a third of the cell.
    A natural cell that is less far is predicted better squashed than as missing.
    """
    return np.maximum(threshold, _FAR * knee)


def write_view(models: LinearModels, w: Any) -> None:
    """Write how all models see far cells: as weights like these do."""
    models.knee[:], models.clip[:] = w.view() if isinstance(w, ScaledWeights) else (np.inf, np.inf)


def _seen(Z: Floats, knee: Any, clip: Any, wild: Any) -> Floats:
    """Standardised cells as the weights see them: 0 if wild, with the logarithm beyond the knee, clipped."""
    sizes = np.abs(Z)
    most = sizes.max(initial=0.0)
    if Z.size == 0 or most <= min(wild.min(), knee.min(), clip.min()):
        return Z
    if not most <= wild.min():
        Z = np.where(sizes > wild, 0.0, Z)
        sizes = np.abs(Z)
    if not most <= knee.min():  # as `holdfast.vectors.squash` does it for one row
        far = sizes - knee
        beyond = far > 0.0
        if beyond.any():
            Z = np.where(beyond, np.copysign(knee + np.log1p(np.maximum(far, 0.0)), Z), Z)
    return np.minimum(np.maximum(Z, -clip), clip)


MOST_PAIRED = 20  # classes; with more there would be too many pairs
_REST = -1


class ClassModel(NamedTuple):
    """A model that tells one class from another, or from the rest. Classes are numbers."""

    positive: int
    negative: int

    def is_pair(self) -> bool:
        """Whether it tells two classes apart."""
        return self.negative != _REST

    def split(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """+1 for the rows of the class, -1 for others; and which rows the model learns from."""
        mine = codes == self.positive
        taught = mine | (codes == self.negative) if self.is_pair() else np.ones(len(codes), bool)
        return np.where(mine, 1.0, -1.0), taught

    def name(self, labels: Sequence[Any]) -> Any:
        """What the model is called: `b, not a` for a pair, or the label of its class."""
        one = labels[self.positive]
        return f"{one}, not {labels[self.negative]}" if self.is_pair() and len(labels) > 2 else one

    def sign_of(self, code: int) -> float:
        """The target for a row of this class: +1, -1, or 0 if the model does not learn from it."""
        if code == self.positive:
            return 1.0
        return -1.0 if self.negative in (_REST, code) else 0.0


def models_for(count: int) -> list[ClassModel]:
    """The models for so many classes. Two classes need one model: the second against the first."""
    if count <= MOST_PAIRED:
        return [ClassModel(j, i) for j in range(count) for i in range(j)]
    return [ClassModel(j, _REST) for j in range(count)]


@np.errstate(invalid="ignore")  # a margin may be NaN
def class_margins(margins: np.ndarray, models: Sequence[ClassModel]) -> np.ndarray:
    """A margin for each of three classes or more, from those of the models.

    For pairs it is m_i = -ln Σ_j exp(-m_ij), where m_ij is the margin of class i against class j. So
    1 / (1 + exp(-m_i)) is the probability that fits all pairs of i, if there is one (Price et al., "Pairwise
    neural network classifiers with probabilistic outputs", 1994).
    """
    if not models[0].is_pair():
        return margins
    sums = np.full((len(margins), models[-1].positive + 1), -np.inf)
    for margin, (positive, negative) in zip(margins.T, models, strict=True):
        sums[:, positive] = np.logaddexp(sums[:, positive], -margin)
        sums[:, negative] = np.logaddexp(sums[:, negative], margin)
    return -sums


def log_probabilities(margins: np.ndarray) -> np.ndarray:
    """The logarithms of the probabilities of all classes: of two from a margin each row, of more from one for
    each class, divided by their sum.
    """
    if margins.ndim == 1:
        return -np.logaddexp(0.0, margins[:, None] * [[1.0, -1.0]])
    logs = -np.logaddexp(0.0, -margins)
    logs -= logs.max(axis=1, keepdims=True)
    return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
