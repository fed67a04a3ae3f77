"""A rule that lacks a method of its role is refused before the first round, in one sentence that names it."""

import inspect
from typing import Any

import numpy as np
import pytest
import samples
from guards import guarded
from scipy.sparse import csr_array

from holdfast import (
    OGD,
    AdaFTRL,
    AdaGrad,
    Ball,
    Certified,
    Features,
    Filtered,
    Gradients,
    Guarded,
    Hinge,
    MetaGrad,
    Player,
    Replay,
    Scaled,
    TopK,
    Verdict,
    play,
    play_many,
    protocols,
    rule,
)
from holdfast.adversaries import Chaser, Contaminated, Exponential, Pareto, QuantileStream, Uniform, Weighted
from holdfast.domains import Everywhere, Shifted
from holdfast.learners import Averaged, Bounded, Clipped, Fixed, FreeGrad, Squint
from holdfast.measures import Gradient, LossForm, Range
from holdfast.regret import linearised_regret
from holdfast.river import LinearClassifier, LinearRegressor, Robust
from holdfast.roles import OPTIONS, Rule, check_role, optional_methods
from holdfast.sklearn import RobustClassifier, RobustRegressor

# The methods of a user's own rules: only those that the role requires.
ANSWERS = {
    protocols.Filter: {
        "init": lambda self, dim: 0.0,
        "decide": lambda self, state, size: (state, 1.0, size <= 1.0),
    },
    protocols.Learner: {
        "init": lambda self, dim: np.zeros(dim),
        "predict": lambda self, state: state,
        "update": lambda self, state, round: state - 0.1 * round.slope * round.x,
    },
    protocols.Loss: {
        "value": lambda self, z, y: abs(z - y),
        "slope": lambda self, z, y: 1.0 if z > y else -1.0,
    },
    protocols.Norm: {
        "of": lambda self, x: float(np.abs(x).max()),
        "dual": lambda self: self,
    },
    protocols.Domain: {
        "center": lambda self, dim: np.zeros(dim),
        "project": lambda self, w: np.clip(w, -1.0, 1.0),
        "diameter": lambda self, norm, dim=0: 2.0,
        "support": lambda self, g: float(np.abs(g).sum()),
    },
    protocols.Measure: {
        "size_of": lambda self, learner, state, norm, round, size: abs(round.slope),
    },
    protocols.Step: {
        "accrued": lambda self, tally, size: tally + 1.0,
        "eta": lambda self, tally, diameter: 1.0 / tally,
        "held": lambda self, tally, diameter: 0.0,
    },
    protocols.Player: {
        "init": lambda self, dim: np.zeros(dim),
        "predict": lambda self, state: state,
        "observe": lambda self, state, round: (state, Verdict(True, -1, (1.0,), (2.0,))),
        "current_weights": lambda self, state: state,
    },
    protocols.Adversary: {
        "extent": lambda self: (4, 2),
        "reveal": lambda self, state, t, w: (state, 1.0, 1.0, np.ones(2)),
    },
    protocols.Tail: {
        "stretch": lambda self, v: 1.0 + v,
    },
}
X, Y, KEYS = np.ones((4, 2)), np.ones(4), ["a", "b", "a", "b"]
GRADIENTS, REPLAY = Gradients(X), Replay(X, Y, Hinge())
PLAYER, GUARDED = Filtered(OGD(Ball(1.0)), TopK(1)), guarded(OGD(Ball(1.0)))

# Where a rule of each role can be: in a player, or in an adversary.
AVERAGED = Filtered(Averaged(OGD(Ball(1.0))), TopK(1))
SHIFTED = Filtered(OGD(Shifted(Ball(1.0), 1.0)), TopK(1))
BOUNDED = Filtered(Bounded(Clipped(FreeGrad()), Ball(1.0)), TopK(1))
IN_PLAYERS = {
    protocols.Filter: [
        *((GUARDED, f"checks.{k}.filter") for k in range(3)),
        *((PLAYER, "filter"), (Certified(PLAYER, 1), "player.filter")),
    ],
    protocols.Learner: [
        *((PLAYER, "learner"), (GUARDED, "learner"), (AVERAGED, "learner.learner")),
        (guarded(Scaled(OGD(Ball(1.0)))), "learner.learner"),
    ],
    protocols.Norm: [(PLAYER, "norm"), (GUARDED, "norm")],
    protocols.Domain: [
        *((PLAYER, "learner.domain"), (BOUNDED, "learner.domain"), (SHIFTED, "learner.domain.domain")),
    ],
    protocols.Measure: [(PLAYER, "on"), (GUARDED, "checks.2.on")],
    protocols.Step: [(PLAYER, "learner.step")],
    protocols.Player: [(PLAYER, "")],
}
IN_ADVERSARIES = {
    protocols.Adversary: [
        *((GRADIENTS, ""), (Weighted(GRADIENTS, Y), "inner"), (Chaser(GRADIENTS, 1), "inner")),
    ],
    protocols.Loss: [(REPLAY, "loss"), (Weighted(REPLAY, Y), "inner.loss")],
}
MAKERS = {  # what is given a rule of each role when it is made
    protocols.Filter: [lambda mine: Filtered(OGD(Ball(1.0)), mine), lambda mine: guarded(Fixed([1.0]), mine)],
    protocols.Learner: [lambda mine: Filtered(mine, TopK(1)), Guarded, Scaled, Averaged, Clipped],
    protocols.Norm: [lambda mine: Filtered(Fixed([1.0]), TopK(1), norm=mine)],
    protocols.Domain: [OGD, AdaGrad, AdaFTRL, lambda mine: Shifted(mine, 1.0)],
    protocols.Measure: [
        lambda mine: Filtered(Fixed([1.0]), TopK(1), on=mine),
        lambda mine: guarded(Fixed([1.0]), on=mine),
    ],
    protocols.Step: [lambda mine: OGD(Ball(1.0), mine)],
    protocols.Player: [lambda mine: Certified(mine, 1)],
    protocols.Loss: [lambda mine: Replay(X, Y, mine), lambda mine: Replay(csr_array(X), Y, mine)],
    protocols.Adversary: [lambda mine: Weighted(mine, Y), lambda mine: Contaminated(GRADIENTS, mine, 0.1)],
    protocols.Tail: [lambda mine: QuantileStream(0.5, 4, tail=mine)],
}


