"""The role of adversaries, and of the tail of `QuantileStream`."""

import math
from typing import Any, Protocol

from holdfast.protocols.vector_types import Row, Weights


class Adversary(Protocol):
    """Reveals the losses."""

    def extent(self) -> tuple[int, int]:
        """The number of rounds and the number of weights."""

    def start(self) -> Any:
        """The first state."""

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        """The next state, and of round t the loss of w, the slope and the row: slope * x is the gradient."""


class AdversaryOptions(Adversary, Protocol):
    """What an adversary may answer too."""

    def target_at(self, t: int) -> float:
        """The target of round t; by default NaN, there is none."""
        return math.nan

    def expect(self, t: int) -> None:
        """Fetch round t from memory, it is played soon; by default nothing is done."""

    def is_sparse(self) -> bool:
        """Whether its rows are sparse; by default no."""
        return False


class Tail(Protocol):
    """How large the outliers of `QuantileStream` are."""

    def stretch(self, v: Any) -> Any:
        """Factors of at least 1, from an array of numbers drawn uniformly between 0 and 1."""
