"""Play the rounds of several games in one call. This is what a run compiles.

`_compiled/prebuild.py` imports this file where pyarrow is not installed.
"""

from typing import Any, NamedTuple

import numpy as np

from holdfast.flatten import check_flat, flatten, restore
from holdfast.game import Counts, play_round
from holdfast.linear_model import LinearModels, write_model
from holdfast.play import empty_columns
from holdfast.record import VERDICTS

COUNTS = ("rounds", "kept", "unmeasured")  # of each game
KEEP = (*VERDICTS, "predictions")  # the columns of a run


class GroupedRounds(NamedTuple):
    """Rounds grouped by game, and where the state of each game is in the buffer."""

    order: np.ndarray  # the rounds, game after game
    cuts: np.ndarray  # where the rounds of each game begin in `order`
    places: np.ndarray
    lengths: np.ndarray  # of the states that were written
    counts: np.ndarray  # rounds, kept, unmeasured
    packed: bool  # whether states are made small (`PlayerOptions.to_stored`)


def play_groups(
    player: Any,
    adversary: Any,
    state: Any,
    columns: Any,
    groups: GroupedRounds,
    buffer: np.ndarray,
    first: int,
    last: int,
) -> int:
    """Play the rounds of the games first, ..., last - 1; restore each from the buffer and write it back."""
    nothing = np.zeros(0)
    for game in range(first, last):
        state, _ = restore(state, buffer, groups.places[game])
        if groups.packed:
            state = player.from_stored(state)
        hidden, counts = adversary.start(), groups.counts[game]
        tally = Counts(int(counts[0]), int(counts[1]), int(counts[2]), nothing)
        for i in range(groups.cuts[game], groups.cuts[game + 1]):
            t = groups.order[i]
            state, hidden, tally = play_round(player, adversary, state, hidden, tally, columns, t, t)
        counts[0], counts[1], counts[2] = tally.rounds, tally.kept, tally.unmeasured
        if groups.packed:
            state = player.to_stored(state)
        groups.lengths[game] = flatten(state, buffer, groups.places[game]) - groups.places[game]
    return 0


def example(player: Any, state: Any, adversary: Any, packed: bool) -> tuple[Any, ...]:
    """Arguments that have the types of all calls of `play_groups` with such a state and such rows."""
    nothing, width = np.zeros(0, np.int64), adversary.extent()[1]
    counts = np.zeros((0, len(COUNTS)), np.int64)
    groups = GroupedRounds(nothing, nothing, nothing, nothing, counts, packed)
    columns = empty_columns(0, width, len(player.check_names()), KEEP)
    return player, adversary, state, columns, groups, np.zeros(0), 0, 0


def first_invalid(
    player: Any,
    state: Any,
    buffer: np.ndarray,
    starts: np.ndarray,
    lengths: np.ndarray,
    scratch: np.ndarray,
) -> int:
    """The first game whose row is not a valid state; -1 if there is none."""
    for game in range(len(starts)):
        end = starts[game] + lengths[game]
        if check_flat(state, buffer, starts[game], end) != end:
            return game
        state, _ = restore(state, buffer, starts[game])
        valid = player.valid(state)
        flatten(state, scratch, 0)  # empties the histograms
        if not valid:
            return game
    return -1


def collect_models(
    player: Any,
    state: Any,
    packed: bool,
    buffer: np.ndarray,
    starts: np.ndarray,
    scratch: np.ndarray,
    found: LinearModels,
) -> int:
    """Write the model of each game into `found`."""
    for game in range(len(starts)):
        state, _ = restore(state, buffer, starts[game])
        if packed:
            state = player.from_stored(state)
        w = player.current_weights(state)
        write_model(found, game, w)
        flatten(state, scratch, 0)  # empties the histograms
    return 0