def own(role, without=()):
    """A user's own rule with the methods that its role requires, without some."""
    return rule(type("Mine", (), {name: do for name, do in ANSWERS[role].items() if name not in without}))()


def put(mine, whole, place):
    """The rule, instead of the one in that place; nothing is checked yet."""
    if place == "":
        return mine
    name, _, rest = place.partition(".")
    if name.isdigit():
        k = int(name)
        return (*whole[:k], put(mine, whole[k], rest), *whole[k + 1 :])
    return whole._replace(**{name: put(mine, getattr(whole, name), rest)})


def refusal(call, *args, **kwargs):
    """The message of the TypeError that a call raises."""
    with pytest.raises(TypeError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def sentence(role, name):
    names = list(inspect.signature(ANSWERS[role][name]).parameters)[1:]
    spoken = "an adversary" if role is protocols.Adversary else f"a {role.__name__.lower()}"
    return f"Mine cannot be {spoken}: it has no method {name}({', '.join(names)})"


def lacking(places):
    """Each method of each role, missing in each place."""
    return [(role, name, place) for role in places for name in ANSWERS[role] for place in places[role]]


def names(case):
    return case if isinstance(case, str) else getattr(case, "__name__", None)


@pytest.mark.parametrize(("role", "name", "place"), lacking(IN_PLAYERS), ids=names)
def test_every_game_refuses_a_player_in_which_a_method_is_missing(role, name, place):
    player, says = put(own(role, without=[name]), *place), sentence(role, name)
    for compiled in (False, True):
        assert refusal(play, player, GRADIENTS, compiled=compiled) == says
        assert refusal(play_many, player, GRADIENTS, KEYS, compiled=compiled) == says
        assert refusal(Player, player, dim=2, compiled=compiled) == says


@pytest.mark.parametrize(("role", "name", "place"), lacking(IN_ADVERSARIES), ids=names)
def test_every_game_refuses_an_adversary_in_which_a_method_is_missing(role, name, place):
    adversary, says = put(own(role, without=[name]), *place), sentence(role, name)
    for compiled in (False, True):
        assert refusal(play, PLAYER, adversary, compiled=compiled) == says
        assert refusal(play_many, PLAYER, adversary, KEYS, compiled=compiled) == says


@pytest.mark.parametrize(("role", "name", "make"), lacking(MAKERS), ids=names)
def test_nothing_is_made_of_a_rule_in_which_a_method_is_missing(role, name, make):
    assert refusal(make, own(role, without=[name])) == sentence(role, name)


@pytest.mark.parametrize("name", ANSWERS[protocols.Loss])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_player_refuses_a_loss_in_which_a_method_is_missing(name, compiled):
    player, loss = Player(PLAYER, dim=2, compiled=compiled), own(protocols.Loss, without=[name])
    assert refusal(player.learn, X[0], 1.0, loss) == sentence(protocols.Loss, name)
    assert player.rounds == 0


@pytest.mark.parametrize(
    ("role", "place"), [(role, place) for role in IN_PLAYERS for place in IN_PLAYERS[role]], ids=names
)
def test_what_a_role_asks_for_is_enough_to_play(role, place):
    player = put(own(role), *place)
    assert play(player, GRADIENTS, compiled=False).rounds == 4
    assert Player(player, dim=2).observe(X[0]).size >= 0.0
    assert play_many(player, GRADIENTS, KEYS).rounds.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("role", "place"), [(role, place) for role in IN_ADVERSARIES for place in IN_ADVERSARIES[role]], ids=names
)
def test_what_an_adversary_must_answer_is_enough_to_play(role, place):
    assert play(PLAYER, put(own(role), *place), compiled=False).rounds == 4


