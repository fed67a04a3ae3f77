"""What the default says when it is asked, and how that is judged when the target is known."""

import math
from typing import Any

import numpy as np

from holdfast.entrywise import products, sum_of_rows
from holdfast.norms import HUGE
from holdfast.protocols import Row
from holdfast.rounds import Round
from holdfast.steady.epochs import Epoch, forget_epoch
from holdfast.steady.state import EPOCH, HIGH, LOW, NEVER, NOW, Y_CENTER, Y_FACTOR, SteadyState
from holdfast.steady.units import Units
from holdfast.vectors import ScaledWeights, add, assign, dot

NO_CLIP = 1e300  # the gate must see how far a cell is
_SURE = 3.0  # a margin counts as at most this where forecasts of labels are judged


# These functions have the parts of a state as parameters where they need few of them: all sixty arrays of a
# state, passed to a function, take longer to compile than the function does.


def target_unit(player: Any, units: Units) -> tuple[float, float]:
    """Center and factor of the target."""
    if player.learner.scales_target():
        return float(units.center[-1]), float(units.factors[-1])
    return 0.0, 1.0


def target_range(player: Any, low: float, high: float, factor: float) -> tuple[float, float, float]:
    """The limits for `ScaledWeights`, and the unit: half a range, or a unit, beyond known targets."""
    spread = 1.0 / factor if factor > 0.0 else 0.0
    if not (low <= high and player.learner.scales_target()):
        return math.inf, -math.inf, spread
    margin = max(0.5 * (high - low), spread)
    return low - margin + spread, high + margin - spread, spread


def since_start(player: Any, start: np.ndarray, factor: float) -> float:
    """A unit of the target, given by its factor, in units of the last start."""
    if not player.learner.scales_target():
        return 1.0
    return float(start[1, -1]) / factor if factor > 0.0 else 0.0


def start_unit(player: Any, state: SteadyState) -> float:
    """The unit of the target at the last start: losses of forecasts are in it."""
    if not player.learner.scales_target():
        return 1.0
    return 1.0 / float(state.start[1, -1]) if state.start[1, -1] > 0.0 else 0.0


def weights_asked(player: Any, state: SteadyState) -> ScaledWeights:
    """The weights of the forecasts of this batch."""
    asked, units, dim = state.asked, state.units, len(state.row) - 1
    numbers, v, center, factors = asked.numbers, asked.v, asked.center, asked.factors
    if numbers[EPOCH] == NOW:
        v, center, factors = state.v, units.center[:dim], units.factors[:dim]
    low, high, factor = float(numbers[LOW]), float(numbers[HIGH]), float(numbers[Y_FACTOR])
    low, high, spread = target_range(player, low, high, factor)
    if player.weighted and not spread > 0.0:
        spread = 1.0  # else the slope of a first round would be 0, and its weight unknown
    target = (float(numbers[Y_CENTER]), spread, low, high)
    cells = (player.missing, player.knee, player.most)
    return ScaledWeights(v, center, factors, asked.row, NO_CLIP, *target, *cells)


def weights_now(player: Any, state: SteadyState) -> ScaledWeights:
    """The weights after the last round, whatever was asked before."""
    dim, units = len(state.row) - 1, state.units
    v = (state.v, units.center[:dim], units.factors[:dim], state.row, NO_CLIP)
    center, factor = target_unit(player, units)
    low, high = float(state.numbers[LOW]), float(state.numbers[HIGH])
    low, high, spread = target_range(player, low, high, factor)
    return ScaledWeights(*v, center, spread, low, high, player.missing, player.knee, player.most)


def average(each: np.ndarray, fallback: np.ndarray, parts: np.ndarray, v: np.ndarray) -> None:
    """Set v, the weights of the deployed forecast: the mean of all regressions and of the fallback."""
    sum_of_rows(each, parts[: len(each)], v)
    add(v, float(parts[len(each)]), fallback)


