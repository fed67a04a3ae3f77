"""What filters, learners and players share: the options of every rule with a state."""

from typing import Any, Protocol


class StateOptions(Protocol):
    """What every rule with a state may answer too."""

    def init(self, dim: int) -> Any:
        """The first state."""

    def valid(self, state: Any) -> bool:
        """Whether a state that was read from a file can be played on with; by default yes.

        If it says yes, no later round may raise an error or reach outside of an array.
        """
        return True

    def reset(self, state: Any, dim: int) -> Any:
        """The first state again, in the arrays of this one; by default `init(dim)`."""
        return self.init(dim)


class LearningOptions(StateOptions, Protocol):
    """What learners and players may answer too."""

    def check_dim(self, dim: int) -> None:
        """Raise if it cannot learn this many weights; by default it can."""

    def to_lazy(self, state: Any, summed: bool) -> Any:
        """The state for sparse rows; by default the same. `summed`: whether it sums up all predictions."""
        return state
