"""Domains: the convex sets from which the learner picks its points.

`project(w)` moves w to the nearest point, in place, and returns it; `contains(w)` asks; `center(dim)` is a
fresh vector to start from; `diameter(norm)` is the D of every bound; `support(g)` is the largest ⟨u, g⟩
over all points u, the best a comparator can do; `check_dim(dim)` raises if it has no points of that length.

`reaches(g)` is for certificates: the largest ⟨u, g⟩, the largest ⟨u, -g⟩, and at least the largest
Σ |u_i g_i| over all u that the domain `contains`, the unit of rounding errors (`docs/math.md`, 8.1).

To contain means up to rounding, 1e-12 of the domain's own size. A point inside is projected onto itself, bit
for bit, and what was projected once stays where it is. For a w that is not finite nothing is promised, except
that it raises nothing.
"""

from holdfast.domains.ball import Ball
from holdfast.domains.box import Box, Interval
from holdfast.domains.ellipsoid import Ellipsoid
from holdfast.domains.everywhere import Everywhere
from holdfast.domains.shifted import Shifted
from holdfast.domains.simplex import L1Ball, Simplex

__all__ = ["Ball", "Box", "Ellipsoid", "Everywhere", "Interval", "L1Ball", "Shifted", "Simplex"]
