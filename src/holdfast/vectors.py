"""Weights and rows, dense or sparse, and what the game does with them.

Only the functions here and in `matrices`, `entrywise` and `flatten` have two bodies. These are for Python,
with NumPy; `holdfast._compiled` has loops for compiled games, which round in the same order and so give the
same bits. That order is NumPy's own pairwise summation (eight running sums, blocks of 128), which is also
more accurate than adding from left to right; the last up to seven entries are summed by themselves.
float32 rows are widened before anything is multiplied.
"""

import math
from typing import Any, NamedTuple

import numpy as np

TINY = 1e-305  # smaller sizes count as 0: what is divided by them may be no float
UNEQUAL = (
    "two vectors must have the same number of entries: check that every x has as many as there are weights"
)

_quiet = np.errstate(all="ignore")


class Sparse(NamedTuple):
    """A row of mostly zeros: the entries that are not, and their places, each at most once."""

    places: np.ndarray
    values: np.ndarray
    dim: int


@_quiet
def dot(a, b):
    """The inner product of weights and a row, as a float."""
    if isinstance(a, ScaledWeights | ForecastWeights | LazyWeights):
        return a.product(b)
    if isinstance(b, Sparse):
        return _sum(_at(a, b), b.values)
    return _sum(a, b)


def dot_transformed(w, row):
    """`dot` for a row that the `transform_row` of these weights has returned."""
    return dot(w.v if isinstance(w, ScaledWeights) else w, row)


@_quiet
def squared(x):
    """The inner product of weights or a row with itself: one pass where `dot` would make two."""
    if isinstance(x, LazyWeights):
        return x.square()
    row = values_of(x)
    return _sum(row, row)


def _sum(a, b):
    if len(a) != len(b):
        raise ValueError(UNEQUAL)
    return _in_order(np.multiply(a, b, dtype=np.float64))


def _in_order(terms):
    """Their sum: first of those that fill all eight running sums, then of the up to seven others."""
    whole = len(terms) & -8
    return float(np.add.reduce(terms[:whole])) + float(np.add.reduce(terms[whole:]))


def _at(w, x):
    if len(w) != x.dim:
        raise ValueError(UNEQUAL)
    return w[x.places]


@_quiet
def add(w, scale, x):
    """w += scale * x, in place."""
    if isinstance(w, LazyWeights):
        w.plus(scale, x)
    elif isinstance(x, LazyWeights):
        add(w, scale * x.multiple(), x.v)
    elif isinstance(x, ScaledWeights | ForecastWeights):
        add(w, scale, x.slopes())
    elif isinstance(x, Sparse):
        w[x.places] = _at(w, x) + np.multiply(scale, x.values, dtype=np.float64)
    else:
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        w += np.multiply(scale, x, dtype=np.float64)


@_quiet
def add_exactly(w, rest, x):
    """w += x, in place, and into `rest` what rounding loses: w + rest is nearly the exact sum.

    The error of an addition is itself a float, which six operations find (Knuth's two-sum).
    """
    after = w + x
    part = after - w
    rest += (w - (after - part)) + (x - part)
    w[:] = after


@_quiet
def scale_by(w, factor):
    """w *= factor, in place."""
    if isinstance(w, LazyWeights):
        w.times(factor)
    else:
        w *= factor


def assign(w, values):
    """Set all weights, in place. Lazy ones can only be set to 0."""
    if isinstance(w, LazyWeights):
        w.clear()
    else:
        w[:] = values


@_quiet
def largest(x):
    """The largest absolute entry; NaN if there is one, 0 if there are no entries."""
    return float(np.abs(values_of(x)).max(initial=0.0))


@_quiet
def place_of_largest(x):
    """The index of the largest absolute entry, the first of several; -1 if there are no entries.

    Of a sparse row it is the index of the column.
    """
    row = np.abs(values_of(x))
    if len(row) == 0:
        return -1
    found = int(np.argmax(np.where(np.isnan(row), -1.0, row)))
    return int(x.places[found]) if isinstance(x, Sparse) else found


@_quiet
def spread(x):
    """The largest entry less the smallest, zeros of a sparse row included; NaN if there is one."""
    row = values_of(x)
    zero = isinstance(x, Sparse) and len(row) < x.dim
    return float(row.max(initial=0.0 if zero else -math.inf)) - float(
        row.min(initial=0.0 if zero else math.inf)
    )


@_quiet
def sum_abs(x):
    """The sum of the absolute entries."""
    return _in_order(np.abs(values_of(x)).astype(np.float64, copy=False))


def values_of(x):
    """The entries as an array: all of them, of a sparse row those that are not 0, of other weights copies."""
    if isinstance(x, LazyWeights):
        return x.multiple() * x.v
    if isinstance(x, ScaledWeights | ForecastWeights):
        return x.slopes()
    return x.values if isinstance(x, Sparse) else x


def place(x, j):
    """The index in the row of the j-th of its `values_of`."""
    return int(x.places[j]) if isinstance(x, Sparse) else j


def to_dense(x):
    """A row with all its zeros, as an array of float64."""
    if isinstance(x, Sparse):
        row = np.zeros(x.dim)
        add(row, 1.0, x)
        return row
    return x.astype(np.float64, copy=False)


def length(w):
    """The number of weights."""
    if isinstance(w, ScaledWeights):
        return len(w.center)
    if isinstance(w, ForecastWeights):
        return len(w.slopes())
    return len(w.v) if isinstance(w, LazyWeights) else len(w)


def target_for(w, y):
    """The target of a round as these weights see it."""
    return w.transform_target(y) if isinstance(w, ScaledWeights) else y


def prediction_of(w, z):
    """A prediction of these weights, in the units of the target."""
    return w.to_target_units(z) if isinstance(w, ScaledWeights) else z


