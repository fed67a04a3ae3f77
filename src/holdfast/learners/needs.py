"""What a learner needs of a game for its regret bound, and what it remembers: checks."""

import math
from typing import Any, NamedTuple, TypeAlias

from holdfast.rule import replaced

Each: TypeAlias = tuple[Any, ...]  # rules of different types, or a state for each


class Needs(NamedTuple):
    """What a learner needs, and what its bound is worth.

    `needs()` of a learner returns it. `bound(state, u)` is then the most that its regret against u can be, on
    the rounds that the state has learned from, in any game that has what the learner needs.
    """

    domain: str  # where the weights may lie
    size: str  # what its bound depends on: how a filter should measure a round
    losses: str  # what they must be for the bound to hold
    proved: bool  # in docs/math.md; if not, there is no bound, or its constants were only tried


EUCLIDEAN, EACH_WEIGHT = "Euclidean", "Euclidean in each weight"  # of gradients
RANGE = "range"  # the largest entry of a gradient less its smallest, on the simplex
LOSS_FORM = "loss form"  # the difference of two squared losses
FEATURES = "features"  # of rows, also where the loss is flat and the gradient 0
ANY = "any"


class PassedOn:
    """Methods of learners around another one, `learner`, whose state is `inner`: they take them from here."""

    def needs(self: Any) -> Needs | None:
        return self.learner.needs()

    def reads_rows(self: Any) -> bool:
        return self.learner.reads_rows()

    def needs_hints(self: Any) -> bool:
        return self.learner.needs_hints()

    def check_dim(self: Any, dim: int) -> None:
        self.learner.check_dim(dim)

    def valid(self: Any, state: Any) -> bool:
        return self.learner.valid(state.inner)

    def predict(self: Any, state: Any) -> Any:
        return self.learner.predict(state.inner)

    def gauge(self: Any, slope: float, x: Any) -> float:
        return self.learner.gauge(slope, x)


class Several:
    """Methods of rules that hold several others, of different types.

    Each handles the first one and calls itself for the rest: the compiler makes one function for each length.
    """

    def all_reset(self: Any, rules: Each, states: Each, dim: int) -> Each:
        """Their states before the first round, in the same arrays."""
        state = rules[0].reset(states[0], dim)
        if len(rules) == 1:
            return (state,)
        return (state, *self.all_reset(rules[1:], states[1:], dim))

    def all_valid(self: Any, rules: Each, states: Each) -> bool:
        """Whether all their states are valid."""
        if len(rules) == 1:
            return rules[0].valid(states[0])
        return rules[0].valid(states[0]) and self.all_valid(rules[1:], states[1:])


def check_hints(learner: Any) -> None:
    """Raise if a learner needs hints: a player gives it none."""
    if learner.needs_hints():
        name = type(learner).__name__
        raise TypeError(
            f"{name} must know how large a gradient can be before it comes: write Clipped({name}(...))"
        )


def refuse_ranges(learner: Any) -> None:
    """Raise unless the bound of a learner depends on ranges: a round of range 0 may be of any length."""
    needs = learner.needs()
    if needs is None:
        raise TypeError(
            f"Range() is for learners whose regret depends on the range of losses, and {learner!r} does not "
            'say that it does: give it a method needs() that returns Needs("simplex", RANGE, ...) of '
            "holdfast.learners.needs, or use on=Gradient()"
        )
    if needs.size not in (RANGE, ANY):
        raise TypeError(
            f"Range() is for learners whose regret depends on the range of losses, such as AdaHedge(), and "
            f"that of {learner!r} depends on another size ({needs.size}): use on=Gradient()"
        )


def refuse_hidden_rows(learner: Any, hidden: bool) -> None:
    """Raise if the bound of a learner depends on the size of rows, and that is `hidden` from the filters."""
    needs = learner.needs()
    if hidden and needs is not None and needs.size == FEATURES:
        raise TypeError(
            f"the regret of {learner!r} depends on the size of the features, also where the gradient is 0, "
            "and no filter here sees that: use on=Features(), or Guarded with a filter on the features"
        )


def check_positive(rule: Any, sentence: str, least: float = 0.0, most: float = math.inf) -> None:
    """Raise unless the parameter whose name begins the sentence lies between these numbers."""
    value = getattr(rule, sentence.partition(" ")[0])
    if not least < value < most:
        raise ValueError(f"{sentence}, so it must be positive: got {value}")


def refuse_domain(learner: Any, why: str = "has no version for bounded domains") -> None:
    """Raise if a learner without a domain was given one."""
    if learner.domain.bounded():
        raise TypeError(f"{type(learner).__name__} {why}: got {learner.domain!r}")


def check_memory(rule: Any) -> Any:
    """Raise unless `memory` is a number of rounds or None. For None, return the rule with infinity instead.

    Compiled code needs a number. None and infinity both mean that nothing is forgotten.
    """
    if rule.memory is None:
        return replaced(rule, memory=math.inf)
    if not rule.memory >= 2.0:
        raise ValueError(
            f"memory counts rounds, at least 2, or is None to forget nothing: got {rule.memory:g}"
        )
    return None


def refuse_bound(learner: Any) -> None:
    """Raise if a learner forgets: then it has no bound on its regret over all rounds."""
    if learner.memory < math.inf:
        raise ValueError(
            "a learner that forgets has no bound on its regret: "
            f"use memory=None, got memory={learner.memory:g}"
        )
