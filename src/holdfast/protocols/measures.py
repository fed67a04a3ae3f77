"""The role of measures: what the size of a round is."""

from typing import Any, Protocol, TypeAlias

from holdfast.protocols.vector_types import Row
from holdfast.rounds import Round


class GradientMeasure(Protocol):
    """The size of a round, from its gradient alone."""

    def measure(self, norm: Any, slope: float, x: Row) -> float:
        """The size of a round with the gradient slope * x."""


class StateMeasure(Protocol):
    """The size of a round, from the state of the learner too."""

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        """The size of a round in the units of the learner, which is in this state.

        `size` is the norm of `round.row`. Where the slope is 0 it may be 0 instead, unless the measure
        `reads_rows`.
        """


class MeasureOptions(GradientMeasure, Protocol):
    """What a measure may answer too. By default `size_of` calls `measure`."""

    def check_learner(self, learner: Any) -> None:
        """Raise if it has no meaning for this learner; by default it has."""

    def name(self) -> str:
        """What it measures, as a reason for skipping a round; by default the gradient."""
        return "gradient"

    def reads_rows(self) -> bool:
        """Whether the size depends on the row also where the slope is 0; by default no."""
        return False

    def is_of_row(self) -> bool:
        """Whether it is the size of the row alone: then the farthest cell is to blame; by default no."""
        return False

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        """As in `StateMeasure`."""
        return self.measure(norm, round.slope, round.row)


Measure: TypeAlias = GradientMeasure | StateMeasure