def add_to_sum(summed, w):
    """summed += w, if it has entries. Lazy weights keep that sum themselves."""
    if isinstance(w, LazyWeights):
        w.predicted()
    elif len(summed) > 0:
        add(summed, 1.0, w)


def prefetch_row(rows, t):
    """Prefetch a row that will be used soon. Nothing to do for NumPy."""


def prefetch_at(w, places):
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

    def multiple(self):
        return float(self.numbers[_SCALE])

    def square(self):
        return max(float(self.numbers[_SQUARE]), 0.0)

    def product(self, x):
        return self.numbers[_SCALE] * dot(self.v, x)

    def plus(self, c, x):
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

    def times(self, factor):
        self.numbers[_SCALE] *= factor
        self.numbers[_SQUARE] *= factor * factor
        if not abs(self.numbers[_SCALE]) > _SMALL:
            self.fold()

    def fold(self):
        """Bring the scale back to 1, in a pass over all weights, and compute their length again."""
        numbers = self.numbers
        self.settle()
        scale_by(self.v, numbers[_SCALE])
        numbers[_SCALE], numbers[_SQUARE], numbers[_WORK] = 1.0, squared(self.v), 0.0

    def settle(self):
        """Bring the sum of all predictions up to date, so that the sum of scales is 0 again: a pass, too."""
        if len(self.drag) > 0:
            add(self.drag, -self.numbers[_SUM], self.v)
        self.numbers[_SUM] = 0.0

    def clear(self):
        """Set all weights to 0; the sum stays."""
        self.fold()
        self.v[:] = 0.0
        self.numbers[_SQUARE], self.numbers[_MOVED] = 0.0, 0.0

    def predicted(self):
        """Count the weights into the sum of all predictions, to which zeros add nothing."""
        self.numbers[_SUM] += self.numbers[_SCALE] * self.numbers[_MOVED]

    def sum(self):
        return self.numbers[_SUM] * self.v - self.drag


def aligned_copy(state, most=math.inf):
    """A copy of a state whose arrays, up to `most` bytes, begin where a cache line does.

    Weights that do not make a game a tenth slower.
    """
    if isinstance(state, tuple):
        return tuple.__new__(type(state), [aligned_copy(item, most) for item in state])
    return _aligned(state) if isinstance(state, np.ndarray) and state.nbytes <= most else state


def _aligned(array):
    room = np.empty(array.nbytes + 63, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def lazy(w, summed):
    """The same weights, lazy."""
    moved = 1.0 if largest(w) != 0.0 else 0.0
    return LazyWeights(w, np.zeros(len(w) if summed else 0), np.array([1.0, squared(w), 0.0, 0.0, moved]))


def rescaled(w, factors):
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

    def product(self, x):
        return dot(self.v, self.transform_row(x))

    def transform_row(self, x):
        return squash(self.missing.clear(standardise(self, x), x), self.knee, self.most)

    def transform_target(self, y):
        deviation = y - self.y_center
        return deviation / self.y_spread if self.y_spread > 0.0 else 0.0 * deviation  # NaN stays NaN

    def to_target_units(self, z):
        y = self.y_center + self.y_spread * z if self.y_spread > 0.0 else self.y_center
        if self.y_low <= self.y_high:
            low, high = self.y_low - self.y_spread, self.y_high + self.y_spread
            return low if y < low else high if y > high else y
        return y

    def view(self):
        """Up to where cells are seen as they are, and the largest value that is seen."""
        return self.knee, min(self.most, self.clip)

    def slopes(self):
        """The weights of the features in their own units, and those of the target."""
        return rescaled(self.y_spread * values_of(self.v)[: len(self.factors)], self.factors)

    def constant(self):
        """What is predicted where all features are 0, as far as none is clipped."""
        v = values_of(self.v)
        shift = dot(v[: len(self.factors)] * self.factors, self.center)
        return self.y_center + self.y_spread * (v[len(self.factors)] - shift)


class ForecastWeights(NamedTuple):
    """Weights that depend on the row they predict for: the learner's `forecast` computes the prediction."""

    learner: Any
    state: Any

    def product(self, x):
        return self.learner.forecast(self.state, x)

    def slopes(self):
        """The weights without a row."""
        return self.learner.blind(self.state)


def squash(row, knee, most):
    """A dense row with its far cells squashed, in place; a sparse row as it is."""
    return row if isinstance(row, Sparse) else squash_cells(row, knee, most)


def squash_cells(row, knee, most):
    """Replace cells z beyond the knee, in place, by knee + ln(1 + |z| - knee), with the sign of z."""
    if not largest(row) <= knee:
        for i in range(len(row)):
            far = abs(float(row[i])) - knee
            if far > 0.0:
                row[i] = math.copysign(min(knee + math.log(1.0 + far), most), float(row[i]))
    return row


@_quiet
def standardise(w, x):
    """A row as the weights `w` see it, with a 1 for the constant; a dense one in their buffer."""
    if isinstance(x, Sparse):
        values = _clipped(np.multiply(x.values, w.factors[x.places], dtype=np.float64), w.clip)
        return Sparse(np.append(x.places, x.dim), np.append(values, 1.0), x.dim + 1)
    if len(x) != len(w.center):
        raise ValueError(UNEQUAL)
    scaled = np.subtract(x, w.center, dtype=np.float64) * w.factors
    w.row[:-1] = _clipped(scaled, w.clip)
    w.row[-1] = 1.0
    return w.row


def _clipped(values, clip):
    """Finite values are clipped to [-clip, clip]; others become NaN, so that the round is skipped."""
    near = np.where(values > clip, clip, np.where(values < -clip, -clip, values))
    return np.where(np.isinf(values), np.nan, near)
