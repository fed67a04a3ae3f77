"""Laws for every rule that holdfast exports. The other files test single modules."""

import copy
import inspect
import math
import pickle

import numpy as np
import pytest
from laws import filtered, like, same
from samples import (
    ADVERSARIES,
    DOMAINS,
    FILTERS,
    GUARDED,
    LEARNERS,
    LOSSES,
    MIXTURES,
    RULES,
    SCALED,
    STEADY,
    STREAMS,
    slow,
    thinned,
)

import holdfast as hf
from holdfast._compiled import call
from holdfast.certificates.certified import Certified
from holdfast.defaults import recommended
from holdfast.options import LEARNER
from holdfast.rounds import Round, after_round
from holdfast.steady.state import EPOCH
from holdfast.vectors import ScaledWeights, values_of

modules = [
    hf,
    hf.adversaries,
    hf.domains,
    hf.filters,
    hf.game,
    hf.checks,
    hf.intervals,
    hf.learners,
    hf.losses,
    hf.norms,
    hf.sketches,
    hf.steady,
]
public = {
    name: getattr(module, name) for module in modules for name in getattr(module, "__all__", vars(module))
}
exported = [
    value
    for name, value in public.items()
    if inspect.isclass(value) and value.__module__.startswith("holdfast.") and name[0] != "_"
]
rules = [cls for cls in exported if hasattr(cls, "_casts")]
GRADIENTS = np.random.default_rng(7).standard_normal((60, 2)) * 10.0 ** np.arange(-30, 30)[:, None]


def test_every_exported_rule_is_among_the_samples():
    assert {type(rule) for rule in RULES} >= set(rules)


def test_every_export_has_a_docstring_of_its_own():
    assert [cls.__name__ for cls in exported if not vars(cls).get("__doc__")] == []


def test_no_field_has_the_name_of_a_method():
    fields = {field for cls in rules for field in cls._fields}
    methods = {name for cls in rules for name, _ in inspect.getmembers(cls, inspect.isfunction)}
    assert not fields & methods


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_parameters_are_frozen(rule):
    with pytest.raises(AttributeError):
        setattr(rule, rule._fields[0], 1.0)
    with pytest.raises(AttributeError):
        rule.surprise = 1.0


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_rule_survives_pickling(rule):
    assert pickle.loads(pickle.dumps(rule)) == rule


@pytest.mark.parametrize("rule", [*FILTERS, *LEARNERS, *SCALED, *MIXTURES, *GUARDED], ids=repr)
def test_init_twice_gives_equal_states(rule):
    assert same(rule.init(2), rule.init(2))


@pytest.mark.parametrize("stream", list(STREAMS))
@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_python_and_compiled_filters_agree_bit_for_bit(filter, stream):
    thresholds, kept, state = filtered(filter, filter.init(1), STREAMS[stream])
    compiled_thresholds, compiled_kept, compiled_state = call(
        filtered, filter, filter.init(1), STREAMS[stream]
    )
    assert same(thresholds, compiled_thresholds)
    assert same(kept, compiled_kept)
    assert like(state, compiled_state)


@pytest.mark.parametrize("size", [math.nan, math.inf])
@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_size_that_is_not_finite_is_skipped_and_changes_no_state(filter, size):
    _, _, state = filtered(filter, filter.init(1), STREAMS["steady"])
    before = copy.deepcopy(state)
    after, _, kept = filter.decide(state, size)
    assert not kept
    assert same(before, after)


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_filters_state_survives_pickling(filter):
    _, _, state = filtered(filter, filter.init(1), STREAMS["heavy-tailed"])
    assert same(pickle.loads(pickle.dumps(state)), state)


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_skipped_round_changes_no_bit_of_the_learner(filter):
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), filter)
    state = player.init(1)
    for size in STREAMS["k spikes"]:
        before = copy.deepcopy(state.learner)
        state, decision = player.observe(state, Round(float(size), np.ones(1)))
        assert decision.kept or same(before, state.learner)


