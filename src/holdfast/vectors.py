"""Weights and rows, dense or sparse, and what the game does with them.

The functions here are the only ones in holdfast with a body for each world. Here stand NumPy's;
`holdfast._compiled` has loops that round in the same order, so that both worlds give
the same bits. That order is NumPy's own pairwise summation (eight running sums, blocks of 128), which is
also more accurate than adding from left to right. float32 rows are widened before anything is multiplied.
"""

import math
from typing import NamedTuple

import numpy as np

UNEQUAL = (
    "two vectors must have the same number of entries: check that every x has as many as there are weights"
)

_quiet = np.errstate(over="ignore", invalid="ignore", under="ignore")


class Sparse(NamedTuple):
    """A row of mostly zeros: the entries that are not, and their places, each at most once."""

    places: np.ndarray
    values: np.ndarray
    dim: int


@_quiet
def dot(a, b):
    """The inner product of weights and a row, or of anything with itself, as a float."""
    if isinstance(a, Lazy):
        return a.square() if a is b else a.product(b)
    if isinstance(b, Sparse):
        return _sum(b.values, b.values) if a is b else _sum(_at(a, b), b.values)
    return _sum(a, b)


def _sum(a, b):
    if len(a) != len(b):
        raise ValueError(UNEQUAL)
    return float(np.add.reduce(np.multiply(a, b, dtype=np.float64)))


def _at(w, x):
    if len(w) != x.dim:
        raise ValueError(UNEQUAL)
    return w[x.places]


@_quiet
def add(w, scale, x):
    """w += scale * x, in place."""
    if isinstance(w, Lazy):
        w.plus(scale, x)
    elif isinstance(x, Lazy):
        add(w, scale * x.multiple(), x.v)
    elif isinstance(x, Sparse):
        w[x.places] = _at(w, x) + np.multiply(scale, x.values, dtype=np.float64)
    else:
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        w += np.multiply(scale, x, dtype=np.float64)


@_quiet
def stretch(w, factor):
    """w *= factor, in place."""
    if isinstance(w, Lazy):
        w.times(factor)
    else:
        w *= factor


def refill(w, values):
    """Set all weights, in place. Lazy ones can only be set to 0."""
    if isinstance(w, Lazy):
        w.clear()
    else:
        w[:] = values


@_quiet
def largest(x):
    """The largest absolute entry; NaN if there is one, 0 if there are no entries."""
    return float(np.abs(entries(x)).max(initial=0.0))


@_quiet
def total(x):
    """The sum of the absolute entries."""
    return float(np.add.reduce(np.abs(entries(x)).astype(np.float64, copy=False)))


def entries(x):
    """The entries as an array: all of them, of a sparse row those that are not 0, of lazy weights copies."""
    if isinstance(x, Lazy):
        return x.multiple() * x.v
    return x.values if isinstance(x, Sparse) else x


def dense(x):
    """A row with all its zeros, as an array of float64."""
    if isinstance(x, Sparse):
        row = np.zeros(x.dim)
        add(row, 1.0, x)
        return row
    return x.astype(np.float64, copy=False)


def length(w):
    """The number of weights."""
    return len(w.v) if isinstance(w, Lazy) else len(w)


def count_in(summed, w):
    """summed += w, if it has entries. Lazy weights keep that sum themselves."""
    if isinstance(w, Lazy):
        w.predicted()
    elif len(summed) > 0:
        add(summed, 1.0, w)


def log1p(x):
    """ln(1 + x). The compiler knows of this one that it need not be computed if nobody wants to know."""
    return math.log1p(x)


def fetch(rows, t):
    """Have a row come from memory that will be wanted soon. Nothing to do for NumPy."""


def fetch_at(w, places):
    """Have the weights at these places come from memory. Nothing to do for NumPy."""


_SCALE, _SQUARE, _SUM, _WORK = range(4)
_SMALL = 1e-4  # scales below are folded into v: drag and v grow as they fall, and the sum is their difference
_PASSES = 16  # as many entries touched as this many passes over all weights have, before a pass is made


class Lazy(NamedTuple):
    """Weights w = scale * v that know their own length: shrinking them is O(1), a sparse step O(nonzeros).

    That is all online gradient descent on a ball does. The squared length follows a step c x by
    |w + c x|² = |w|² + 2 c <w, x> + c² |x|², which is off by some 1e-16 each time, and is taken afresh
    often enough for that never to add up to 1e-9.

    If `drag` has entries, the sum of all predictions is known as well: it is (sum of scales) * v - drag,
    where drag holds what each step would have contributed had it been made in the first round.
    """

    v: np.ndarray
    drag: np.ndarray  # empty unless the sum is wanted
    numbers: np.ndarray  # the scale, the squared length, the sum of scales, the entries touched

    def multiple(self):
        return float(self.numbers[_SCALE])

    def square(self):
        return max(float(self.numbers[_SQUARE]), 0.0)

    def product(self, x):
        return self.numbers[_SCALE] * dot(self.v, x)

    def plus(self, c, x):
        numbers, touched, square = self.numbers, len(entries(x)), dot(x, x)
        step = c / numbers[_SCALE]
        numbers[_SQUARE] += 2.0 * c * self.product(x) + c * (c * square)
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
        """Bring the scale back to 1, at the cost of a pass over all weights, and measure them anew."""
        numbers = self.numbers
        if len(self.drag) > 0:
            add(self.drag, -numbers[_SUM], self.v)
        stretch(self.v, numbers[_SCALE])
        numbers[_SCALE], numbers[_SQUARE] = 1.0, dot(self.v, self.v)
        numbers[_SUM], numbers[_WORK] = 0.0, 0.0

    def clear(self):
        """Set all weights to 0; the sum stays."""
        self.fold()
        self.v[:] = 0.0
        self.numbers[_SQUARE] = 0.0

    def predicted(self):
        """Count the weights into the sum of all predictions."""
        self.numbers[_SUM] += self.numbers[_SCALE]

    def sum(self):
        return self.numbers[_SUM] * self.v - self.drag


def owned(state, most=math.inf):
    """A copy of a state whose arrays, up to `most` bytes, begin where a cache line does.

    Weights that do not make a game a tenth slower.
    """
    if isinstance(state, tuple):
        return tuple.__new__(type(state), [owned(item, most) for item in state])
    return _aligned(state) if isinstance(state, np.ndarray) and state.nbytes <= most else state


def _aligned(array):
    room = np.empty(array.nbytes + 63, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def lazy(w, summed):
    """The same weights, lazy."""
    return Lazy(w, np.zeros(len(w) if summed else 0), np.array([1.0, dot(w, w), 0.0, 0.0]))
