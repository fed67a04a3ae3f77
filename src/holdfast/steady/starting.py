"""Units of the default are found from its first rounds, and replaced later if they are off."""

import math
from typing import Any

from holdfast.norms import HUGE
from holdfast.rounds import Round
from holdfast.steady.forecasts import restart_fallback, start_hedge
from holdfast.steady.state import EPOCH, HIGH, LOW, ROUNDS, SteadyState
from holdfast.steady.units import have_changed, is_off, measure_units, replaced, unit_octave
from holdfast.vectors import largest, scale_by, squash

_SOONEST, _FIRST = 8, 32  # rounds: after 8, 16 and 32 of them units are measured, and all are learned from
_NEAR = 8.0  # units: a stored row with a farther cell is not learned from


def is_compared(stored: int) -> bool:
    """Whether units are measured after so many rounds."""
    return stored in (_SOONEST, 2 * _SOONEST) or stored % _FIRST == 0


def first_forecast(delay: int) -> int:
    """After how many readable rounds the first forecasts are given, with batches of so many rounds.

    >>> [first_forecast(delay) for delay in (0, 1, 3, 50)]
    [8, 8, 9, 50]
    """
    batch = max(delay, 1)
    return -(-_SOONEST // batch) * batch


def replayed_at_once(stored: int) -> int:
    """How many rounds are learned from again at once, if so many are stored."""
    return max(_FIRST, stored // 2)


def start_again(player: Any, state: SteadyState, gate: Any, surprise: Any) -> tuple[Any, Any, bool]:
    """Start from all rounds, or from the last half of them if units differ. Returns whether it did, behind
    the states of the filters.
    """
    stored, share, columns = int(state.numbers[ROUNDS]), player.wrong, len(state.units.center)
    rows = state.first[(stored // 2 if stored > _FIRST else 0) : stored]
    if stored > _FIRST and not have_changed(
        state.start[0], state.start[1], rows[:, :columns], share, player.near, len(state.row) - 1
    ):
        return gate, surprise, False
    units, dim = measure_units(state.units, rows[:, :columns], share), len(state.row) - 1
    for j in range(columns):
        state.start[0, j], state.start[1, j] = units.center[j], units.factors[j]
    player.learner.reset(state.learner, dim + 1)
    gate, surprise = player.gate.reset(gate, dim), player.surprise.reset(surprise, dim)
    player.fallback.reset(state.fallback, dim + 1)
    start_hedge(player, state.hedge, state.losses)
    numbers = state.numbers
    numbers[EPOCH], numbers[LOW], numbers[HIGH] = max(float(numbers[EPOCH]), 0.0) + 1.0, math.inf, -math.inf
    for i in range(len(rows)):
        x = rows[i, :dim]
        row = player.standardised(state, x)
        size = largest(row[:dim])
        if size < HUGE:
            gate, _, _ = player.gate.decide(gate, size)
            if size <= _NEAR:
                seen = squash(row, player.knee, player.most)
                round = Round(0.0, seen, float(rows[i, dim]), seen, 0.0)
                surprise, _, _, _ = player.learn(state, surprise, round, float(rows[i, dim + 1]), False)
    restart_fallback(player, state.learned, state.fallback)
    return gate, surprise, True


def replace_units(player: Any, state: SteadyState) -> None:
    """Replace units that are off, and start the fallback again."""
    units, share, dim, w = state.units, player.wrong, len(state.row) - 1, state.fallback.w
    for j in range(len(units.center)):
        known = units.factors[j] > 0.0
        octave = unit_octave(units.counts[j], float(units.seen[j]), share)
        if octave == 0 or (known and not is_off(units, j, share)):
            continue
        moved, unit = replaced(units, j, share)
        if not known:
            if j == dim and state.start[1, j] == 0.0:
                state.start[1, j] = units.factors[j]  # the first unit of a target that did not vary
            continue
        if j < dim:
            player.learner.express_column(state.learner, j, moved, unit)
            w[dim] += w[j] * moved
            w[j] *= unit
        else:
            player.learner.express_target(state.learner, moved, unit)
            w[dim] -= moved
            scale_by(w, 1.0 / unit)
    restart_fallback(player, state.learned, state.fallback)
    state.numbers[EPOCH] += 1.0
