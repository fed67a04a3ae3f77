"""Go on with a game, call after call, for estimators that learn from some rows at a time.

A compiled game leaves its state in native memory between the calls. To convert a state of the guarded learner
for one call of machine code, and back, takes longer than a thousand rounds.
"""

import weakref

import numpy as np

from holdfast.argument_types import signature
from holdfast.compiling import choose
from holdfast.game import Counts, play_rounds
from holdfast.play import empty_columns, kept_columns, play
from holdfast.record import COLUMNS, GUARD, Record
from holdfast.vectors import aligned_copy, assign, values_of

_PATIENCE = 500  # rounds after which to look again for a compiled game
_games: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # record -> the game that has its state
_next_look: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # record -> at which round to look


def play_batch(state, player, w, batch):
    """Play all rounds of an adversary, and write the weights to w. `bind_state` needs this order."""
    adversary, columns, rounds = batch
    counts = Counts(0, 0, 0, np.zeros(0))
    hidden = adversary.start()
    state, hidden, counts = play_rounds(player, adversary, state, hidden, counts, columns, 0, rounds)
    assign(w, values_of(player.current_weights(state)))
    return state, (counts.kept, counts.unmeasured)


def continued(player, adversary, after, keep, in_place):
    """What `play` returns, without the average. Pass None as `after` to start a game.

    In place, a compiled game goes on where its state is. If it is not compiled, it is played in Python.
    """
    if after is None:
        after, in_place = play(player, adversary, 0, keep=keep, compiled=False), True
    rounds, dim = adversary.extent()
    columns = empty_columns(rounds, dim, keep)
    batch = adversary, columns, rounds
    game = _game(after, batch, in_place)
    if game is None:
        record = play(player, adversary, keep=keep, after=after, in_place=in_place, compiled=False)
        _next_look[record] = _next_look.get(after, 0)
        return record
    kept, unmeasured = game.play(batch)
    record = Record(
        **kept_columns(columns, keep),
        final=game.w.copy(),
        average=None,
        rounds=after.rounds + rounds,
        kept_count=after.kept_count + kept,
        unmeasured_count=after.unmeasured_count + unmeasured,
        player=player,
        adversary=adversary,
        state=None,
        again=None,
    )
    counts = Counts(record.rounds, record.kept_count, record.unmeasured_count, np.zeros(0))
    object.__setattr__(record, "state", (game.state(), 0, counts, rounds))
    _games[record] = game
    return record


def are_native(records):
    """Whether the states of all records are in native memory: to go on, nothing need be compiled."""
    return all(record in _games for record in records if record is not None) and None not in records


def drop_rounds(record):
    """Remove data and columns, which are not needed to continue."""
    for name in ("adversary", "again", *COLUMNS, *GUARD):
        object.__setattr__(record, name, None)


class _Game:
    """A compiled game with its state in native memory."""

    def __init__(self, state, player, dim):
        self.values = state, player, aligned_copy(np.zeros(dim))
        self.w = self.values[-1]
        self.bound, self.kind = None, None  # the compiled function; the type of its batches

    def state(self):
        return self.values[0] if self.bound is None else self.bound.first()

    def play(self, batch):
        from holdfast._compiled import bind_state

        kind = signature(batch)
        if self.bound is None or kind is None or kind != self.kind:
            self.values = self.state(), *self.values[1:]
            self.bound, self.kind = bind_state(play_batch, *self.values, batch), kind
        return self.bound(batch)


def _game(after, batch, in_place):
    """The compiled game that goes on with a record, if there is one on disk or in memory; None if not."""
    if in_place and after in _games:
        after.give_up()
        return _games.pop(after)
    if after not in _games and after.rounds + batch[-1] < _next_look.get(after, 0):
        return None
    state, *_ = after.own_state()
    game = _Game(state if in_place else aligned_copy(state), after.player, len(after.final))
    if after in _games or choose("state", play_batch, (*game.values, batch), batch[-1], after.rounds):
        if in_place:
            after.give_up()
        return game
    _next_look[after] = after.rounds + _PATIENCE
    return None
