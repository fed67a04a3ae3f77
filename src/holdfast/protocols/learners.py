"""The role of learners, the roles that ask more of a learner, and the step of `OGD`."""

import math
from typing import Any, Protocol

from holdfast.protocols.geometry import Domain
from holdfast.protocols.states import LearningOptions
from holdfast.protocols.vector_types import Row, Weights
from holdfast.rounds import Round


class Learner(Protocol):
    """Chooses the weights of each round."""

    def init(self, dim: int) -> Any:
        """The first state."""

    def predict(self, state: Any) -> Weights:
        """The weights of this round."""

    def update(self, state: Any, round: Round) -> Any:
        """The state after learning from a round: the gradient is round.slope * round.x."""


class LearnerOptions(Learner, LearningOptions, Protocol):
    """What a learner may answer too."""

    def in_units(self, state: Any, round: Round) -> Round:
        """The round with x and y as the learner sees them, for `update`; by default x itself, and 0."""
        return Round(round.slope, round.x, round.y, round.x, 0.0)

    def needs(self) -> Any:
        """What its bound asks of a game: a `holdfast.learners.needs.Needs`, by default None (unknown)."""
        return None

    def reads_rows(self) -> bool:
        """Whether it learns from rows also where the slope is 0; by default no."""
        return False

    def needs_hints(self) -> bool:
        """Whether it must know the size of a gradient in advance; by default no."""
        return False

    def set_hint(self, state: Any, hint: float) -> Any:
        """The state, given that later gradients have sizes up to `hint`; by default the same."""
        return state

    def bound(self, state: Any, u: Any) -> float:
        """As in `ProvenLearner`; by default infinity, no bound is known."""
        return math.inf


class LearnerInDomain(Learner, Protocol):
    """A learner that says where its weights may lie: for `Bounded`, certificates and regret."""

    @property
    def domain(self) -> Domain:
        """A parameter that holds the domain."""


class HintedLearner(LearnerInDomain, Protocol):
    """A learner that must know the size of a gradient in advance: for `Clipped`."""

    def needs_hints(self) -> bool:
        """True."""

    def set_hint(self, state: Any, hint: float) -> Any:
        """The state, given that later gradients have sizes up to `hint`."""

    def gauge(self, slope: float, x: Row) -> float:
        """The size of the gradient slope * x, as hints mean it."""


class ProvenLearner(Learner, Protocol):
    """A learner with a bound on its regret. No game asks for it."""

    def needs(self) -> Any:
        """A `holdfast.learners.needs.Needs`: the games for which the bound holds."""

    def bound(self, state: Any, u: Any) -> float:
        """The most that the regret against u can be, on the rounds that the state has learned from."""


class Step(Protocol):
    """How far `OGD` moves."""

    def accrued(self, tally: float, size: float) -> float:
        """The tally after one more gradient of this size; at first it is 0."""

    def eta(self, tally: float, diameter: float) -> float:
        """The step, in a domain of this diameter."""

    def held(self, tally: float, diameter: float) -> float:
        """What the regret bound has beside half the sum of eta times squared sizes."""
