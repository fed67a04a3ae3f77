"""How much a round counts in `RobustRidge`, by its residual: three rules, each with the limit r = 1.

`weight(r)` is the weight of a round whose residual is r times the limit. The limit is in units of the mean
absolute residual, which is 0.8 standard deviations of normal residuals.
"""

import math
from typing import Any

from holdfast.rule import rule


@rule
class Redescending:
    """1 up to the limit, then r⁻²: a residual far beyond it moves the weights less than one at the limit.

    Examples
    --------
    >>> Redescending().weight(0.5), Redescending().weight(10.0)
    (1.0, 0.01)
    """

    limit: float = 3.0

    def check(self) -> None:
        check_limit(self)

    def weight(self, r: float) -> float:
        """The weight of a round whose residual is r times the limit."""
        return 1.0 / (r * r) if r > 1.0 else 1.0


@rule
class HuberWeights:
    """1 up to the limit, then r⁻¹, as the Huber loss has it: all residuals beyond it have the same influence.

    Examples
    --------
    >>> HuberWeights().weight(0.5), HuberWeights().weight(10.0)
    (1.0, 0.1)
    """

    limit: float = 1.5

    def check(self) -> None:
        check_limit(self)

    def weight(self, r: float) -> float:
        """The weight of a round whose residual is r times the limit."""
        return 1.0 / r if r > 1.0 else 1.0


@rule
class InverseMultiquadric:
    """1 / (1 + r²), a smooth curve: the weights of WoLF (Duran-Martin et al., 2024).

    Examples
    --------
    >>> InverseMultiquadric().weight(1.0), round(InverseMultiquadric().weight(10.0), 4)
    (0.5, 0.0099)
    """

    limit: float = 4.0

    def check(self) -> None:
        check_limit(self)

    def weight(self, r: float) -> float:
        """The weight of a round whose residual is r times the limit."""
        return 1.0 / (1.0 + r * r)


def check_limit(rule: Any) -> None:
    if not 0.0 < rule.limit < math.inf:
        raise ValueError(f"limit counts mean residuals, so it must be positive: got {rule.limit}")
