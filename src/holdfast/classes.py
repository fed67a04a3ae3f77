"""Several classes: a model for each pair of them, or, if they are many, for each class against the rest."""

from typing import NamedTuple

import numpy as np

MOST_PAIRED = 20  # classes; with more there would be too many pairs
_REST = -1


class ClassModel(NamedTuple):
    """A model that tells one class from another, or from the rest. Classes are numbers."""

    positive: int
    negative: int

    def split(self, codes):
        """+1 for the rows of the class, -1 for others; and which rows the model learns from."""
        mine = codes == self.positive
        taught = np.ones(len(codes), bool) if self.negative == _REST else mine | (codes == self.negative)
        return np.where(mine, 1.0, -1.0), taught

    def sign_of(self, code):
        """The target for a row of this class: +1, -1, or 0 if the model does not learn from it."""
        if code == self.positive:
            return 1.0
        return -1.0 if self.negative in (_REST, code) else 0.0


def models_for(count):
    """The models for so many classes. Two classes need one model: the second against the first."""
    if count <= MOST_PAIRED:
        return [ClassModel(j, i) for j in range(count) for i in range(j)]
    return [ClassModel(j, _REST) for j in range(count)]


def class_margins(margins, models):
    """A margin for each of three classes or more, from those of the models.

    For pairs it is m_i = -ln Σ_j exp(-m_ij), where m_ij is the margin of class i against class j. So
    1 / (1 + exp(-m_i)) is the probability that fits all pairs of i, if there is one (Price et al., "Pairwise
    neural network classifiers with probabilistic outputs", 1994).
    """
    if models[0].negative == _REST:
        return margins
    positive, negative = np.transpose(models)
    count = models[-1].positive + 1
    against = np.full((len(margins), count, count), -np.inf)  # a class is no rival of itself
    against[:, positive, negative], against[:, negative, positive] = -margins, margins
    return -np.logaddexp.reduce(against, axis=2)


def log_probabilities(margins):
    """The logarithms of the probabilities of all classes: of two from a margin each row, of more from one for
    each class, divided by their sum.
    """
    if margins.ndim == 1:
        return -np.logaddexp(0.0, margins[:, None] * [[1.0, -1.0]])
    logs = -np.logaddexp(0.0, -margins)
    logs -= logs.max(axis=1, keepdims=True)
    return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
