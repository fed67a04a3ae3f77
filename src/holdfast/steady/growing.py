"""More columns for a state of the default, when a stream has new features."""

import math
from typing import Any

import numpy as np

from holdfast.steady.covariances import DiagonalState, FullState
from holdfast.steady.state import EPOCH, SteadyState
from holdfast.steady.units import Units, measure_units


def grown(player: Any, state: SteadyState, values: np.ndarray) -> SteadyState:
    """The state of a `Steady` player with more columns, after those that it has.

    `values` has some values of the new columns, one column each: they give centers and units. The weights of
    new columns are 0, and their variances are those of the prior. All else stays as it was. As long as the
    new cells are missing, predictions are those of the old state, up to the order in which floats are added;
    but a learner whose prior depends on the number of columns has another one from now on.

    >>> from holdfast.steady import Steady
    >>> state = grown(Steady(), Steady().init(dim=2), np.arange(8.0)[:, None])
    >>> state.v.shape, state.units.center.tolist(), state.units.factors.tolist()
    ((4,), [0.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.5, 0.0])
    """
    dim, new = len(state.row) - 1, values.shape[1]
    larger = _embedded(state, player.init(dim + new), dim, new)
    larger.first[:, dim : dim + new] = math.nan
    larger = larger._replace(numbers=larger.numbers.copy())
    if larger.numbers[EPOCH] >= 0.0:
        larger.numbers[EPOCH] += 1.0  # there are other units
    measure_units(Units(*(array[dim : dim + new] for array in larger.units)), values, player.wrong)
    return larger


def _embedded(state: Any, larger: Any, dim: int, new: int) -> Any:
    """The first state in more dimensions, `larger`, with what is known of the old ones.

    The last entry of an array with more than `dim` of them is about the constant or the target: it stays the
    last one.
    """
    if isinstance(state, FullState):
        return _embedded_covariance(state, larger, dim, new)
    if isinstance(state, tuple):
        if isinstance(state, DiagonalState):  # its variances are over their growth
            larger = larger._replace(variances=larger.variances / state.growth[0])
        parts = zip(state, larger, strict=True)
        return tuple.__new__(type(state), [_embedded(*part, dim, new) for part in parts])
    if isinstance(state, np.ndarray):
        if state.shape == larger.shape:
            return state
        places = [_places(*lengths, dim, new) for lengths in zip(state.shape, larger.shape, strict=True)]
        larger[np.ix_(*places)] = state
        return larger
    return state


def _places(length: int, longer: int, dim: int, new: int) -> np.ndarray:
    """Where the entries of an axis go, if it has become longer."""
    places = np.arange(length)
    return np.where(places < dim, places, places + new) if longer > length else places


def _embedded_covariance(state: FullState, larger: FullState, dim: int, new: int) -> FullState:
    """Each old weight has its row and its column; new weights have the variance of the prior."""
    root = larger.root / math.sqrt(state.growth[0])
    old, places = len(state.root), _places(dim + 1, dim + 1 + new, dim, new)
    root[np.ix_(places, places)] = state.root[:, :old]
    return FullState(root, larger.product, larger.along, state.growth)
