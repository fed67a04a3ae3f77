"""Losses that are given: a gradient for each round, or functions of the weights."""

from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast.adversaries.data import matrix
from holdfast.protocols import Row, Weights
from holdfast.rule import replaced, rule
from holdfast.vectors import dot


@rule
class Gradients:
    """Round t reveals f(w) = <w, g_t>.

    Parameters:
        G (array or frame of shape (rounds, dim)): The gradients, one in each row.

    >>> gradients = Gradients([[1.0, -1.0]])
    >>> gradients.reveal(gradients.start(), 0, [2.0, 0.5])[1]
    1.5
    """

    G: Any

    def check(self) -> Any:
        return replaced(self, G=matrix(self.G, "G"))

    def extent(self) -> tuple[int, int]:
        return self.G.shape

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        g = self.G[t]
        return state, dot(w, g), 1.0, g


@rule
class Functions:
    """Round t reveals f_t(w) = f(t, w), with gradient grad(t, w).

    A compiled game also compiles these two functions.

    Parameters:
        f, grad (functions of (t, w)): The loss as a float, and a subgradient of it as a float64 array of
            `size_of_w` entries.
        length: The number of rounds.
        size_of_w: The dimension.

    >>> target = np.array([1.0, -1.0])
    >>> quadratic = Functions(lambda t, w: 0.5 * np.sum((w - target)**2), lambda t, w: w - target, 100, 2)
    >>> quadratic.reveal(quadratic.start(), 0, np.zeros(2))[1]
    1.0
    """

    f: Callable[[int, Weights], float]
    grad: Callable[[int, Weights], np.ndarray]
    length: int
    size_of_w: int

    def check(self) -> None:
        for function in (self.f, self.grad):
            if not callable(function):
                raise TypeError(f"f and grad must be functions of (t, w): got {function!r}")
        if self.length < 0 or self.size_of_w < 1:
            raise ValueError(
                f"length counts rounds and size_of_w weights: got {self.length} and {self.size_of_w}"
            )

    def extent(self) -> tuple[int, int]:
        return self.length, self.size_of_w

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        return state, float(self.f(t, w)), 1.0, self.grad(t, w)