def wild_rounds(player):
    """Rounds of a linear model, with wild rows and targets, stuck and all-zero rows, and unreadable ones."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 2)) + 1.0
    y = X @ [1.0, -2.0] + 0.1 * rng.standard_normal(400)
    X[60::17, 1], y[65::19], X[300:310], X[320:325] = 1e4, 1e5, X[300], 0.0
    X[100::50, 0], y[110::50], y[120::50], X[130::50, 1] = math.nan, math.nan, math.inf, -math.inf
    X[140], y[150] = 1e200, 1e200
    labels = isinstance(player, hf.steady.Steady) and not player.learner.scales_target()
    return X, np.where(np.isfinite(y), np.sign(y), y) if labels else y


def predictor(player, state):
    """All that predicts, as arrays of their own."""
    w = player.current_weights(state)
    parts = (w.v, w.center, w.factors, w.y_center, w.y_spread) if isinstance(w, ScaledWeights) else (w,)
    return tuple(part if isinstance(part, float) else np.array(values_of(part)) for part in parts)


PLAYERS = [rule for rule in RULES if hasattr(type(rule), "observe")]  # of every exported class
PLAYERS += [recommended(True), recommended(False), recommended(True, learner=LEARNER)]
PLAYERS += [recommended(False, learner=LEARNER), hf.Certified(GUARDED[-1], k=3)]


def test_every_exported_player_is_among_the_players():
    exported_players = {cls for cls in rules if hasattr(cls, "observe")}
    assert len(exported_players) >= 4 and exported_players <= {type(player) for player in PLAYERS}


def quick(players):
    """These players; most of the variants of the default are slow."""
    many = {id(player) for i, player in enumerate(STEADY) if i % 3}
    return [slow(player) if id(player) in many else player for player in players]


@pytest.mark.parametrize("player", quick(PLAYERS), ids=lambda player: repr(player)[:60])
def test_a_skipped_round_does_not_change_a_bit_of_what_predicts(player):
    X, y = wild_rounds(player)
    state, skipped = player.init(2), 0
    for t in range(400):
        if t % 10 == 0 and t > 10:  # a batch begins: what predicts is what it is judged by
            before, state = predictor(player, state), player.start_batch(state)
            assert same(before, predictor(player, state)), t
        before, slope = predictor(player, state), float(np.sign(X[t, 0]) if np.isfinite(y[t]) else math.nan)
        with np.errstate(all="ignore"):
            state, verdict = player.observe(state, Round(slope, X[t], float(y[t])))
        target = player.learns_little() and player.check_names().index("target")
        little = player.learns_little() and verdict.refused_by == target
        if not verdict.kept and not little:
            skipped += 1
            assert same(before, predictor(player, state)), t
    assert skipped > 20


UNREADABLE = [(math.nan, 1.0, 0.5), (math.inf, 1.0, 0.5), (1e200, 1.0, 0.5), (1.0, math.nan, math.nan)]
BEHIND_FILTERS = [hf.Filtered(learner, hf.TopK(3)) for learner in LEARNERS]
BEHIND_FILTERS += [hf.Filtered(inner, hf.TopK(3)) for inner in (*SCALED, *MIXTURES)]
BEHIND_FILTERS += [hf.Filtered(hf.OGD(hf.Ball(1.0)), filter) for filter in FILTERS]
CERTIFIED = [Certified(BEHIND_FILTERS[0], 3), Certified(GUARDED[-1], 3)]
PLAYERS = [*BEHIND_FILTERS, *CERTIFIED, *GUARDED, *STEADY]


def test_every_exported_player_is_among_those_of_the_next_law():
    assert {type(player) for player in PLAYERS} >= {rule for rule in rules if hasattr(rule, "observe")}


@pytest.mark.parametrize("player", quick(PLAYERS), ids=lambda player: repr(player)[:60])
def test_an_unreadable_round_changes_nothing(player):
    """A row that is taken back is like one that cannot be read. Buffers are right again one round later."""
    X, y = wild_rounds(player)
    state, other, unreadable = player.init(2), player.init(2), 0
    for t in range(130):
        for x, target, slope in UNREADABLE if t % 30 == 0 else ():
            with np.errstate(all="ignore"):
                seen, verdict = player.observe(copy.deepcopy(state), Round(slope, np.array([x, 1.0]), target))
            if not verdict.kept and verdict.refused_by < 0:
                state, unreadable = seen, unreadable + 1
        round = Round(float(np.sign(X[t, 0]) if np.isfinite(y[t]) else math.nan), X[t], float(y[t]))
        with np.errstate(all="ignore"):
            state, verdict = player.observe(state, round)
            other, _ = player.observe(other, round)
        assert same(state, other) or verdict.refused_by < 0, t
    assert unreadable > 12


@pytest.mark.parametrize("player", quick(STEADY), ids=lambda player: repr(player)[:60])
def test_the_default_learns_nothing_from_rows_and_a_little_from_targets_that_are_refused(player):
    X, y = wild_rounds(player)
    state, counts = player.init(2), dict.fromkeys(("row", "target", "unreadable"), 0)
    for t in range(400):
        if t % 10 == 0:
            state = player.start_batch(state)
        before, slope = copy.deepcopy(state), float(np.sign(X[t, 0]))
        state, verdict = player.observe(state, Round(slope, X[t], float(y[t])))
        if not verdict.kept and verdict.refused_by < 0:
            counts["unreadable"] += 1
            assert same(before._replace(row=0), state._replace(row=0)), t  # a buffer
        elif verdict.refused_by == 0:
            counts["row"] += 1
            assert same(before.learner, state.learner) and same(before.fallback, state.fallback), t
            assert verdict.column == int(np.argmax(np.abs(X[t] - before.units.center[:2]))) or t > 300
        elif verdict.refused_by == 1 and before.numbers[EPOCH] == state.numbers[EPOCH]:  # no other units
            counts["target"] += 1
            stubborn = player.learner.stubborn > 0.0
            assert same(before.learner.each[stubborn], state.learner.each[stubborn]), t
            assert not same(before.learner.each[~stubborn], state.learner.each[~stubborn]), t
    labels = not player.learner.scales_target()
    assert counts["row"] > 15 and counts["unreadable"] > 15 and (counts["target"] > 10 or labels)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_predictions_stay_inside_the_domain(learner):
    state = learner.init(2)
    tiny, huge = np.full(2, 5e-324), np.array([-1e307, 1e307])
    for g in [tiny, *GRADIENTS, np.full(2, 1e154), huge, tiny, np.zeros(2)]:
        state = after_round(learner, state, Round(1.0, g))
        w = values_of(learner.predict(state))
        assert np.isfinite(w).all()
        assert learner.domain.contains(w)


def games():
    for learner in LEARNERS:
        on = hf.Features() if learner.needs().size == "features" else hf.measures.Gradient()
        yield hf.Filtered(learner, hf.TopK(3), on=on), hf.Gradients(GRADIENTS)
    for loss in LOSSES:
        X = np.where(np.arange(60)[:, None] % 20 == 7, 1e6, 1.0) * GRADIENTS[:, ::-1]
        X[11, 0], X[12, 1] = math.nan, -math.inf
        y = np.where(np.arange(60) % 3 > 0, 1.0, -1.0)
        yield hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), hf.Replay(X, y, loss)
    for filter in FILTERS:
        yield hf.Filtered(hf.OGD(hf.Ball(1.0)), filter), hf.Gradients(STREAMS["k spikes"][:, None])
    for norm in (hf.norms.L1(), hf.norms.LInf(), hf.norms.Lp(3.0)):
        yield hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3), norm=norm), hf.Gradients(GRADIENTS)
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3), on=hf.Features())
    yield player, hf.Replay(GRADIENTS, np.ones(60), hf.Hinge())
    yield hf.Filtered(MIXTURES[0], hf.TopK(3)), hf.Gradients(GRADIENTS)
    inside = (SCALED[1], MIXTURES[1], MIXTURES[2])
    for player in (*(hf.Filtered(learner, hf.TopK(3)) for learner in inside), *GUARDED):
        yield player, hf.Replay(np.abs(GRADIENTS) ** 0.1, GRADIENTS[:, 0] ** 2, hf.Huber())


@pytest.mark.parametrize(
    "player, adversary", thinned(games(), 16, others=2), ids=lambda rule: repr(rule)[:70]
)
def test_python_and_compiled_games_agree_bit_for_bit(player, adversary):
    keep = ("losses", "sizes", "thresholds", "kept", "predictions", "average")
    interpreted = hf.play(player, adversary, keep=keep, compiled=False)
    compiled = hf.play(player, adversary, keep=keep, compiled=True)
    for column in ("losses", "sizes", "thresholds", "kept", "predictions", "final", "average"):
        assert same(getattr(interpreted, column), getattr(compiled, column)), column
    assert like(interpreted.state, compiled.state)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_learner_starts_in_the_middle_of_its_domain(domain):
    assert domain.contains(hf.OGD(domain).predict(hf.OGD(domain).init(2)))


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda rule: type(rule).__name__)
def test_adversaries_have_an_extent(adversary):
    rounds, dim = adversary.extent()
    assert rounds > 0
    assert dim in (1, 2)
