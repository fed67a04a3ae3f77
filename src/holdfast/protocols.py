"""The roles of rules, such as `Filter` and `Learner`: which methods a rule must have, and which it may have.

A role has two classes. `Filter` has the methods that every filter must have. `FilterOptions` has those that a
filter may have, each with a default: a rule without its own method uses the default. A role such as
`HintedLearner` asks for more than `Learner` does, and only some games need it.

A parameter of a rule that holds another rule is annotated with its role, `filter: Filter`. For several rules
it is `learners: tuple[Learner, ...]`. `holdfast.roles` checks that the methods are there.

`@rule` gives every rule the optional methods, but mypy does not know this. So a rule that calls those of
another has `self: Any`, or a variable such as `learner: Any = self.learner`.

Vectors are arrays of float64. Rows can also be sparse, and weights lazy (`holdfast.vectors`); the types of
the methods say `Any` for both.
"""

import math
from typing import Any, Protocol, TypeAlias

import numpy as np

from holdfast.rounds import Round, Verdict
from holdfast.vectors import largest

Row: TypeAlias = Any  # a NumPy array of dim floats, or a `holdfast.vectors.Sparse`
Weights: TypeAlias = Any  # a NumPy array of dim floats, or one of the weights of `holdfast.vectors`


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


class Loss(Protocol):
    """What a prediction costs."""

    def value(self, z: float, y: float) -> float:
        """The loss of the prediction z if the target is y."""

    def slope(self, z: float, y: float) -> float:
        """Its derivative by z."""


class LossOptions(Loss, Protocol):
    """What a loss may answer too."""

    def needs_target(self) -> bool:
        """Whether its slope depends on the target: for `Mixture`. By default yes."""
        return True


class LipschitzLoss(Loss, Protocol):
    """A loss that says how steep it can be: for learners that must know, such as `ScaleInvariant`."""

    def lipschitz(self) -> float:
        """The largest absolute slope; infinity if there is none."""


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
        """The most that the regret against u can be, on the rounds that the state has learned from.

        It holds for games that have what it `needs`. By default infinity: no bound is known.
        """
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


class Step(Protocol):
    """How far `OGD` moves."""

    def accrued(self, tally: float, size: float) -> float:
        """The tally after one more gradient of this size; at first it is 0."""

    def eta(self, tally: float, diameter: float) -> float:
        """The step, in a domain of this diameter."""

    def held(self, tally: float, diameter: float) -> float:
        """What the regret bound has beside half the sum of eta times squared sizes."""


class Measure(Protocol):
    """The size of a round."""

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        """The size of a round in the units of the learner, which is in this state.

        `size` is the norm of `round.row`. Where the slope is 0 it may be 0 instead, unless the measure
        `reads_rows`.
        """


class MeasureOptions(Measure, Protocol):
    """What a measure may answer too."""

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


class Player(Protocol):
    """Plays whole rounds: chooses weights, and learns from what is revealed or does not."""

    def init(self, dim: int) -> Any:
        """The first state."""

    def predict(self, state: Any) -> Weights:
        """The weights of this round."""

    def observe(self, state: Any, round: Round) -> tuple[Any, Verdict]:
        """The next state, and the verdict on the round."""

    def current_weights(self, state: Any) -> Weights:
        """The weights to report after the last round; for most players `predict(state)`."""


class PlayerOptions(Player, LearningOptions, Protocol):
    """What a player may answer too."""

    def start_batch(self, state: Any) -> Any:
        """The state at the beginning of a batch, all predicted now; by default the same."""
        return state

    def first_forecast(self) -> int:
        """How many readable rounds pass before there are forecasts; by default none."""
        return 0

    def replayed_at_once(self) -> int:
        """How many earlier rounds a round may play again; by default none. Flat states need room for them."""
        return 0

    def to_stored(self, state: Any) -> Any:
        """The state with zeros where `from_stored` knows the rest: for a player of many keys."""
        return state

    def from_stored(self, state: Any) -> Any:
        """The state that `to_stored` made small, with the same bits as before."""
        return state

    def to_prior(self, state: Any) -> Any:
        """The state from which another game can begin, with what this one has learned."""
        return state

    def check_names(self) -> tuple[str, ...]:
        """The names of what is measured in a round, in the order of a verdict; by default the gradient."""
        return ("gradient",)

    def learns_little(self) -> bool:
        """Whether a round that is skipped for its target teaches a little; by default it teaches nothing."""
        return False

    def core(self) -> Any:
        """The player inside, if this one wraps another; by default itself."""
        return self


class PlayerInDomain(Player, Protocol):
    """A player that learns in a domain: for certificates and regret."""

    @property
    def learner(self) -> LearnerInDomain:
        """A parameter that holds the learner."""


class Adversary(Protocol):
    """Reveals the losses."""

    def extent(self) -> tuple[int, int]:
        """The number of rounds and the number of weights."""

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        """The next state, and of round t the loss of w, the slope and the row: slope * x is the gradient."""


class AdversaryOptions(Adversary, Protocol):
    """What an adversary may answer too."""

    def start(self) -> Any:
        """The first state; by default 0, for an adversary that remembers nothing."""
        return 0

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
