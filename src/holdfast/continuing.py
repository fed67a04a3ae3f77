"""Go on with a game, call after call, for estimators that learn from a few rows at a time.

A compiled game leaves its state in native memory between the calls (`Player`). To convert a state of the
guarded learner for one call of machine code, and back, takes longer than a hundred rounds.
"""

import weakref
from typing import Any, NamedTuple

import numpy as np

from holdfast.adversaries import Replay, Weighted
from holdfast.compiling import FEW, choose
from holdfast.play import empty_columns, kept_columns, play
from holdfast.player import Player, learn_round
from holdfast.record import COLUMNS, GUARD, Record

_DECISIONS = {"sizes", "thresholds", "kept", "guard"}  # columns that the decision on a round has
_PATIENCE = 500  # rounds after which to look again for compiled rounds
_players: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # record -> the player that has its state
_next_look: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # record -> at which round to look


def continued(player, data, after, keep, in_place):
    """What `play` returns for these `Rows`. In place, a few rows are played one by one where the state is."""
    in_place = in_place and after is not None
    if in_place and 0 < len(data.y) <= FEW and data.weights is None and {*keep} <= _DECISIONS:
        one_by_one = _players.pop(after, None) or _compiled_player(data, after)
        if one_by_one is not None:
            after.give_up()
            return _played(one_by_one, data, keep)
    record = play(player, data.adversary(), keep=keep, after=after, in_place=in_place)
    if after in _next_look:
        _next_look[record] = _next_look[after]
    return record


class Rows(NamedTuple):
    """Data to learn from: rows, targets and a loss; weights of the rows, or None."""

    X: Any
    y: np.ndarray
    loss: Any
    weights: Any

    def adversary(self):
        replay = Replay(self.X, self.y, self.loss)
        return replay if self.weights is None else Weighted(replay, self.weights)


def drop_rounds(record):
    """Remove data and columns, which are not needed to continue."""
    for name in ("adversary", "again", *COLUMNS, *GUARD):
        object.__setattr__(record, name, None)


def _compiled_player(data, after):
    """A compiled player with the state of this record, if that is on disk; None if not."""
    if not isinstance(data.X, np.ndarray) or after.rounds < _next_look.get(after, 0):
        return None
    resumed = Player.resumed(after, compiled=True)
    values = resumed.values(data.loss)
    if choose("state", learn_round, values, len(data.y), after.rounds):
        return resumed
    _next_look[after] = after.rounds + _PATIENCE
    return None


def _played(player, data, keep):
    columns = empty_columns(len(data.y), player.dim, keep)
    for t, y in enumerate(data.y.tolist()):
        columns.decided(t, player.learn(data.X[t], y, data.loss))
    record = Record(
        **kept_columns(columns, keep),
        final=player.predict(),
        average=None,
        rounds=player.rounds,
        kept_count=player.kept_count,
        unmeasured_count=player.unmeasured_count,
        player=player.rule,
        adversary=None,
        state=(player.state, 0, player.counts(), len(data.y)),
        again=None,
    )
    _players[record] = player
    return record