def freeze(player: Any, state: SteadyState) -> None:
    """Let the forecasts be those of now."""
    asked, units, dim = state.asked, state.units, len(state.row) - 1
    before, started = asked.numbers[EPOCH], state.numbers[EPOCH] >= 0.0
    for i in range(len(state.numbers)):
        asked.numbers[i] = state.numbers[i]
    asked.numbers[Y_CENTER], asked.numbers[Y_FACTOR] = target_unit(player, units)
    if player.delay == 1:
        asked.numbers[EPOCH] = NOW if started else NEVER
        return
    assign(asked.v, state.v)
    assign(asked.fallback, state.fallback.w)
    for k in range(len(asked.each)):
        assign(asked.each[k], state.learner.each[k])
    if before != state.numbers[EPOCH]:  # or they are the same
        assign(asked.center, units.center[:dim])
        assign(asked.factors, units.factors[:dim])


def ask(player: Any, state: SteadyState) -> None:
    """End a batch: its losses count, and the forecasts of the next one are those of now."""
    unit, started = 0.0, state.numbers[EPOCH] >= 0.0
    if started:
        unit = player.learner.loss_unit(state.learner)
        unit *= since_start(player, state.start, target_unit(player, state.units)[1])
    player.hedge.after_batch(state.hedge, unit)
    if started and state.asked.numbers[EPOCH] == NEVER:
        restart_fallback(player, state.learned, state.fallback)
    average(state.learner.each, state.fallback.w, state.hedge.parts, state.v)
    freeze(player, state)


def start_hedge(player: Any, hedge: Any, losses: np.ndarray) -> Any:
    """Start the mixture: the learner says with which parts. The fallback has one like a long memory."""
    last = len(losses) - 1
    for k in range(last):
        losses[k] = player.learner.first_part(k)
    losses[last] = 1.0
    return player.hedge.start_from(hedge, losses)


def restart_fallback(player: Any, learned: Epoch, fallback: Any) -> None:
    """Start the fallback again from its weights: the theorem is about the rounds from here on."""
    forget_epoch(learned)
    player.fallback.restarted(fallback, fallback.w)


def row_asked(player: Any, state: SteadyState, x: Row, row: np.ndarray) -> np.ndarray:
    """The row x as the forecasts that were given see it; `row` is x in units of now, squashed."""
    epoch = state.asked.numbers[EPOCH]
    return row if epoch in (NOW, state.numbers[EPOCH]) else weights_asked(player, state).row_in_units(x)


def judge(player: Any, state: SteadyState, round: Round, z: float, unit: float) -> bool:
    """Count the losses of the forecasts that were given for this round, for `hedge`. Its x is `row_asked`.

    They are brought into the range of forecasts, margins into [-3, 3], and losses are in units of the target
    at the last start, times the weight of the round: both are in `unit`. z is the forecast of the fallback of
    now; returns whether the same was given.
    """
    asked, losses, last = state.asked, state.losses, len(state.losses) - 1
    numbers, y, is_now = asked.numbers, round.y, asked.numbers[EPOCH] == NOW
    if is_now:
        assign(losses[:last], state.learner.errors)
        losses[last], deployed = z, dot(state.v, round.x)
    else:
        products(asked.each, round.x, losses[:last])
        losses[last], deployed = dot(asked.fallback, round.x), dot(asked.v, round.x)
    low, high, known = -_SURE, _SURE, float(numbers[Y_FACTOR])
    if player.learner.scales_target():
        center = float(numbers[Y_CENTER])
        least, most, spread = target_range(player, float(numbers[LOW]), float(numbers[HIGH]), known)
        low, high, y = -math.inf, math.inf, (y - center) * known
        if least <= most:
            low, high = (least - spread - center) * known, (most + spread - center) * known
    for k in range(last + 1):
        losses[k] = loss_of(player, float(losses[k]), y, low, high, unit)
    player.hedge.collect(state.hedge, losses, loss_of(player, deployed, y, low, high, unit))
    return bool(is_now and low <= z <= high)


def loss_of(player: Any, z: float, y: float, low: float, high: float, unit: float) -> float:
    """The loss of a forecast, brought into a range."""
    return min(player.loss.value(min(max(z, low), high), y) * unit, HUGE)
