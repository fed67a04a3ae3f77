"""Play a player in batches: predict all rounds of a batch with the weights at its start, then play them."""

import numpy as np

import holdfast as hf
from holdfast.game import play_rounds
from holdfast.play import empty_columns
from holdfast.vectors import dot, prediction_of

_WORTH_COMPILING = 350  # rounds: short tables are played in many orders


def forecasts(player, table, loss, blocks):
    """The predictions of a player for a table; `blocks` has the number of each round's batch.

    They are made with `current_weights`, as those of the estimators, and the player is told where a batch
    begins (`start_batch`).
    """
    replay, compiled = hf.Replay(table.X, table.y, loss), table.rounds >= _WORTH_COMPILING
    state, hidden, counts, _ = hf.play(player, replay, 0, keep=(), compiled=False).state
    columns, predictions = (
        empty_columns(0, table.X.shape[1], len(player.check_names()), ()),
        np.zeros(table.rounds),
    )
    game = (player, replay, state, hidden, counts, columns, blocks, predictions)
    if compiled:
        from holdfast._compiled import call

        call(play_batches, *game)
    else:
        with np.errstate(all="ignore"):
            play_batches(*game)
    return predictions


def play_batches(player, replay, state, hidden, counts, columns, blocks, predictions):
    """Play all rounds of `replay`, and fill in `predictions`."""
    first = 0
    while first < len(blocks):
        state = player.start_batch(state)
        last, w = first, player.current_weights(state)
        while last < len(blocks) and blocks[last] == blocks[first]:
            predictions[last] = prediction_of(w, dot(w, replay.X[last]))
            last += 1
        state, hidden, counts = play_rounds(player, replay, state, hidden, counts, columns, first, last)
        first = last
    return counts
