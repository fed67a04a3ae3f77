"""reset: the first state again, in the arrays of a used one, and nothing of the past in it."""

import copy
import math

import numpy as np
import pytest
from laws import filtered, like, same
from samples import DOMAINS, FILTERS, LEARNERS, STREAMS, thinned

import holdfast as hf
from holdfast._compiled import call
from holdfast.vectors import Sparse, dot, largest, values_of

PAST = {name: STREAMS[name] for name in ("steady", "k spikes", "all magnitudes", "nan", "empty")}
LONG = np.concatenate(
    [STREAMS["heavy-tailed"]] * 5
)  # beyond the first epoch, and more than Ranks starts with
NEXT = np.concatenate([STREAMS["scale change"], STREAMS["heavy-tailed"]])
GRADIENTS = np.random.default_rng(11).standard_normal((80, 2)) * 10.0 ** np.linspace(-3, 3, 80)[:, None]


def plainly(function, *args):
    return function(*args)


def filtered_anew(filter, state, sizes, anew):
    """What a filter decides on a stream if it is reset before round `anew`. Runs in both worlds."""
    thresholds, kept = np.zeros(len(sizes)), np.zeros(len(sizes), np.bool_)
    for i in range(len(sizes)):
        if i == anew:
            state = filter.reset(state, 1)
        state, thresholds[i], kept[i] = filter.decide(state, float(sizes[i]))
    return thresholds[anew:], kept[anew:], state


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_renewed_filter_decides_as_a_new_one(filter):
    is_a_new_filter(filter, plainly)


@pytest.mark.parametrize("filter", thinned(FILTERS, 4), ids=repr)
def test_a_renewed_filter_decides_as_a_new_one_when_compiled(filter):
    is_a_new_filter(filter, call)


def is_a_new_filter(filter, world):
    thresholds, kept, state = filtered(filter, filter.init(1), NEXT)
    for past in (*PAST.values(), LONG):
        again = world(filtered_anew, filter, filter.init(1), np.concatenate([past, NEXT]), len(past))
        assert same((thresholds, kept), again[:2])
        if not getattr(filter, "exact", False):  # whose arrays have grown
            assert like(state, again[2])


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_renewed_filter_uses_the_arrays_it_has(filter):
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
    sketch.table[place] = 99  # in an octave that says it has none: nobody looks there
    assert np.flatnonzero(sketch.cleared().table).tolist() == [place]


def learned(learner, state, gradients, anew):
    """Where a learner stands before each gradient, if it is reset before the one numbered `anew`."""
    iterates = np.zeros(gradients.shape)
    for t in range(len(gradients)):
        if t == anew:
            state = learner.reset(state, 2)
        iterates[t] = values_of(learner.predict(state))
        state = learner.update(state, 1.0, gradients[t])
    return iterates[anew:], state


ALL_LEARNERS = [*LEARNERS, hf.learners.Fixed([1.0, -1.0])]


@pytest.mark.parametrize("learner", ALL_LEARNERS, ids=repr)
def test_a_renewed_learner_learns_as_a_new_one(learner):
    is_a_new_learner(learner, plainly)


@pytest.mark.parametrize("learner", thinned(ALL_LEARNERS, 3), ids=repr)
def test_a_renewed_learner_learns_as_a_new_one_when_compiled(learner):
    is_a_new_learner(learner, call)


def is_a_new_learner(learner, world):
    expected = learned(learner, learner.init(2), GRADIENTS, 0)
    both = np.concatenate([-GRADIENTS[::-1], GRADIENTS])
    assert like(expected, world(learned, learner, learner.init(2), both, 80))


def played(player, state, gradients, anew):
    """A player on gradients, reset before the one numbered `anew`, and what became of each from then on."""
    noted = np.zeros((len(gradients), 5))
    for t in range(len(gradients)):
        if t == anew:
            state = player.reset(state, 2)
        w = player.predict(state)
        noted[t, 0], noted[t, 1] = w[0], w[1]
        state, decision = player.observe(state, 1.0, gradients[t])
        noted[t, 2], noted[t, 3] = decision.size, decision.threshold
        noted[t, 4] = 1.0 if decision.kept else 0.0
    return noted[anew:], state


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


def is_renewed(player, world):
    rng = np.random.default_rng(12)
    past = rng.standard_normal((1100, 2)) * rng.pareto(1.0, (1100, 1))
    past[5], past[6] = math.nan, math.inf
    with np.errstate(all="ignore"):
        expected, state = played(player, player.init(2), GRADIENTS, 0)
        again, renewed = world(played, player, player.init(2), np.concatenate([past, GRADIENTS]), 1100)
    assert same(expected, again)
    if not getattr(player.core().filter, "exact", False):
        assert like(state, renewed)


@pytest.mark.parametrize("player", PLAYERS, ids=lambda player: repr(player)[:80])
def test_a_renewed_player_plays_as_a_new_one(player):
    is_renewed(player, plainly)


@pytest.mark.parametrize("player", SOME_PLAYERS, ids=lambda player: repr(player)[:80])
def test_a_renewed_player_plays_as_a_new_one_when_compiled(player):
    is_renewed(player, call)


def sparse_rounds(player, state, places, values, dim, anew):
    noted = np.zeros((len(values), 3))
    for t in range(len(values)):
        if t == anew:
            state = player.reset(state, dim)
        x = Sparse(places[t], values[t], dim)
        noted[t, 0] = dot(player.predict(state), x)
        state, decision = player.observe(state, 1.0, x)
        noted[t, 1], noted[t, 2] = decision.size, largest(player.predict(state))
    return noted[anew:], values_of(player.predict(state))


@pytest.mark.parametrize(
    "world",
    [plainly, pytest.param(call, marks=pytest.mark.slow)],
    ids=["interpreted", "compiled"],
)
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("player", [PLAYERS[0], PLAYERS[-1]], ids=lambda player: type(player).__name__)
def test_a_renewed_player_with_lazy_weights_plays_as_a_new_one(player, summed, world):
    rng = np.random.default_rng(13)
    places = np.argsort(rng.random((1000, 20)), axis=1)[:, :3].copy()
    values = rng.standard_normal((1000, 3))
    new, used = (player.to_lazy(player.init(20), summed) for _ in range(2))
    expected = sparse_rounds(player, new, places[500:], values[500:], 20, 0)
    assert same(expected, world(sparse_rounds, player, used, places, values, 20, 500))


def test_the_first_state_is_not_touched_by_renewing_a_copy():
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3))
    _, state = played(player, player.init(2), GRADIENTS, 0)
    kept = copy.deepcopy(state)
    player.reset(copy.deepcopy(state), 2)
    assert same(kept, state)
