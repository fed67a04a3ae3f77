"""Domains: the convex sets from which a learner chooses its weights.

`project(w)` moves w to the nearest point, in place, and returns it. `contains(w)` says whether w is in the
domain. `center(dim)` is a new vector to start from. `diameter(norm)` is the D of every bound. `support(g)` is
the largest ⟨u, g⟩ over all points u. `check_dim(dim)` raises if no point has this dimension.

`reaches(g)` is for certificates. It returns the largest ⟨u, g⟩, the largest ⟨u, -g⟩, and an upper bound of
Σ |u_i g_i| over all u that the domain `contains`, the magnitude for rounding errors (`docs/math.md`, 8.1).

`contains` allows rounding errors of 1e-12 of the size of the domain. Projecting a point of the domain, or a
point that was projected before, does not change a bit of it. If w is not finite, the result of `project` is
not defined, but it does not raise.
"""

from holdfast.domains.ball import Ball
from holdfast.domains.box import Box, Interval
from holdfast.domains.ellipsoid import Ellipsoid
from holdfast.domains.everywhere import Everywhere
from holdfast.domains.shifted import Shifted
from holdfast.domains.simplex import L1Ball, Simplex

__all__ = ["Ball", "Box", "Ellipsoid", "Everywhere", "Interval", "L1Ball", "Shifted", "Simplex"]
