"""What the default says when it is asked, and how that is judged when the target is known."""

import math
from typing import Any

import numpy as np

from holdfast.matrices import sum_of_rows
from holdfast.norms import HUGE
from holdfast.rounds import Round
from holdfast.steady.epochs import forget_epoch
from holdfast.steady.state import EPOCH, HIGH, LOW, Y_CENTER, Y_FACTOR, SteadyState
from holdfast.vectors import ScaledWeights, add, assign, dot, squash, standardise

NO_CLIP = 1e300  # the gate must see how far a cell is
_SURE = 3.0  # a margin counts as at most this where forecasts of labels are judged


def target_unit(player: Any, state: SteadyState) -> tuple[float, float]:
    """Center and factor of the target."""
    if player.learner.scales_target():
        return float(state.units.center[-1]), float(state.units.factors[-1])
    return 0.0, 1.0


def target_range(player: Any, low: float, high: float, factor: float) -> tuple[float, float, float]:
    """The limits for `ScaledWeights`, and the unit: half a range, or a unit, beyond known targets."""
    spread = 1.0 / factor if factor > 0.0 else 0.0
    if not (low <= high and player.learner.scales_target()):
        return math.inf, -math.inf, spread
    margin = max(0.5 * (high - low), spread)
    return low - margin + spread, high + margin - spread, spread


def since_start(player: Any, state: SteadyState, factor: float) -> float:
    """A unit of the target, given by its factor, in units of the last start."""
    if not player.learner.scales_target():
        return 1.0
    return float(state.start[1, -1]) / factor if factor > 0.0 else 0.0


def start_unit(player: Any, state: SteadyState) -> float:
    """The unit of the target at the last start: losses of forecasts are in it."""
    if not player.learner.scales_target():
        return 1.0
    return 1.0 / float(state.start[1, -1]) if state.start[1, -1] > 0.0 else 0.0


def weights_asked(player: Any, state: SteadyState) -> ScaledWeights:
    """The weights of the forecasts of this batch."""
    asked = state.asked
    numbers, v = asked.numbers, (asked.v, asked.center, asked.factors, asked.row, NO_CLIP)
    low, high, factor = float(numbers[LOW]), float(numbers[HIGH]), float(numbers[Y_FACTOR])
    low, high, spread = target_range(player, low, high, factor)
    if player.weighted and not spread > 0.0:
        spread = 1.0  # else the slope of a first round would be 0, and its weight unknown
    center = float(numbers[Y_CENTER])
    return ScaledWeights(*v, center, spread, low, high, player.missing, player.knee, player.most)


def weights_now(player: Any, state: SteadyState) -> ScaledWeights:
    """The weights after the last round, whatever was asked before."""
    dim, units = len(state.row) - 1, state.units
    v = (state.v, units.center[:dim], units.factors[:dim], state.row, NO_CLIP)
    center, factor = target_unit(player, state)
    low, high = float(state.numbers[LOW]), float(state.numbers[HIGH])
    low, high, spread = target_range(player, low, high, factor)
    return ScaledWeights(*v, center, spread, low, high, player.missing, player.knee, player.most)


def average(state: SteadyState) -> None:
    """Set the weights of the deployed forecast: the mean of all regressions and of the fallback."""
    each, parts = state.learner.each, state.hedge.parts
    sum_of_rows(each, parts[: len(each)], state.v)
    add(state.v, float(parts[len(each)]), state.fallback.w)


def freeze(player: Any, state: SteadyState) -> None:
    """Let the forecasts be those of now."""
    asked, units, dim = state.asked, state.units, len(state.row) - 1
    assign(asked.v, state.v)
    assign(asked.fallback, state.fallback.w)
    assign(asked.each.reshape(-1), state.learner.each.reshape(-1))
    if asked.numbers[EPOCH] != state.numbers[EPOCH]:  # or they are the same
        assign(asked.center, units.center[:dim])
        assign(asked.factors, units.factors[:dim])
    for i in range(len(state.numbers)):
        asked.numbers[i] = state.numbers[i]
    asked.numbers[Y_CENTER], asked.numbers[Y_FACTOR] = target_unit(player, state)


def ask(player: Any, state: SteadyState) -> None:
    """End a batch: its losses count, and the forecasts of the next one are those of now."""
    unit, started = 0.0, state.numbers[EPOCH] >= 0.0
    if started:
        unit = player.learner.loss_unit(state.learner)
        unit *= since_start(player, state, target_unit(player, state)[1])
    player.hedge.after_batch(state.hedge, unit)
    if started and state.asked.numbers[EPOCH] < 0.0:
        restart_fallback(player, state)
    average(state)
    freeze(player, state)


def restart_fallback(player: Any, state: SteadyState) -> None:
    """Start the fallback again from its weights: the theorem is about the rounds from here on."""
    forget_epoch(state.learned)
    player.fallback.restarted(state.fallback, state.fallback.w)


def judge(player: Any, state: SteadyState, round: Round, row: np.ndarray, unit: float) -> None:
    """Count the losses of the forecasts that were given for this row, for `hedge`.

    They are brought into the range of forecasts, margins into [-3, 3], and losses are in units of the target
    at the last start.
    """
    asked, losses = state.asked, state.losses
    numbers, y, seen = asked.numbers, round.y, row
    if numbers[EPOCH] != state.numbers[EPOCH]:
        cells = standardise(weights_asked(player, state), round.x)
        seen = squash(player.missing.clear(cells, round.x), player.knee, player.most)
    low, high, known = -_SURE, _SURE, float(numbers[Y_FACTOR])
    if player.learner.scales_target():
        center = float(numbers[Y_CENTER])
        least, most, spread = target_range(player, float(numbers[LOW]), float(numbers[HIGH]), known)
        low, high, y = -math.inf, math.inf, (y - center) * known
        if least <= most:
            low, high = (least - spread - center) * known, (most + spread - center) * known
    last = len(losses) - 1
    for k in range(last):
        losses[k] = loss_of(player, asked.each[k], seen, y, low, high, unit)
    losses[last] = loss_of(player, asked.fallback, seen, y, low, high, unit)
    player.hedge.collect(state.hedge, losses, loss_of(player, asked.v, seen, y, low, high, unit))


def loss_of(
    player: Any, w: np.ndarray, seen: np.ndarray, y: float, low: float, high: float, unit: float
) -> float:
    """The loss of the forecast <w, seen>, brought into a range."""
    z = min(max(dot(w, seen), low), high)
    return min(player.loss.value(z, y) * unit, HUGE)
