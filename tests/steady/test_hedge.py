"""Hedge: parts that fall with losses, a share for all, one step a batch, and a unit that rarely changes."""

import copy
import math

import numpy as np
import pytest
from laws import like, same

import holdfast as hf
from holdfast._compiled import call
from holdfast.steady import Steady
from holdfast.steady.hedge import BATCHES, CHANGES, COUNTED, LARGEST, RATE, SLOWEST, WORSE, Hedge


def table(rounds=240, forecasters=3, seed=0):
    """Losses: in each third another forecaster is the best, and one of them is far off now and then."""
    rng = np.random.default_rng(seed)
    losses = rng.random((rounds, forecasters))
    for k in range(forecasters):
        losses[k * rounds // forecasters : (k + 1) * rounds // forecasters, k] *= 0.3
    losses[::37, 0] = 50.0
    return losses


def played(hedge, losses, state, size, units):
    """The parts before each round, and the last state, in batches of this size. It can be compiled."""
    parts = np.zeros(losses.shape)
    for t in range(len(losses)):
        parts[t] = state.start
        state = hedge.collect(state, losses[t], 0.5)
        if (t + 1) % size == 0:
            state = hedge.after_batch(state, units[t])
    return parts, state


def slow(rate, share, losses, size, units):
    """The parts before each round, and the rates, by the formulas of docs/math.md, 11."""
    count = losses.shape[1]
    p, eta, parts, rates = np.full(count, 1.0 / count), rate, [], [rate]
    for start in range(0, len(losses), size):
        batch = losses[start : start + size]
        parts += [p] * len(batch)
        if len(batch) < size:
            break
        q = p * np.exp(-eta * batch.sum(axis=0))
        p = (1.0 - share) * q / q.sum() + share / count
        wanted = rate / units[start + size - 1]
        if not eta / 2.0 <= wanted <= 2.0 * eta:
            eta = wanted
            rates.append(eta)
    return np.array(parts), rates


UNITS = {
    "equal": np.ones(240),
    "nearly equal": np.where(np.arange(240) % 2, 1.0, 1.9),
    "two": np.where(np.arange(240) < 100, 1.0, 5.0),
    "all magnitudes": 10.0 ** np.random.default_rng(3).uniform(-2.0, 6.0, 240),
}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("size", [1, 7, 50])
@pytest.mark.parametrize("hedge", [Hedge(), Hedge(1.0, 0.05)])
def test_it_does_what_the_formulas_say(hedge, size, units):
    parts, state = played(hedge, table(), hedge.init(3), size, UNITS[units])
    expected, rates = slow(hedge.rate, hedge.share, table(), size, UNITS[units])
    assert parts == pytest.approx(expected, rel=1e-9)
    assert state.numbers[RATE] == pytest.approx(rates[-1])
    assert state.numbers[SLOWEST] == pytest.approx(min(rates))
    assert (state.numbers[CHANGES], state.numbers[BATCHES]) == (len(rates) - 1, 240 // size)
    assert (state.numbers[COUNTED], state.numbers[LARGEST]) == (240, np.ptp(table(), axis=1).max())
    worse = np.maximum(0.5 - (expected * table()).sum(axis=1), 0.0).sum()
    assert state.numbers[WORSE] == pytest.approx(worse)
    assert hedge.valid(state)


def test_units_that_are_off_by_less_than_two_change_nothing():
    hedge = Hedge()
    assert same(
        played(hedge, table(), hedge.init(3), 1, UNITS["equal"]),
        played(hedge, table(), hedge.init(3), 1, UNITS["nearly equal"]),
    )


def test_without_a_unit_the_rate_stays():
    hedge = Hedge()
    state = hedge.after_batch(hedge.collect(hedge.init(2), np.array([1.0, 0.0]), 0.5), 0.0)
    assert state.numbers[RATE] == hedge.rate


@pytest.mark.parametrize("size", [1, 50])
def test_compiled_it_is_the_same_bit_for_bit(size):
    hedge = Hedge(0.7, 0.01)
    args = (table(), size, UNITS["all magnitudes"])
    ours = played(hedge, args[0], hedge.init(3), *args[1:])
    compiled = call(played, hedge, args[0], hedge.init(3), *args[1:])
    assert same(ours[0], compiled[0]) and like(ours[1], compiled[1])


def test_a_reset_state_is_a_first_state_in_the_same_arrays():
    hedge = Hedge()
    _, state = played(hedge, table(), hedge.init(3), 7, UNITS["two"])
    again = hedge.reset(state, 3)
    assert same(again, hedge.init(3)) and again.parts is state.parts


def test_first_parts_are_in_proportion_and_cost_the_smallest_of_them():
    hedge = Hedge()
    _, state = played(hedge, table(), hedge.init(3), 7, UNITS["two"])
    again = hedge.start_from(state, np.array([10.0, 6.0, 4.0]))
    assert again.parts.tolist() == again.start.tolist() == [0.5, 0.3, 0.2]
    assert hedge.valid(again) and hedge.excess(again) == pytest.approx(math.log(5.0) / hedge.rate)
    assert same(hedge.start_from(state, np.full(3, 7.0)), hedge.init(3))


def test_no_part_falls_below_its_share():
    hedge = Hedge(10.0, 0.01)
    _, state = played(hedge, np.tile([100.0, 0.0, 1.0], (200, 1)), hedge.init(3), 1, UNITS["equal"])
    assert state.start.min() == pytest.approx(0.01 / 3)


def test_a_forecaster_that_was_bad_for_long_soon_has_its_part_back():
    hedge = Hedge(1.0, 1e-4)
    losses = np.where(np.arange(1000)[:, None] < 900, [0.0, 1.0], [1.0, 0.0])
    parts, _ = played(hedge, losses, hedge.init(2), 1, np.ones(1000))
    assert parts[899, 1] < 1e-3 and parts[920, 1] > 0.9


def test_huge_losses_leave_parts_that_are_valid():
    hedge = Hedge()
    state = hedge.init(2)
    for row in ([2.0**900, 0.0], [0.0, 2.0**900], [0.0, 0.0], [1e-300, 0.0]):
        state = hedge.after_batch(hedge.collect(state, np.array(row), 0.0), 1.0)
        assert hedge.valid(state) and state.parts.sum() == pytest.approx(1.0)


def test_a_state_that_cannot_be_is_not_valid():
    hedge, fine = Hedge(), Hedge().init(2)
    for place, index, value in (
        (1, 0, 0.0),
        (2, 1, math.inf),
        (3, RATE, 0.0),
        (3, SLOWEST, -1.0),
        (3, 1, math.nan),
    ):
        state = copy.deepcopy(fine)
        state[place][index] = value
        assert not hedge.valid(state)
    assert hedge.valid(fine)


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"rate": math.inf}, {"share": 0.0}, {"share": 1.0}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"rate must be positive|share is a part"):
        Hedge(**wrong)


@pytest.mark.parametrize("delay", [1, 20])
def test_in_the_default_the_mean_by_these_parts_is_deployed(delay):
    """So deployed losses never exceed the mean loss, where no forecast is brought into the range."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 2))
    y = X @ [1.0, -2.0] + rng.standard_normal(300)
    X[100::9] *= 1e4  # refused: shares are divided, and nothing else happens
    player = Steady(delay=delay)
    state = hf.play(player, hf.Replay(X, y, hf.Absolute()), compiled=False).state[0]
    assert state.hedge.numbers[COUNTED] > 200
    assert player.hedge.worse(state.hedge) < 1e-9


@pytest.mark.parametrize("judged", [0, 3])
def test_a_batch_without_a_round_changes_nothing(judged):
    hedge = Hedge()
    state = hedge.init(3)
    for losses in table()[:judged]:
        state = hedge.collect(state, losses, 0.5)
    deployed = state.parts.copy()
    state = hedge.after_batch(state, 1.0)
    assert (state.parts == deployed).all() and (state.start == deployed).all()
    closed = copy.deepcopy(state)
    assert same(hedge.after_batch(state, 100.0), closed)
