"""reset: the arrays of a used state become a first state again."""

import copy
import math

import numpy as np
import pytest
from laws import filtered, like, same
from samples import DOMAINS, FILTERS, LEARNERS, STREAMS, thinned

import holdfast as hf
from holdfast._compiled import call
from holdfast.rounds import Round
from holdfast.vectors import Sparse, dot, largest, values_of

PAST = {name: STREAMS[name] for name in ("steady", "k spikes", "all magnitudes", "nan", "empty")}
LONG = np.concatenate([STREAMS["heavy-tailed"]] * 5)  # longer than the first epoch and the arrays of Ranks
NEXT = np.concatenate([STREAMS["scale change"], STREAMS["heavy-tailed"]])
GRADIENTS = np.random.default_rng(11).standard_normal((80, 2)) * 10.0 ** np.linspace(-3, 3, 80)[:, None]


def in_python(function, *args):
    return function(*args)


def both_ways(name, cases, compiled, every=1):
    """Parameters of a test: all cases in Python, and those of `compiled` also in compiled code."""
    pairs = [(case, in_python) for case in cases] + thinned([(case, call) for case in compiled], every)
    ids = {in_python: "interpreted", call: "compiled"}
    return pytest.mark.parametrize((name, "run"), pairs, ids=lambda part: ids.get(part, repr(part)[:80]))


def filtered_with_reset(filter, state, sizes, reset_at):
    """The decisions of a filter on a stream after a reset before round `reset_at`. It can be compiled."""
    thresholds, kept = np.zeros(len(sizes)), np.zeros(len(sizes), np.bool_)
    for i in range(len(sizes)):
        if i == reset_at:
            state = filter.reset(state, 1)
        state, thresholds[i], kept[i] = filter.decide(state, float(sizes[i]))
    return thresholds[reset_at:], kept[reset_at:], state


@both_ways("filter", FILTERS, FILTERS, every=6)
def test_a_reset_filter_decides_as_a_new_one(filter, run):
    thresholds, kept, state = filtered(filter, filter.init(1), NEXT)
    for past in (*PAST.values(), LONG):
        again = run(filtered_with_reset, filter, filter.init(1), np.concatenate([past, NEXT]), len(past))
        assert same((thresholds, kept), again[:2])
        if not getattr(filter, "exact", False):  # arrays of exact filters grow
            assert like(state, again[2])


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_reset_filter_uses_the_same_arrays(filter):
    _, _, state = filtered(filter, filter.init(1), LONG)
    arrays = [id(each) for each in flattened(state)]
    assert [id(each) for each in flattened(filter.reset(state, 1))] == arrays


def flattened(state):
    if isinstance(state, tuple):
        return [array for item in state for array in flattened(item)]
    return [state] if isinstance(state, np.ndarray) else []


@pytest.mark.parametrize("past", list(PAST))
def test_a_cleared_histogram_is_an_empty_one(past):
    sketch = hf.sketches.LogHistogram.empty()
    for size in [*PAST[past], 0.0, 5e-324, 2.2e-308, 1.7e308]:
        sketch = sketch.push(float(size))
    sketch, _ = sketch.at(sketch.seen())
    table = sketch.table
    assert same(sketch.cleared(), hf.sketches.LogHistogram.empty())
    assert sketch.cleared().table is table


def test_clearing_reads_only_the_octaves_in_use():
    sketch = hf.sketches.LogHistogram.empty()
    for size in (1.0, 1.5, 3.0):
        sketch = sketch.push(size)
    place = len(sketch.table) - (2042 << 7)
    sketch.table[place] = 99  # in an octave with count 0, which is not read
    assert np.flatnonzero(sketch.cleared().table).tolist() == [place]


def learned(learner, state, gradients, reset_at):
    """The weights of a learner before each gradient, after a reset before gradient `reset_at`."""
    iterates = np.zeros(gradients.shape)
    for t in range(len(gradients)):
        if t == reset_at:
            state = learner.reset(state, 2)
        iterates[t] = values_of(learner.predict(state))
        state = learner.update(state, Round(1.0, gradients[t], math.nan, gradients[t], 0.0))
    return iterates[reset_at:], state


