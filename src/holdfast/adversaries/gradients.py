"""An adversary that plays linear losses, given by their gradients."""

from typing import Any

from holdfast.adversaries.data import matrix
from holdfast.rule import rule
from holdfast.vectors import dot


@rule
class Gradients:
    """Round t reveals f(w) = <w, g_t>.

    Parameters
    ----------
    G : array or frame of shape (rounds, dim)
        The gradients, one in each row.

    Examples
    --------
    >>> gradients = Gradients([[1.0, -1.0]])
    >>> gradients.reveal(gradients.start(), 0, [2.0, 0.5])[1]
    1.5
    """

    G: Any

    def check(self):
        return self._replace(G=matrix(self.G, "G"))

    def extent(self):
        return self.G.shape

    def start(self):
        return 0

    def reveal(self, state, t, w):
        g = self.G[t]
        return state, dot(w, g), 1.0, g
