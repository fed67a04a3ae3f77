"""The roles of norms and domains."""

import math
from typing import Any, Protocol

import numpy as np

from holdfast.protocols.vector_types import Row
from holdfast.vectors import largest


class Norm(Protocol):
    """How long a vector is. Our domains ask more of a norm in `diameter(norm)`: see `holdfast.norms.L2`."""

    def of(self, x: Row) -> float:
        """The norm of a vector."""

    def dual(self) -> Any:
        """The dual norm, in which gradients are measured."""


class NormOptions(Norm, Protocol):
    """What a norm may answer too."""

    def check_dim(self, dim: int) -> None:
        """Raise if it cannot measure vectors of this many entries; by default it can."""

    def entry_bound(self, x: Row, size: float) -> float:
        """At least the largest absolute entry of x, whose norm is `size`; by default computed from x."""
        return largest(x)


class Domain(Protocol):
    """Where the weights may lie."""

    def center(self, dim: int) -> Any:
        """The point to start from, a new array."""

    def project(self, w: Any) -> Any:
        """The nearest point to w; it may write into w."""

    def diameter(self, norm: Any, dim: int = 0) -> float:
        """The largest distance of two points, in this norm; infinity if there is none."""

    def support(self, g: Any) -> float:
        """The largest <u, g> of all points u: what certificates and regret compare with."""


class DomainOptions(Domain, Protocol):
    """What a domain may answer too."""

    def check_dim(self, dim: int) -> None:
        """Raise if it has no points of this many entries; by default it has."""

    def bounded(self) -> bool:
        """Whether its diameter is finite; by default yes."""
        return True

    def reaches(self, g: Any) -> tuple[float, float, float]:
        """For certificates: `support(g)`, `support(-g)`, and at least the largest sum of |u_i g_i|.

        By default from `support` alone.
        """
        size = 0.0
        for i in range(len(g)):
            axis = np.zeros(len(g))
            axis[i] = 1.0
            size += abs(float(g[i])) * max(self.support(axis), self.support(-axis))
        return (self.support(g), self.support(-g), size)

    def project_with_reach(self, w: Any, reach: float) -> tuple[Any, float]:
        """`project(w)`, and a bound on its distance from the center, if w is within `reach` of that.

        By default the bound is infinity.
        """
        return (self.project(w), math.inf)

    def to_lazy(self, state: Any, summed: bool) -> Any:
        """The weights for sparse rows; by default as they are."""
        return state