ALL_LEARNERS = [*LEARNERS, hf.learners.Fixed([1.0, -1.0])]


@both_ways("learner", ALL_LEARNERS, ALL_LEARNERS, every=6)
def test_a_reset_learner_learns_as_a_new_one(learner, run):
    expected = learned(learner, learner.init(2), GRADIENTS, 0)
    both = np.concatenate([-GRADIENTS[::-1], GRADIENTS])
    assert like(expected, run(learned, learner, learner.init(2), both, 80))


def played(player, state, gradients, reset_at):
    """The weights and decisions of a player on gradients, after a reset before gradient `reset_at`."""
    rows = np.zeros((len(gradients), 5))
    for t in range(len(gradients)):
        if t == reset_at:
            state = player.reset(state, 2)
        w = player.predict(state)
        rows[t, 0], rows[t, 1] = w[0], w[1]
        state, decision = player.observe(state, Round(1.0, gradients[t], math.nan, gradients[t], 0.0))
        rows[t, 2], rows[t, 3] = decision.sizes[0], decision.thresholds[0]
        rows[t, 4] = 1.0 if decision.kept else 0.0
    return rows[reset_at:], state


SOME_PLAYERS = [  # the parts of all others are compiled above
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3), norm=hf.norms.LInf(), on=hf.Features()),
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Quantile(0.5, ranks="newsvendor", growth=2.0)),
    hf.Certified(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), k=3),
]
PLAYERS = [
    *(hf.Filtered(hf.OGD(domain), hf.TopK(3)) for domain in DOMAINS),
    *(hf.Filtered(hf.OGD(hf.Ball(1.0)), filter) for filter in FILTERS),
    *SOME_PLAYERS,
]


@both_ways("player", PLAYERS, SOME_PLAYERS)
def test_a_reset_player_plays_as_a_new_one(player, run):
    rng = np.random.default_rng(12)
    past = rng.standard_normal((1100, 2)) * rng.pareto(1.0, (1100, 1))
    past[5], past[6] = math.nan, math.inf
    with np.errstate(all="ignore"):
        expected, state = played(player, player.init(2), GRADIENTS, 0)
        again, last = run(played, player, player.init(2), np.concatenate([past, GRADIENTS]), 1100)
    assert same(expected, again)
    if not getattr(player.core().filter, "exact", False):
        assert like(state, last)


def sparse_rounds(player, state, places, values, dim, reset_at):
    rows = np.zeros((len(values), 3))
    for t in range(len(values)):
        if t == reset_at:
            state = player.reset(state, dim)
        x = Sparse(places[t], values[t], dim)
        rows[t, 0] = dot(player.predict(state), x)
        state, decision = player.observe(state, Round(1.0, x, math.nan, x, 0.0))
        rows[t, 1], rows[t, 2] = decision.sizes[0], largest(player.predict(state))
    return rows[reset_at:], values_of(player.predict(state))


@pytest.mark.parametrize(
    "run",
    [in_python, pytest.param(call, marks=pytest.mark.slow)],
    ids=["interpreted", "compiled"],
)
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("player", [PLAYERS[0], PLAYERS[-1]], ids=lambda player: type(player).__name__)
def test_a_reset_player_with_lazy_weights_plays_as_a_new_one(player, summed, run):
    rng = np.random.default_rng(13)
    places = np.argsort(rng.random((1000, 20)), axis=1)[:, :3].copy()
    values = rng.standard_normal((1000, 3))
    new, used = (player.to_lazy(player.init(20), summed) for _ in range(2))
    expected = sparse_rounds(player, new, places[500:], values[500:], 20, 0)
    assert same(expected, run(sparse_rounds, player, used, places, values, 20, 500))


def test_resetting_a_copy_does_not_change_the_state():
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3))
    _, state = played(player, player.init(2), GRADIENTS, 0)
    kept = copy.deepcopy(state)
    player.reset(copy.deepcopy(state), 2)
    assert same(kept, state)
