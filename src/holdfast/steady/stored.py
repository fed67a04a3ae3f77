"""States of the default for many keys: small when they are stored, and a prior for new keys."""

import math
from typing import Any

import numpy as np

from holdfast.steady.forecasts import ask, average, freeze, restart_fallback
from holdfast.steady.state import ROUNDS, SteadyState, with_filters
from holdfast.vectors import assign


def to_stored(player: Any, state: SteadyState) -> SteadyState:
    """Zeros for buffers, for first rounds that are not needed any more, and for forecasts that are those of
    now.
    """
    asked = state.asked
    for array in (state.row, state.raw, state.losses, asked.row):
        assign(array, np.zeros(len(array)))
    player.learner.clear_buffers(state.learner)
    if state.numbers[ROUNDS] >= player.stored:
        unit = float(state.start[1, -1])
        state.first[:] = 0.0
        state.start[:] = 0.0
        state.start[1, -1] = unit
    if player.delay == 1:
        assign(state.v, np.zeros(len(state.v)))
        assign(asked.numbers, np.zeros(len(asked.numbers)))
    return state


def from_stored(player: Any, state: SteadyState) -> SteadyState:
    """The state that `to_stored` made small, with the same bits as before."""
    if player.delay == 1 and state.numbers[ROUNDS] > 0.0:
        average(state.learner.each, state.fallback.w, state.hedge.parts, state.v)
        freeze(player, state)
    return state


def to_prior(player: Any, state: SteadyState) -> SteadyState:
    """The state with units and weights, but without what filters and residuals were like.

    Its rounds are counted as whole batches, so that batches begin with the first row of a key.
    """
    dim, batch = len(state.row) - 1, max(player.delay, 1)
    state.numbers[ROUNDS] = float(-(-player.stored // batch) * batch)
    state.units.last[:] = math.nan
    gate, surprise = player.gate.reset(state.gate, dim), player.surprise.reset(state.surprise, dim)
    player.learner.to_prior(state.learner)
    state = with_filters(state, gate, surprise)
    restart_fallback(player, state.learned, state.fallback)
    ask(player, state)
    return state
