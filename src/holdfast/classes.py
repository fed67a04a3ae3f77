"""Several classes: a model for each pair of them, or, if they are many, for each class against the rest."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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
