"""One game, or one for each key and label: what is learned in a run."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from holdfast.certificates.certificate import certificate_of_state
from holdfast.dry_run import check_first_round
from holdfast.flatten import check_flat, flat_size, flatten, layout_digest, restore
from holdfast.game import Counts, play_round
from holdfast.play import empty_columns
from holdfast.play_many import caller, cores, evenly
from holdfast.runs.flat_states import FlatStates
from holdfast.runs.folder import damaged, of_another_layout
from holdfast.vectors import ScaledWeights, aligned_copy, values_of

_FEW = 1_000  # games
_SMALL = 65_536  # bytes of an array that is worth a place at the beginning of a cache line
TENSORS = {"tape": (), "lengths": (), "counts": ("rounds", "kept", "unmeasured")}  # columns by name
KEEP = ("sizes", "thresholds", "kept", "guard", "predictions")


class Turn(NamedTuple):
    """Whose rounds are played, where these games are read from the tape, and where they are written."""

    order: np.ndarray  # the rounds, those of a game behind each other
    cuts: np.ndarray  # where the rounds of each begin
    reading: np.ndarray
    writing: np.ndarray
    lengths: np.ndarray  # of what was written
    counts: np.ndarray  # rounds, kept, unmeasured


class Games:
    """The games of a run, by key and label, each a row on one tape between its turns.

    All have the same player. A turn plays the rounds of a batch, those of a game after each other, in the
    arrays of a single state.
    """

    def __init__(self, player, dim, loss, labels, sparse=False):
        self.player, self.dim, self.loss, self.labels, self.sparse = player, dim, loss, labels, sparse
        self.scaled = isinstance(player.current_weights(player.init(2)), ScaledWeights)
        self.width = dim + (0 if self.scaled else 1)  # of a row as the player gets it
        state = self._blank()
        self.layout = layout_digest(state)
        size, self._more = flat_size(state)
        fresh = np.zeros(size)
        flatten(state, fresh, 0)
        self._tapes = FlatStates(fresh)
        self._checked = True  # whether every state on the tape is one that a game can have
        self._idle: list = []  # states to play in
        self.counts = np.zeros((0, 3), np.int64)
        self.keys: dict[str, int] = {}  # in the order in which they came

    def slots(self, names):
        """The place of each of these keys, new ones behind the others."""
        return np.array([self.keys.setdefault(name, len(self.keys)) for name in names], np.int64)

    def play(self, keys, place, rows, y, compiled):
        """Play these rounds, in the game of each round's key (its place) and of the label at `place`."""
        self.check()
        adversary, call = rows.replay(y, self.loss), caller(compiled)
        check_first_round(self.player, self.width, adversary)
        slots, order, cuts = in_turn(keys)
        slots = slots * len(self.labels) + place
        new = int(slots.max(initial=-1)) + 1 - len(self.counts)
        self.counts = np.concatenate([self.counts, np.zeros((max(new, 0), 3), np.int64)])
        move = self._caller()
        reading, writing = self._tapes.make_room(slots, self._more * np.diff(cuts), move)
        turn = Turn(order, cuts, reading, writing, np.zeros(len(slots), np.int64), self.counts[slots])
        columns = empty_columns(len(y), self.width, KEEP)

        def play_some(some):
            state = self._idle.pop() if self._idle else self._new_state()
            call(take_turns, self.player, adversary, state, columns, turn, self._tapes.tape, *some)
            self._idle.append(state)

        workers = min(cores(), len(slots)) if compiled else 1
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(play_some, evenly(cuts, workers)))
        self._tapes.lengths[slots], self.counts[slots] = turn.lengths, turn.counts
        return columns

    def is_stored(self, rows, y):
        """Whether games on such rows were compiled before, on this machine."""
        from holdfast._compiled import is_stored

        state, nothing = self._blank(), np.zeros(0, np.int64)
        turn = Turn(*[nothing] * 5, np.zeros((0, 3), np.int64))
        columns = empty_columns(0, self.width, KEEP)
        adversary = rows.replay(y, self.loss)
        return is_stored(take_turns, self.player, adversary, state, columns, turn, self._tapes.tape, 0, 0)

    def names(self):
        """All games: the place of the key and that of the label."""
        return [(key, place) for key in range(len(self.keys)) for place in range(len(self.labels))]

    def weights(self, name):
        """The weights of the features as they are."""
        return values_of(self.player.current_weights(self._state(name)))[: self.dim]

    def certificate(self, name, k):
        unmeasured = int(self.counts[self._slot(name), 2])
        return certificate_of_state(self._state(name), self.player, k, unmeasured)

    def parameters(self):
        """What predicts, by name, a row for each game: the model as `docs/run-folder.md` has it."""
        self.check()
        games = len(self._tapes)
        wide = {name: np.zeros((games, self.dim)) for name in ("center", "factors", "weights")}
        figures = ("clip", "constant", "high", "low", "y_center", "y_spread")
        flat = {name: np.zeros(games) for name in figures}
        found = Parameters(**wide, **flat)
        tell = tell_scaled if self.scaled else tell_plain
        state = self._new_state()
        room = np.zeros(int(self._tapes.lengths.max(initial=0)))
        self._caller()(tell, self.player, state, self._tapes.tape, self._tapes.starts, room, found)
        return found._asdict()

    def state(self):
        """All games as arrays by name."""
        return self._tapes.state(self._caller()) | {"counts": self.counts}

    def load(self, keys, tensors, path, layout):
        """Go on from what `state` gave, as read from this file; raises ValueError if its arrays do not fit.

        `layout` is the digest of the states that were written.

        The states themselves are checked before the first of them is used.
        """
        count, counts = len(keys) * len(self.labels), tensors["counts"]
        if counts.dtype != np.int64 or counts.shape != (count, 3):
            raise ValueError(f"{count:,} games cannot have counts {counts.dtype} of shape {counts.shape}")
        rounds, kept, unmeasured = counts.T
        if not ((kept >= 0) & (unmeasured >= 0) & (kept <= rounds - unmeasured) & (rounds < 1 << 53)).all():
            raise ValueError("the counts of the games are not counts of their rounds")
        self.keys, self.counts = {key: i for i, key in enumerate(keys)}, np.array(counts)
        self._tapes.load(tensors["tape"], tensors["lengths"], count)
        self._checked, self._read_from, self._layout_read = False, path, layout

    def check(self):
        """Raise RunError if a state that was read back is not one that a game can have."""
        if self._checked:
            return
        if self._layout_read != self.layout:
            raise of_another_layout(self._read_from, "the states", "; predict and audit still read this run")
        room = np.zeros(int(self._tapes.lengths.max(initial=0)))
        tapes = (self._tapes.tape, self._tapes.starts, self._tapes.lengths, room)
        broken = self._caller()(first_broken, self.player, self._new_state(), *tapes)
        if broken >= 0:
            key = list(self.keys)[broken // len(self.labels)]
            whose = f" of the key {key[:40]!r}" if key else ""
            raise damaged(self._read_from, f"the state{whose} is not one that a game can have")
        self._checked = True

    def _caller(self):
        """For what takes a step a game: to compile it pays where there are many."""
        return caller(len(self._tapes) > _FEW)

    def _slot(self, name):
        return name[0] * len(self.labels) + name[1]

    def _blank(self):
        """The state of a game that has not begun."""
        state = self.player.init(self.width)
        return self.player.to_lazy(state, False) if self.sparse else state

    def _new_state(self):
        return aligned_copy(self._blank(), _SMALL)

    def _state(self, name):
        self.check()
        return restore(self._blank(), self._tapes.row(self._slot(name)), 0)[0]


class Parameters(NamedTuple):
    """The model of each game."""

    center: Any
    factors: Any
    weights: Any
    clip: Any
    constant: Any
    high: Any
    low: Any
    y_center: Any
    y_spread: Any


def take_turns(player, adversary, state, columns, turn, tape, first, last):
    """Play the rounds of the games first, ..., last - 1, each read from the tape and written to it."""
    nothing = np.zeros(0)
    for game in range(first, last):
        state, _ = restore(state, tape, turn.reading[game])
        hidden, counts = adversary.start(), turn.counts[game]
        tally = Counts(int(counts[0]), int(counts[1]), int(counts[2]), nothing)
        for i in range(turn.cuts[game], turn.cuts[game + 1]):
            t = turn.order[i]
            state, hidden, tally = play_round(player, adversary, state, hidden, tally, columns, t, t)
        counts[0], counts[1], counts[2] = tally.rounds, tally.kept, tally.unmeasured
        turn.lengths[game] = flatten(state, tape, turn.writing[game]) - turn.writing[game]
    return 0


def first_broken(player, state, tape, starts, lengths, room):
    """The first game whose row is not a state that it can have; -1 if there is none."""
    for game in range(len(starts)):
        end = starts[game] + lengths[game]
        if check_flat(state, tape, starts[game], end) != end:
            return game
        state, _ = restore(state, tape, starts[game])
        fine = player.valid(state)
        flatten(state, room, 0)  # leaves the histograms empty
        if not fine:
            return game
    return -1


def tell_scaled(player, state, tape, starts, room, told):
    """Write down what each game predicts with, of learners that scale their features."""
    dim = told.weights.shape[1]
    for game in range(len(starts)):
        state, _ = restore(state, tape, starts[game])
        w = player.current_weights(state)
        v = values_of(w.v)
        told.weights[game], told.constant[game] = v[:dim], v[dim]
        told.center[game], told.factors[game], told.clip[game] = w.center, w.factors, w.clip
        told.y_center[game], told.y_spread[game] = w.y_center, w.y_spread
        # Without a scale of the target there are no ends.
        bounded = w.y_low <= w.y_high
        told.low[game] = w.y_low - w.y_spread if bounded else -np.inf
        told.high[game] = w.y_high + w.y_spread if bounded else np.inf
        flatten(state, room, 0)  # for the histograms to be empty
    return 0


def tell_plain(player, state, tape, starts, room, told):
    """Write down what each game predicts with, of learners that take features as they are."""
    dim = told.weights.shape[1]
    for game in range(len(starts)):
        state, _ = restore(state, tape, starts[game])
        v = values_of(player.current_weights(state))
        told.weights[game], told.constant[game] = v[:dim], v[dim]
        told.factors[game], told.y_spread[game] = 1.0, 1.0
        told.clip[game], told.low[game], told.high[game] = np.inf, -np.inf, np.inf
        flatten(state, room, 0)
    return 0


def in_turn(keys):
    """Each key once, sorted, and the rounds of each: of the j-th order[cuts[j]:cuts[j + 1]]."""
    order = np.argsort(keys, kind="stable")
    found, cuts = np.unique(keys[order], return_index=True)
    return found, order, np.append(cuts, len(keys))
