"""A learner whose weights have names, and become more as names appear."""

import numpy as np

from holdfast.dry_run import check_rule
from holdfast.learners import ONS
from holdfast.norms import HUGE, LONG, euclidean
from holdfast.protocols import Learner
from holdfast.vectors import ScaledWeights, Sparse, dot, values_of

_ROOM = 8  # weights at first


class Weights:
    """A learner on dicts: each name gets a place when it is first learned from, and place 0 is the constant.

    Rows are sparse, so a round costs as much as the row has features, if that is enough for the learner. When
    there is no more room, every array of the state is copied into one of twice the length. That is exact: a
    weight that no row has touched yet is the same in an array of any length.

    Examples
    --------
    >>> import holdfast as hf
    >>> weights = Weights(hf.OGD(hf.Ball(1.0)))
    >>> weights.update(-1.0, weights.row({"rain": 2.0}, learning=True))
    >>> {name: round(weight, 2) for name, weight in weights.by_name().items()}
    {'rain': 0.89}
    """

    def __init__(self, learner):
        check_rule(learner, Learner, _ROOM)
        self.learner, self.names, self.room = learner, {}, _ROOM
        self.state = self._fresh(_ROOM)
        w = learner.predict(self.state)
        if isinstance(learner, ONS):
            raise TypeError(
                f"{type(learner).__name__} weighs all features by the first gradient, so that none may come "
                "later: use MetaGrad, which need not know how curved losses are either"
            )
        if isinstance(w, ScaledWeights):
            raise TypeError(f"features are scaled by a StandardScaler before the model, not by {learner!r}")
        if np.any(values_of(w) != 0.0):
            raise ValueError(
                f"features that are new weigh 0, so all weights must begin there: not those of {learner!r}"
            )

    def row(self, x, learning):
        """Features that are finite floats, as a sparse row. New ones are left out, unless learned."""
        if learning:
            for name in x:
                self.names.setdefault(name, len(self.names) + 1)
            while len(self.names) >= self.room:
                self._grow()
        known = [(self.names[name], value) for name, value in x.items() if name in self.names]
        places = np.array([0, *(place for place, _ in known)])
        return Sparse(places, np.array([1.0, *(value for _, value in known)]), self.room)

    def product(self, row):
        """<w, x>"""
        return dot(self.learner.predict(self.state), row)

    @np.errstate(all="ignore")
    def update(self, slope, row):
        """Learn from the gradient slope * x, if all that the learner reads is finite, as in `Filtered`."""
        length, limit = euclidean(row), LONG if self.learner.reads_rows() else HUGE
        if length < limit and abs(slope) * length < limit:
            self.state = self.learner.update(self.state, slope, row)

    def constant(self):
        return float(values_of(self.learner.predict(self.state))[0])

    def by_name(self):
        w = values_of(self.learner.predict(self.state))
        return {name: float(w[place]) for name, place in self.names.items()}

    def _fresh(self, room):
        return self.learner.to_lazy(self.learner.init(room), False)

    def _grow(self):
        old, more = self.room, 2 * self.room
        self.state, self.room = _grown(self.state, self._fresh(old), self._fresh(more)), more


def _grown(state, start, fresh):
    """What was learned since the start, in a fresh state of more dimensions."""
    if isinstance(state, tuple):
        parts = zip(state, start, fresh, strict=True)
        return tuple.__new__(type(state), [_grown(*part) for part in parts])
    if isinstance(state, np.ndarray):
        if state.shape == fresh.shape:
            return state
        fresh[tuple(slice(0, extent) for extent in state.shape)] = state
        return fresh
    return fresh if state == start else state  # such as the width of a box
