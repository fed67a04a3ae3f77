"""How many rounds the quantile filter plans for, and the confidence of each threshold."""

import math
from typing import NamedTuple


class FixedDelta(NamedTuple):
    """The same delta in every round."""

    delta: float

    def cleared(self) -> "FixedDelta":
        """The plan before the first round."""
        return self

    def valid(self, n: int) -> bool:
        """Whether n rounds can lead here."""
        return 0.0 < self.delta < 1.0

    def ahead(self, n: int) -> int:
        """How many rounds come after this one, if n came before it."""
        return 0

    def after(self, n: int) -> "FixedDelta":
        """The plan after n rounds."""
        return self

    def starts_epoch(self) -> bool:
        """Whether the learner must start from scratch with the next round."""
        return False


class Horizon(NamedTuple):
    """T rounds, with delta = T^-2. After them it plans for T more, and so on."""

    delta: float
    length: int
    end: int

    def cleared(self) -> "Horizon":
        return Horizon(self.delta, self.length, self.length)

    def valid(self, n: int) -> bool:
        return 0.0 < self.delta < 1.0 and self.length >= 1 and n < self.end <= n + self.length

    def ahead(self, n: int) -> int:
        return self.end - n - 1

    def after(self, n: int) -> "Horizon":
        return self if n < self.end else Horizon(self.delta, self.length, self.end + self.length)

    def starts_epoch(self) -> bool:
        return False


class Epochs(NamedTuple):
    """Unknown horizon: epochs that end at 1024, 1024 growth, ... rounds. The learner restarts at each.

    In an epoch that ends after T rounds, delta = T^-2.
    """

    delta: float
    growth: float
    end: int
    restart: bool

    def cleared(self) -> "Epochs":
        return first_epoch(self.growth)

    def valid(self, n: int) -> bool:
        return self.delta == confidence(self.end) and 1.0 < self.growth < math.inf and self.end > n

    def ahead(self, n: int) -> int:
        return self.end - n - 1

    def after(self, n: int) -> "Epochs":
        if n < self.end:
            return Epochs(self.delta, self.growth, self.end, False)
        end = math.ceil(self.growth * self.end)
        return Epochs(confidence(end), self.growth, end, True)

    def starts_epoch(self) -> bool:
        return self.restart


_FIRST_EPOCH = 1024


def first_epoch(growth: float) -> Epochs:
    return Epochs(confidence(_FIRST_EPOCH), growth, _FIRST_EPOCH, False)


def confidence(rounds: int) -> float:
    """delta = T^-2, the choice of the theorem."""
    return 1.0 / (float(rounds) * float(rounds)) if rounds > 1 else 0.5