def test_all_that_is_missing_is_said_at_once():
    nothing = own(protocols.Filter, without=["init", "decide"])
    says = "Mine cannot be a filter: it has no methods init(dim) and decide(state, size)"
    assert refusal(check_role, nothing, protocols.Filter) == says
    both = PLAYER._replace(filter=nothing, norm=own(protocols.Norm, without=["of"]))
    assert refusal(play, both, GRADIENTS) == f"{says}; Mine cannot be a norm: it has no method of(x)"
    everything = own(protocols.Learner, without=["init", "predict", "update"])
    says = "it has no methods init(dim), predict(state) and update(state, round)"
    assert refusal(Scaled, everything) == f"Mine cannot be a learner: {says}"


def test_a_parameter_can_be_missing_too():
    learner = own(protocols.Learner)
    says = "Mine cannot be a learner in a domain: it has no parameter domain"
    assert refusal(Bounded, learner, Ball(1.0)) == says
    assert refusal(Certified, Filtered(learner, TopK(1)), 1) == says
    record = play(Filtered(learner, TopK(1)), GRADIENTS, keep=("sizes", "products", "gradients"))
    assert refusal(linearised_regret, record) == says
    assert "no parameter learner" in refusal(Certified, own(protocols.Player), 1)


def test_clipped_says_what_a_learner_with_hints_must_answer():
    answers = ANSWERS[protocols.Learner] | {"needs_hints": lambda self: True}
    hinted = rule(type("Mine", (), answers))()
    assert refusal(Clipped, hinted) == (
        "Mine cannot be a learner with hints: it has no methods set_hint(state, hint) and gauge(slope, x) "
        "and no parameter domain"
    )


def test_a_role_that_is_left_open_is_not_asked():
    @rule
    class Wrapping:
        inner: protocols.Learner | None = None
        other: Any = None

    assert Wrapping(None, TopK(1)).inner is None
    assert refusal(Wrapping, TopK(1)).startswith("TopK cannot be a learner")


def test_a_function_in_a_parameter_is_a_method():
    @rule
    class Given:
        value: Any
        slope: Any

    check_role(Given(abs, abs), protocols.Loss)
    assert refusal(check_role, Given(abs, 1.0), protocols.Loss).endswith("it has no method slope(z, y)")


LOSS, LEARNER = own(protocols.Loss, without=["value"]), own(protocols.Learner, without=["update"])
FILTER = own(protocols.Filter, without=["init"])


@pytest.mark.parametrize("estimator", [RobustClassifier, RobustRegressor])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"loss": LOSS}, sentence(protocols.Loss, "value")),
        ({"learner": LEARNER}, sentence(protocols.Learner, "update")),
        ({"outliers": FILTER}, sentence(protocols.Filter, "init")),
        (
            {"loss": own(protocols.Loss), "learner": "scaleinvariant"},
            "Mine cannot be a loss with a largest slope: it has no method lipschitz()",
        ),
    ],
)
def test_estimators_refuse_a_rule_in_which_a_method_is_missing(estimator, given, says):
    assert refusal(estimator(**given).fit, X, [0, 1, 0, 1]) == says


@pytest.mark.parametrize("model", [LinearClassifier, LinearRegressor])
def test_river_models_refuse_a_rule_in_which_a_method_is_missing(model):
    assert refusal(model, loss=LOSS) == sentence(protocols.Loss, "value")
    assert refusal(model, learner=LEARNER) == sentence(protocols.Learner, "update")
    assert refusal(Robust, model(), outliers=FILTER) == sentence(protocols.Filter, "init")


OURS = {
    protocols.Filter: samples.FILTERS,
    protocols.Norm: samples.NORMS,
    protocols.Domain: [*samples.DOMAINS, Everywhere()],
    protocols.Step: samples.STEPS,
    protocols.Learner: [*samples.LEARNERS, *samples.SCALED, *samples.MIXTURES],
    protocols.Loss: samples.LOSSES,
    protocols.LipschitzLoss: samples.LOSSES,
    protocols.Adversary: samples.ADVERSARIES,
    protocols.HintedLearner: [FreeGrad(), Squint(), MetaGrad(Ball(1.0))],
    protocols.Player: [*samples.GUARDED, PLAYER, Certified(PLAYER, 1)],
    protocols.PlayerInDomain: [PLAYER, GUARDED],
    protocols.Measure: [Gradient(), Features(), Range(), LossForm(1.0)],
    protocols.Tail: [Pareto(), Exponential(), Uniform()],
}


@pytest.mark.parametrize(("role", "ours"), [(role, ours) for role in OURS for ours in OURS[role]], ids=repr)
def test_our_own_rules_lack_nothing(role, ours):
    check_role(ours, role)


def test_an_optional_method_of_two_roles_does_the_same_in_both():
    """A rule has one default for it, whatever its role is."""
    for role in OPTIONS:
        for name, default in optional_methods(role).items():
            shared = getattr(Rule, name)
            assert inspect.signature(shared).parameters.keys() == inspect.signature(default).parameters.keys()
            assert shared.__code__.co_code == default.__code__.co_code
