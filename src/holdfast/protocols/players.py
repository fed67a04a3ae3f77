"""The role of players."""

from typing import Any, Protocol

from holdfast.protocols.learners import LearnerInDomain
from holdfast.protocols.states import LearningOptions
from holdfast.protocols.vector_types import Weights
from holdfast.rounds import Round, Verdict


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
