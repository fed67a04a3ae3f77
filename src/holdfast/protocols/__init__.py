"""The roles of rules, such as `Filter` and `Learner`: which methods a rule must have, and which it may have.

A role has two classes. `Filter` has the methods that every filter must have. `FilterOptions` has those that a
filter may have, each with a default: a rule without its own method uses the default. A role such as
`HintedLearner` asks for more than `Learner` does, and only some games need it.

A parameter of a rule that holds another rule is annotated with its role, `filter: Filter`. For several rules
it is `learners: tuple[Learner, ...]`. `holdfast.role_checks` checks that the methods are there.

`@rule` gives every rule the optional methods, but mypy does not know this. So a rule that calls those of
another has `self: Any`, or a variable such as `learner: Any = self.learner`.

Vectors are arrays of float64. Rows can also be sparse, and weights lazy (`holdfast.vectors`); the types of
the methods say `Any` for both.
"""

from holdfast.protocols.adversaries import Adversary, AdversaryOptions, Tail
from holdfast.protocols.filters import Filter, FilterOptions
from holdfast.protocols.geometry import Domain, DomainOptions, Norm, NormOptions
from holdfast.protocols.learners import (
    HintedLearner,
    Learner,
    LearnerInDomain,
    LearnerOptions,
    ProvenLearner,
    Step,
)
from holdfast.protocols.losses import LipschitzLoss, Loss, LossOptions
from holdfast.protocols.measures import GradientMeasure, Measure, MeasureOptions, StateMeasure
from holdfast.protocols.players import Player, PlayerInDomain, PlayerOptions
from holdfast.protocols.states import LearningOptions, StateOptions
from holdfast.protocols.vector_types import Row, Weights

__all__ = [
    "Adversary",
    "AdversaryOptions",
    "Domain",
    "DomainOptions",
    "Filter",
    "FilterOptions",
    "GradientMeasure",
    "HintedLearner",
    "Learner",
    "LearnerInDomain",
    "LearnerOptions",
    "LearningOptions",
    "LipschitzLoss",
    "Loss",
    "LossOptions",
    "Measure",
    "MeasureOptions",
    "Norm",
    "NormOptions",
    "Player",
    "PlayerInDomain",
    "PlayerOptions",
    "ProvenLearner",
    "Row",
    "StateMeasure",
    "StateOptions",
    "Step",
    "Tail",
    "Weights",
]
