"""An adversary that plays any convex functions, given by value and gradient."""

from typing import Any

from holdfast.rule import rule


@rule
class Functions:
    """Round t reveals f_t(w) = f(t, w), with gradient grad(t, w).

    A compiled game also compiles these two functions.

    Parameters
    ----------
    f, grad : functions of (t, w)
        The loss as a float, and a subgradient of it as a float64 array of `size_of_w` entries.
    length : int
        The number of rounds.
    size_of_w : int
        The dimension.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.array([1.0, -1.0])
    >>> quadratic = Functions(lambda t, w: 0.5 * np.sum((w - target)**2), lambda t, w: w - target, 100, 2)
    >>> quadratic.reveal(quadratic.start(), 0, np.zeros(2))[1]
    1.0
    """

    f: Any
    grad: Any
    length: int
    size_of_w: int

    def check(self):
        for function in (self.f, self.grad):
            if not callable(function):
                raise TypeError(f"f and grad must be functions of (t, w): got {function!r}")
        if self.length < 0 or self.size_of_w < 1:
            raise ValueError(
                f"length counts rounds and size_of_w weights: got {self.length} and {self.size_of_w}"
            )

    def extent(self):
        return self.length, self.size_of_w

    def start(self):
        return 0

    def reveal(self, state, t, w):
        return state, float(self.f(t, w)), 1.0, self.grad(t, w)
