"""The role of filters."""

from typing import Any, Protocol

from holdfast.protocols.states import StateOptions


class Filter(Protocol):
    """Says whether the learner may learn from a round."""

    def init(self, dim: int) -> Any:
        """The first state."""

    def decide(self, state: Any, size: float) -> tuple[Any, float, bool]:
        """The next state, the threshold, and whether to keep a round of this size."""


class FilterOptions(Filter, StateOptions, Protocol):
    """What a filter may answer too."""

    def keeps_all(self) -> bool:
        """Whether it keeps every finite round; by default no."""
        return False

    def restarts(self, state: Any) -> bool:
        """Whether the learner must start from scratch before the next round; by default no."""
        return False
