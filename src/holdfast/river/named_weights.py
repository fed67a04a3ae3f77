"""A learner whose weights have names. New names may appear at any time."""

import math
from typing import Any

import numpy as np

from holdfast.dry_run import check_rule
from holdfast.learners import ONS
from holdfast.norms import HUGE, LONG, euclidean
from holdfast.protocols import Learner
from holdfast.rounds import Round
from holdfast.vectors import ScaledWeights, Sparse, dot, values_of

_CAPACITY = 8  # weights at first


class NamedWeights:
    """A learner on dicts. A name gets an index when it is first learned from; index 0 is the constant.

    Rows are sparse, so the time for a row depends on its number of features only, if the learner can do that.
    When the arrays of the state are full, each is copied into one of twice the length. That is exact, because
    a weight that no row has touched has the same value in an array of any length.

    Examples
    --------
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
