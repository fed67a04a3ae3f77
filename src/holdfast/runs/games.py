"""The games of a run: one for each key and label."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from holdfast.certificates.certificate import certificate_of_state
from holdfast.dry_run import check_first_round
from holdfast.flatten import check_flat, flatten, layout_digest, restore
from holdfast.game import Counts, play_round
from holdfast.play import empty_columns
from holdfast.play_many import caller, cores, evenly
from holdfast.runs.files import damaged, of_another_layout
from holdfast.runs.flat_states import FlatStates, group_rounds
from holdfast.runs.model import collect_plain, collect_scaled, zero_parameters
from holdfast.vectors import ScaledWeights, aligned_copy, values_of

_MANY = 1_000  # games; with more, functions that visit each game are compiled
_LARGE = 65_536  # bytes; an array of this size begins at a cache line
TENSORS = {"tape": (), "lengths": (), "counts": ("rounds", "kept", "unmeasured")}  # columns by name
KEEP = ("sizes", "thresholds", "kept", "guard", "predictions")


class GroupedRounds(NamedTuple):
    """Rounds grouped by game, and where the state of each game is read and written in the buffer."""

    order: np.ndarray  # the rounds, game after game
    cuts: np.ndarray  # where the rounds of each game begin in `order`
    reading: np.ndarray
    writing: np.ndarray
    lengths: np.ndarray  # of the states that were written
    counts: np.ndarray  # rounds, kept, unmeasured


class Games:
    """The games of a run, by key and label. Between batches, their states are rows of one buffer.

    All games have the same player. A batch is played game after game, in the arrays of a single state.
    """

    workers: int | None = None  # threads that play compiled games; by default one for each core

    def __init__(self, player, dim, loss, labels, sparse=False):
        self.player, self.dim, self.loss, self.labels, self.sparse = player, dim, loss, labels, sparse
        self.scaled = isinstance(player.current_weights(player.init(2)), ScaledWeights)
        self.width = dim + (0 if self.scaled else 1)  # of a row, with the constant if the learner adds none
        state = self._first_state()
        self.layout = layout_digest(state)
        self._states = FlatStates(state)
        self._checked = True  # False until the states from a file were checked
        self._idle: list = []  # states to play in
        self.counts = np.zeros((0, 3), np.int64)
        self.keys: dict[str, int] = {}  # the index of each key, in order of appearance

    def indices(self, names):
        """The index of each of these keys; new keys are added at the end."""
        return np.array([self.keys.setdefault(name, len(self.keys)) for name in names], np.int64)

    def play(self, keys, label, rows, y, compiled):
        """Play these rounds, each in the game of its key and of this label, both given by index."""
        self.check()
        adversary, call = rows.replay(y, self.loss), caller(compiled)
        check_first_round(self.player, self.width, adversary)
        slots, order, cuts = group_rounds(keys)
        slots = slots * len(self.labels) + label
        new = int(slots.max(initial=-1)) + 1 - len(self.counts)
        self.counts = np.concatenate([self.counts, np.zeros((max(new, 0), 3), np.int64)])
        reading, writing = self._states.reserve(slots, np.diff(cuts), self._caller())
        lengths = np.zeros(len(slots), np.int64)
        groups = GroupedRounds(order, cuts, reading, writing, lengths, self.counts[slots])
        columns = empty_columns(len(y), self.width, KEEP)

        def play_some(some):
            state = self._idle.pop() if self._idle else self._new_state()
            call(play_groups, self.player, adversary, state, columns, groups, self._states.buffer, *some)
            self._idle.append(state)

        workers = min(self.workers or cores(), len(slots)) if compiled else 1
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(play_some, evenly(cuts, workers)))
        self._states.lengths[slots], self.counts[slots] = groups.lengths, groups.counts
        return columns

    def is_stored(self, rows, y):
        """Whether the disk cache has the compiled games for such rows."""
        from holdfast._compiled import is_stored

        state, nothing = self._first_state(), np.zeros(0, np.int64)
        groups = GroupedRounds(*[nothing] * 5, np.zeros((0, 3), np.int64))
        columns = empty_columns(0, self.width, KEEP)
        adversary, buffer = rows.replay(y, self.loss), self._states.buffer
        return is_stored(play_groups, self.player, adversary, state, columns, groups, buffer, 0, 0)

    def names(self):
        """All games, as pairs: index of the key, index of the label."""
        return [(key, label) for key in range(len(self.keys)) for label in range(len(self.labels))]

    def weights(self, name):
        """The weights of the features, in the units of the data."""
        return values_of(self.player.current_weights(self._state(name)))[: self.dim]

    def certificate(self, name, k):
        unmeasured = int(self.counts[self._slot(name), 2])
        return certificate_of_state(self._state(name), self.player, k, unmeasured)

    def parameters(self):
        """The parameters of all models by name (`docs/run-folder.md`)."""
        self.check()
        found = zero_parameters(len(self._states), self.dim)
        collect = collect_scaled if self.scaled else collect_plain
        states = (self._new_state(), self._states.buffer, self._states.starts, self._scratch())
        self._caller()(collect, self.player, *states, found)
        return found._asdict()

    def state(self):
        """The states and counts of all games, as arrays by name."""
        return self._states.state(self._caller()) | {"counts": self.counts}

    def load(self, keys, tensors, path, layout):
        """Continue from what `state` returned, as read from this file; raises ValueError if it does not fit.

        `layout` is the digest of the states in the file. The states are checked later, at their first use.
        """
        count, counts = len(keys) * len(self.labels), tensors["counts"]
        if counts.dtype != np.int64 or counts.shape != (count, 3):
            raise ValueError(f"{count:,} games cannot have counts {counts.dtype} of shape {counts.shape}")
        rounds, kept, unmeasured = counts.T
        if not ((kept >= 0) & (unmeasured >= 0) & (kept <= rounds - unmeasured) & (rounds < 1 << 53)).all():
            raise ValueError("the counts of the games are not counts of their rounds")
        self.keys, self.counts = {key: i for i, key in enumerate(keys)}, np.array(counts)
        self._states.load(tensors["tape"], tensors["lengths"], count)
        self._checked, self._read_from, self._layout_read = False, path, layout

    def check(self):
        """Raise RunError if a state that was read from a file is not valid."""
        if self._checked:
            return
        if self._layout_read != self.layout:
            raise of_another_layout(self._read_from, "the states", "; predict and audit still read this run")
        rows = (self._states.buffer, self._states.starts, self._states.lengths, self._scratch())
        invalid = self._caller()(first_invalid, self.player, self._new_state(), *rows)
        if invalid >= 0:
            key = list(self.keys)[invalid // len(self.labels)]
            whose = f" of the key {key[:40]!r}" if key else ""
            raise damaged(self._read_from, f"the state{whose} is not valid")
        self._checked = True

    def _caller(self):
        """Runs functions that visit each game: compiled if there are many games."""
        return caller(len(self._states) > _MANY)

    def _scratch(self):
        """A buffer for any one of the states."""
        return np.zeros(int(self._states.lengths.max(initial=0)))

    def _slot(self, name):
        return name[0] * len(self.labels) + name[1]

    def _first_state(self):
        state = self.player.init(self.width)
        return self.player.to_lazy(state, False) if self.sparse else state

    def _new_state(self):
        return aligned_copy(self._first_state(), _LARGE)

    def _state(self, name):
        self.check()
        return restore(self._first_state(), self._states.row(self._slot(name)), 0)[0]


def play_groups(player, adversary, state, columns, groups, buffer, first, last):
    """Play the rounds of the games first, ..., last - 1; restore each from the buffer and write it back."""
    nothing = np.zeros(0)
    for game in range(first, last):
        state, _ = restore(state, buffer, groups.reading[game])
        hidden, counts = adversary.start(), groups.counts[game]
        tally = Counts(int(counts[0]), int(counts[1]), int(counts[2]), nothing)
        for i in range(groups.cuts[game], groups.cuts[game + 1]):
            t = groups.order[i]
            state, hidden, tally = play_round(player, adversary, state, hidden, tally, columns, t, t)
        counts[0], counts[1], counts[2] = tally.rounds, tally.kept, tally.unmeasured
        groups.lengths[game] = flatten(state, buffer, groups.writing[game]) - groups.writing[game]
    return 0


def first_invalid(player, state, buffer, starts, lengths, scratch):
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
