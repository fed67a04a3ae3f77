"""Weights and rows, dense or sparse, and what the game does with them.

Python runs these functions, and compiled games have a copy for each list of types (`kernels.by_type`). What
they do with the entries of a row is a kernel each (`holdfast.kernels`).
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from holdfast.kernels import (
    Entry,
    Sparse,
    by_type,
    each_entry,
    most_of_entries,
    place_of_most,
    sum_of_entries,
    where,
)

TINY = 1e-305  # smaller sizes count as 0: what is divided by them may be no float
_quiet = np.errstate(all="ignore")


@sum_of_entries
def inner_product(a: Entry, x: Entry) -> Entry:
    return a * x


@sum_of_entries
def _sum_of_squares(x: Entry) -> Entry:
    return x * x


@sum_of_entries
def _sum_of_magnitudes(x: Entry) -> Entry:
    return abs(x)


@most_of_entries(1)
def _largest_magnitude(x: Entry) -> Entry:
    return abs(x)


@most_of_entries(2)
def _extremes(x: Entry) -> Entry:
    return x, -x


@place_of_most
def _place_of_largest(x: Entry) -> Entry:
    return where(x != x, -1.0, abs(x))


@each_entry("w")
def add_entries(w: Entry, scale: float, x: Entry) -> Entry:
    return w + scale * x


@each_entry("w")
def _scale_entries(factor: float, w: Entry) -> Entry:
    return w * factor


@each_entry("w")
def _assign_entries(w: Entry, x: Entry) -> Entry:
    return x


@_quiet
@by_type
def dot(a: Any, b: Any) -> float:
    """The inner product of weights and a row, as a float."""
    if isinstance(a, _WITH_PRODUCT):
        return a.product(b)
    return inner_product(a, b)


@_quiet
@by_type
def squared(x: Any) -> float:
    """The inner product of weights or a row with itself: one pass where `dot` would make two."""
    if isinstance(x, LazyWeights):
        return x.square()
    return _sum_of_squares(values_of(x))


@_quiet
@by_type
def add(w: Any, scale: float, x: Any) -> None:
    """w += scale * x, in place."""
    if isinstance(w, LazyWeights):
        w.plus(scale, x)
    elif isinstance(x, LazyWeights):
        add(w, scale * x.multiple(), x.v)
    elif isinstance(x, _WITH_SLOPES):
        add(w, scale, x.slopes())
    else:
        add_entries(w, scale, x)


@_quiet
@each_entry("w", "rest")
def add_exactly(w: Entry, rest: Entry, x: Entry) -> tuple[Entry, Entry]:
    """w += x, in place, and into `rest` what rounding loses: w + rest is nearly the exact sum.

    The error of an addition is itself a float, which six operations find (Knuth's two-sum).
    """
    after = w + x
    part = after - w
    return after, rest + ((w - (after - part)) + (x - part))


@_quiet
@by_type
def scale_by(w: Any, factor: float) -> None:
    """w *= factor, in place."""
    if isinstance(w, LazyWeights):
        w.times(factor)
    else:
        _scale_entries(factor, w)


@by_type
def assign(w: Any, values: np.ndarray) -> None:
    """Set all weights, in place. Lazy ones can only be set to 0."""
    if isinstance(w, LazyWeights):
        w.clear()
    else:
        _assign_entries(w, values)


@_quiet
@by_type
def largest(x: Any) -> float:
    """The largest absolute entry; NaN if there is one, 0 if there are no entries."""
    return _largest_magnitude(values_of(x), 0.0)


@_quiet
@by_type
def place_of_largest(x: Any) -> int:
    """The index of the largest absolute entry, the first of several; -1 if there are no entries.

    Of a sparse row it is the index of the column.
    """
    found = _place_of_largest(values_of(x))
    return int(x.places[found]) if isinstance(x, Sparse) and found >= 0 else found


@_quiet
@by_type
def spread(x: Any) -> float:
    """The largest entry less the smallest, zeros of a sparse row included; NaN if there is one."""
    row = values_of(x)
    has_zeros = isinstance(x, Sparse) and len(row) < x.dim
    high, low = _extremes(row, 0.0 if has_zeros else -math.inf)
    return high + low


@_quiet
@by_type
def sum_abs(x: Any) -> float:
    """The sum of the absolute entries."""
    return _sum_of_magnitudes(values_of(x))


@by_type
def values_of(x: Any) -> np.ndarray:
    """The entries as an array: all of them, of a sparse row those that are not 0, of other weights copies."""
    if isinstance(x, LazyWeights):
        return x.multiple() * x.v
    if isinstance(x, _WITH_SLOPES):
        return x.slopes()
    return x.values if isinstance(x, Sparse) else x


@by_type
def place(x: Any, j: int) -> int:
    """The index in the row of the j-th of its `values_of`."""
    return int(x.places[j]) if isinstance(x, Sparse) else j


@by_type
def to_dense(x: Any) -> np.ndarray:
    """A row with all its zeros, as an array of float64."""
    if isinstance(x, Sparse):
        row = np.zeros(x.dim)
        add(row, 1.0, x)
        return row
    return np.asarray(x, np.float64)


@by_type
def length(w: Any) -> int:
    """The number of weights."""
    if isinstance(w, ScaledWeights):
        return len(w.center)
    if isinstance(w, ForecastWeights):
        return len(w.slopes())
    return len(w.v) if isinstance(w, LazyWeights) else len(w)


@by_type
def target_for(w: Any, y: float) -> float:
    """The target of a round as these weights see it."""
    return w.target_in_units(y) if isinstance(w, ScaledWeights) else y


@by_type
def prediction_of(w: Any, z: float) -> float:
    """A prediction of these weights, in the units of the target."""
    return w.to_target_units(z) if isinstance(w, ScaledWeights) else z


@by_type
def add_to_sum(summed: np.ndarray, w: Any) -> None:
    """summed += w, if it has entries. Lazy weights keep that sum themselves."""
    if isinstance(w, LazyWeights):
        w.predicted()
    elif len(summed) > 0:
        add(summed, 1.0, w)


def prefetch_row(rows: np.ndarray, t: int) -> None:
    """Prefetch a row that will be used soon. Nothing to do for NumPy."""


def prefetch_at(w: Any, places: np.ndarray) -> None:
    """Prefetch the weights at these places. Nothing to do for NumPy."""


_SCALE, _SQUARE, _SUM, _WORK, _MOVED = range(5)
_SMALL = 1e-4  # scales below are folded into v: drag and v grow as they fall, and the sum is their difference
_LONG = 100.0  # times the length of the weights: before a longer step the sum is brought up to date
_PASSES = 16  # as many entries touched as this many passes over all weights have, before a pass is made


class LazyWeights(NamedTuple):
    """Weights w = scale * v with their length: shrinking them is O(1), a sparse step O(nonzeros).

    That is all online gradient descent on a ball does. The squared length follows a step c x by
    |w + c x|² = |w|² + 2 c <w, x> + c² |x|², which is off by some 1e-16 each time. It is computed from the
    weights often enough that this never adds up to 1e-9.

    If `drag` has entries, the sum of all predictions can be computed: it is (sum of scales) * v - drag,
    where drag holds what each step would have contributed had it been made in the first round. Both grow with
    the longest step, and so does the rounding error of their difference. A ball may shrink the weights again
    at once, and then the error would be larger than the sum. So the sum of scales starts again at 0 before a
    step that is much longer than the weights are: such a step was not made in any earlier round.
    """

    v: np.ndarray
    drag: np.ndarray  # empty unless the sum is wanted
    numbers: np.ndarray  # scale, squared length, sum of scales, entries touched; 0 if all weights are 0, or 1

    def multiple(self) -> float:
        return float(self.numbers[_SCALE])

    def square(self) -> float:
        return max(float(self.numbers[_SQUARE]), 0.0)

    def product(self, x: Any) -> float:
        return self.numbers[_SCALE] * dot(self.v, x)

    def plus(self, c: float, x: Any) -> None:
        numbers, touched, square = self.numbers, len(values_of(x)), squared(x)
        step, longer = c / numbers[_SCALE], c * (c * square)
        if numbers[_SUM] != 0.0 and not longer <= _LONG * _LONG * numbers[_SQUARE]:
            self.settle()
        numbers[_SQUARE] += 2.0 * c * self.product(x) + longer
        numbers[_MOVED] = 1.0
        add(self.v, step, x)
        if len(self.drag) > 0:
            add(self.drag, step * numbers[_SUM], x)
        numbers[_WORK] += touched
        measurable = 1e-280 < square < math.inf or touched == 0
        if numbers[_WORK] > _PASSES * len(self.v) or not measurable:
            self.fold()

    def times(self, factor: float) -> None:
        self.numbers[_SCALE] *= factor
        self.numbers[_SQUARE] *= factor * factor
        if not abs(self.numbers[_SCALE]) > _SMALL:
            self.fold()

    def fold(self) -> None:
        """Bring the scale back to 1, in a pass over all weights, and compute their length again."""
        numbers = self.numbers
        self.settle()
        scale_by(self.v, numbers[_SCALE])
        numbers[_SCALE], numbers[_SQUARE], numbers[_WORK] = 1.0, squared(self.v), 0.0

    def settle(self) -> None:
        """Bring the sum of all predictions up to date, so that the sum of scales is 0 again: a pass, too."""
        if len(self.drag) > 0:
            add(self.drag, -self.numbers[_SUM], self.v)
        self.numbers[_SUM] = 0.0

    def clear(self) -> None:
        """Set all weights to 0; the sum stays."""
        self.fold()
        self.v[:] = 0.0
        self.numbers[_SQUARE], self.numbers[_MOVED] = 0.0, 0.0

    def predicted(self) -> None:
        """Count the weights into the sum of all predictions, to which zeros add nothing."""
        self.numbers[_SUM] += self.numbers[_SCALE] * self.numbers[_MOVED]

    def sum(self) -> np.ndarray:
        return self.numbers[_SUM] * self.v - self.drag


def aligned_copy(state: Any, most: float = math.inf) -> Any:
    """A copy of a state whose arrays, up to `most` bytes, begin where a cache line does.

    Weights that do not make a game a tenth slower.
    """
    arrays: list[np.ndarray] = []
    _add_arrays(state, most, arrays)
    starts = np.cumsum([0] + [array.nbytes + -array.nbytes % 64 for array in arrays]).tolist()
    room = np.empty(starts[-1] + 64, np.uint8)
    first = -room.ctypes.data % 64
    copies = [
        np.ndarray(array.shape, array.dtype, room, first + start)
        for array, start in zip(arrays, starts, strict=False)
    ]
    for array, copy in zip(arrays, copies, strict=True):
        copy[...] = array
    return _with_arrays(state, most, iter(copies))


def _add_arrays(state: Any, most: float, arrays: list[np.ndarray]) -> None:
    if isinstance(state, tuple):
        for item in state:
            _add_arrays(item, most, arrays)
    elif isinstance(state, np.ndarray) and state.nbytes <= most:
        arrays.append(state)


def _with_arrays(state: Any, most: float, arrays: Iterator[np.ndarray]) -> Any:
    if isinstance(state, tuple):
        return tuple.__new__(type(state), [_with_arrays(item, most, arrays) for item in state])
    return next(arrays) if isinstance(state, np.ndarray) and state.nbytes <= most else state


def lazy(w: np.ndarray, summed: bool) -> LazyWeights:
    """The same weights, lazy."""
    moved = 1.0 if largest(w) != 0.0 else 0.0
    return LazyWeights(w, np.zeros(len(w) if summed else 0), np.array([1.0, squared(w), 0.0, 0.0, moved]))


def rescaled(w: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """w * factors; entries that would be larger than any float are 1.79e308."""
    most = 1.79e308 / np.maximum(factors, 1.0)
    return np.minimum(np.maximum(w, -most), most) * factors


class ScaledWeights(NamedTuple):
    """Weights of standardised features, and of a constant: what `Scaled` learners predict with.

    The running center of every feature is subtracted, the rest is divided by its running spread and clipped
    at `clip`; the constant is the last weight. The target is scaled in the same way, if it has a spread. It
    is predicted no further than a spread beyond the targets that were learned from.
    """

    v: Any
    center: np.ndarray
    factors: np.ndarray
    row: np.ndarray  # a buffer for a row
    clip: float
    y_center: float
    y_spread: float
    y_low: float  # the least and the greatest target learned from; if not in this order, any may be predicted
    y_high: float
    missing: Any  # what to do with missing cells (`holdfast.learners.missing_cells`)
    knee: float  # cells are linear up to here, then logarithmic, and at most `most`
    most: float

    def product(self, x: Any) -> float:
        return dot(self.v, self.row_in_units(x))

    def row_in_units(self, x: Any) -> Any:
        row, is_usual = standardise(self, x)
        return row if is_usual else squash(self.missing.clear(row, x), self.knee, self.most)

    def target_in_units(self, y: float) -> float:
        deviation = y - self.y_center
        return deviation / self.y_spread if self.y_spread > 0.0 else 0.0 * deviation  # NaN stays NaN

    def to_target_units(self, z: float) -> float:
        y = self.y_center + self.y_spread * z if self.y_spread > 0.0 else self.y_center
        if self.y_low <= self.y_high:
            low, high = self.y_low - self.y_spread, self.y_high + self.y_spread
            return low if y < low else high if y > high else y
        return y

    def view(self) -> tuple[float, float]:
        """Up to where cells are seen as they are, and the largest value that is seen."""
        return self.knee, min(self.most, self.clip)

    def slopes(self) -> np.ndarray:
        """The weights of the features in their own units, and those of the target."""
        return rescaled(self.y_spread * values_of(self.v)[: len(self.factors)], self.factors)

    def constant(self) -> float:
        """What is predicted where all features are 0, as far as none is clipped."""
        v = values_of(self.v)
        shift = dot(v[: len(self.factors)] * self.factors, self.center)
        return self.y_center + self.y_spread * (v[len(self.factors)] - shift)


class ForecastWeights(NamedTuple):
    """Weights that depend on the row they predict for: the learner's `forecast` computes the prediction."""

    learner: Any
    state: Any

    def product(self, x: Any) -> float:
        return self.learner.forecast(self.state, x)

    def slopes(self) -> np.ndarray:
        """The weights without a row."""
        return self.learner.blind(self.state)


_WITH_SLOPES = (ScaledWeights, ForecastWeights)
_WITH_PRODUCT = (ScaledWeights, ForecastWeights, LazyWeights)


@by_type
def squash(row: Any, knee: float, most: float) -> Any:
    """A dense row with its far cells squashed, in place; a sparse row as it is."""
    return row if isinstance(row, Sparse) else squash_cells(row, knee, most)


def squash_cells(row: np.ndarray, knee: float, most: float) -> np.ndarray:
    """Replace cells z beyond the knee, in place, by knee + ln(1 + |z| - knee), with the sign of z."""
    for i in range(len(row)):
        far = abs(float(row[i])) - knee
        if far > 0.0:
            row[i] = math.copysign(min(knee + math.log(1.0 + far), most), float(row[i]))
    return row


@_quiet
@by_type
def standardise(w: ScaledWeights, x: Any) -> tuple[Any, bool]:
    """A row as the weights `w` see it, with a 1 for the constant; a dense one in their buffer.

    Also whether all of its cells are known and within the knee; of a sparse row this is not known.
    """
    if isinstance(x, Sparse):
        count = len(x.places)
        places, values = np.empty(count + 1, x.places.dtype), np.empty(count + 1)
        assign(places[:count], x.places)
        _scale_row(w.factors, values[:count], w.clip, x)
        places[count], values[count] = x.dim, 1.0
        return Sparse(places, values, x.dim + 1), False
    is_usual = _standardise_row(w.row[: len(x)], w.center, w.factors, w.clip, w.knee, x)
    w.row[len(x)] = 1.0
    return w.row, is_usual


@each_entry("row", reports=True)
def _standardise_row(
    row: Entry, center: Entry, factors: Entry, clip: float, knee: float, x: Entry
) -> tuple[Entry, Entry]:
    value = _clipped((x - center) * factors, clip)
    return value, abs(value) < knee


@each_entry("row", packed=("row",))
def _scale_row(factors: Entry, row: Entry, clip: float, x: Entry) -> Entry:
    return _clipped(x * factors, clip)


def _clipped(value: Entry, clip: float) -> Entry:
    """Finite values are clipped to [-clip, clip]; others become NaN, so that the round is skipped."""
    near = where(value > clip, clip, where(value < -clip, -clip, value))
    return where(abs(value) == math.inf, math.nan, near)
