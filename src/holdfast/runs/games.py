"""The games of a run: one for each key and label."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from holdfast.certificates.certificate import certificate_of_state
from holdfast.dry_run import check_first_round
from holdfast.flatten import digest, flat_size, flatten, layout, layout_digest, restore
from holdfast.play import empty_columns
from holdfast.play_many import caller, cores, evenly
from holdfast.runs.files import damaged, of_another_layout
from holdfast.runs.flat_states import FlatStates, group_rounds
from holdfast.runs.grouped_rounds import GroupedRounds, first_invalid, play_groups
from holdfast.runs.key_table import KeyTable
from holdfast.runs.model import Parameters, collect_plain, collect_scaled, zero_parameters
from holdfast.runs.packed_states import PackedStates
from holdfast.vectors import ScaledWeights, aligned_copy, values_of

_MANY = 1_000  # games; with more, functions that visit each game are compiled
_TOGETHER = 1 << 23  # numbers that are unpacked at once: 64 MB
_LARGE = 65_536  # bytes; an array of this size begins at a cache line
TENSORS = {"tape": (), "lengths": (), "counts": ("rounds", "kept", "unmeasured")}  # columns by name
KEEP = ("sizes", "thresholds", "kept", "guard", "predictions")


class Games:
    """The games of a run, by key and label. Between batches, their states are packed in one array.

    All games have the same player. A batch is played game after game, in the arrays of a single state.
    """

    workers: int | None = None  # threads that play compiled games; by default one for each core
    always_compiled = False  # functions that visit each game, also with few games

    def __init__(self, player, dim, loss, labels, sparse=False, keyed=False):
        self.player, self.dim, self.loss, self.labels, self.sparse = player, dim, loss, labels, sparse
        self.scaled = isinstance(player.current_weights(player.init(2)), ScaledWeights)
        self.width = dim + (0 if self.scaled else 1)  # of a row, with the constant if the learner adds none
        state, self.keyed = self._first_state(), keyed
        # Several games are told apart by their names, so these belong to the layout.
        self.layout = layout_digest(state) if len(labels) == 1 else digest([layout(state), list(labels)])
        self._states: Any = PackedStates(state, len(labels)) if keyed else FlatStates(state)
        self._together = max(_TOGETHER // self._states.fresh, 1)  # games that are unpacked at once
        self._checked = True  # False until the states from a file were checked
        self._tried = False  # whether the player and the loss were tried in Python
        self._idle: list = []  # states to play in
        self.counts = np.zeros((0, 3), np.int64)
        self.table = KeyTable()

    @property
    def keys(self):
        """The index of each key, in order of appearance."""
        return self.table.names

    def indices(self, names):
        """The index of each of these keys; new keys are added at the end."""
        return self.table.indices(names)

    def play(self, keys, label, rows, y, compiled, player=None):
        """Play these rounds, each in the game of its key and of this label, both given by index.

        Another player may play them, if it has the same states; not compiled. If there are several labels, a
        round without a target is of a class that this game does not tell apart. It is predicted and changes
        nothing. It counts as a round, as kept, and not as unmeasured.
        """
        self.check()
        adversary = rows.replay(y, self.loss)
        if not self._tried:
            check_first_round(self.player, self.width, adversary)
            self._tried = True
        slots, order, cuts = group_rounds(keys)
        slots = slots * len(self.labels) + label
        new = int(slots.max(initial=-1)) + 1 - len(self.counts)
        self.counts = np.concatenate([self.counts, np.zeros((max(new, 0), 3), np.int64)])
        columns = empty_columns(len(y), self.width, KEEP)
        game = (player or self.player, adversary, columns)
        for first in range(0, len(slots), self._together):
            some = slice(first, first + self._together)
            self._play_some(game, slots[some], order, cuts[first : first + self._together + 1], compiled)
        if len(self.labels) > 1 and (others := np.isnan(y)).any():
            columns.kept[others] = True
            count = np.add.reduceat(others[order].astype(np.int64), cuts[:-1])
            self.counts[slots, 1] += count
            self.counts[slots, 2] -= count
        return columns

    def _play_some(self, game, slots, order, cuts, compiled):
        """Play the rounds of some games: unpack their states, play in several threads, and pack them."""
        player, adversary, columns = game
        call, many = caller(compiled), self._are_many(compiled)
        rounds = np.diff(cuts) + self.player.replayed_at_once()
        buffer, places, lengths = self._states.unpack(slots, rounds, many)
        groups = GroupedRounds(order, cuts, places, lengths, self.counts[slots], self.keyed)

        def play_part(part):
            state = self._idle.pop() if self._idle else self._new_state()
            call(play_groups, player, adversary, state, columns, groups, buffer, *part)
            self._idle.append(state)

        workers = min(self.workers or cores(), len(slots)) if compiled else 1
        if workers == 1:
            play_part((0, len(slots)))
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(play_part, evenly(cuts - cuts[0], workers)))
        self._states.pack(slots, buffer, places, groups.lengths, many)
        self.counts[slots] = groups.counts

    def set_first_states(self, rows):
        """New games begin with these states: a flat one for each label."""
        self._states.first = rows

    def priors(self):
        """For each game a state from which others can begin (`PlayerOptions.to_prior`), flattened."""
        found = []
        for name in self.names():
            state = self.player.to_stored(self.player.to_prior(self._state(name)))
            fresh, growth = flat_size(state)
            row = np.zeros(fresh + growth * int(self.counts[self._slot(name), 0]))
            found.append(row[: flatten(state, row, 0)].copy())
        return found

    def flat_state(self, label):
        """The state of the game of the only key and this label, flattened; the first one if there is none."""
        slot = label if label < len(self._states) else None
        return self._states.first_row() if slot is None else self._states.row(slot, False).copy()

    def scale(self):
        """Centers and factors of the features in the first game."""
        return self.weights_and_scale((0, 0))[1:]

    def first_rounds(self, label):
        """The rows and targets that the game of the only key and this label stores, if it is of `Steady`."""
        state = self._state((0, label))
        stored = state.first[: int(state.rounds)]
        return stored[:, :-2], stored[:, -2]

    def take(self, keys):
        """Keep the games of the keys with these indices only."""
        slots = self.slots(keys)
        self.table.take(keys)
        self._states.take(slots)
        self.counts = self.counts[slots]

    def slots(self, keys):
        """The indices of the games of these keys."""
        return (keys[:, None] * len(self.labels) + np.arange(len(self.labels))).ravel()

    def words(self, keys):
        """How many words the packed states of each of these keys take."""
        return self._states.sizes[self.slots(keys)].reshape(len(keys), -1).sum(axis=1)

    def packed(self, keys):
        """The packed states and the counts of these keys, as arrays by name."""
        words, sizes = self._states.packed(self.slots(keys), self._are_many())
        return {"words": words, "sizes": sizes, "counts": self.counts[self.slots(keys)]}

    def example(self, rows, y):
        """Arguments of `play_groups` that have the types of all calls with such rows."""
        state, nothing = self._first_state(), np.zeros(0, np.int64)
        groups = GroupedRounds(*[nothing] * 4, np.zeros((0, 3), np.int64), self.keyed)
        columns = empty_columns(0, self.width, KEEP)
        adversary, buffer = rows.replay(y, self.loss), np.zeros(0)
        return self.player, adversary, state, columns, groups, buffer, 0, 0

    def names(self):
        """All games, as pairs: index of the key, index of the label."""
        return [(key, label) for key in range(len(self.keys)) for label in range(len(self.labels))]

    def weights_and_scale(self, name):
        """The weights of the features, in the units of the data; their centers, and their factors."""
        found = self.player.current_weights(self._state(name))
        scale = (found.center, found.factors) if self.scaled else (np.zeros(self.dim), np.ones(self.dim))
        return values_of(found)[: self.dim], *scale

    def certificate(self, name, k):
        unmeasured = int(self.counts[self._slot(name), 2])
        return certificate_of_state(self._state(name), self.player, k, unmeasured)

    def parameters(self, others=None):
        """The parameters of all models by name (`docs/run-folder.md`), and of other games at the end."""
        found = zero_parameters(len(self._states) + (len(others._states) if others else 0), self.dim)
        self._collect(found)
        if others:
            others._collect(Parameters(*(array[len(self._states) :] for array in found)))
        return found._asdict()

    def _collect(self, found):
        """Write the parameters of all models into these arrays."""
        self.check()
        self._states.trim(self._are_many())
        collect, state = collect_scaled if self.scaled else collect_plain, self._new_state()
        for slots, buffer, places, lengths in self._unpacked():
            some = Parameters(*(array[slots[0] : slots[-1] + 1] for array in found))
            scratch = np.zeros(int(lengths.max()))
            games = (state, self.keyed, buffer, places)
            caller(self._are_many())(collect, self.player, *games, scratch, some)
        knee, clip = self.player.current_weights(state).view() if self.scaled else (np.inf, np.inf)
        found.knee[:], found.clip[:] = knee, clip

    def state(self):
        """The states and counts of all games, as arrays by name."""
        return self._states.state(self._are_many()) | {"counts": self.counts}

    def load(self, keys, tensors, path, layout):
        """Continue from what `state` returned, as read from this file; raises ValueError if it does not fit.

        `layout` is the digest of the states in the file. The states are checked later, at their first use.
        """
        count = len(keys) * len(self.labels)
        self._load_counts(count, tensors["counts"])
        self.indices(keys)
        self._states.load(tensors["tape"], tensors["lengths"], count)
        self._checked, self._read_from, self._layout_read = False, path, layout

    def add_packed(self, words, sizes):
        """Add games without their keys, from what `packed` returned; raises ValueError if they do not fit."""
        self._states.add_packed(words, sizes, self._are_many(len(sizes) > _MANY))

    def load_packed(self, table, order, counts, path, layout):
        """Continue with the keys of this table, which are the games that were added, in this order."""
        slots = self.slots(order)
        self._load_counts(len(slots), counts[slots])
        self.table = table
        self._states.take(slots)
        self._checked, self._read_from, self._layout_read = False, path, layout

    def _load_counts(self, count, counts):
        if counts.dtype != np.int64 or counts.shape != (count, 3):
            raise ValueError(f"{count:,} games cannot have counts {counts.dtype} of shape {counts.shape}")
        rounds, kept, unmeasured = counts.T
        if not ((kept >= 0) & (unmeasured >= 0) & (kept <= rounds - unmeasured) & (rounds < 1 << 53)).all():
            raise ValueError("the counts of the games are not counts of their rounds")
        self.counts = np.array(counts)

    def is_current(self):
        """Whether the states have the layout of this version."""
        return self._checked or self._layout_read == self.layout

    def check(self):
        """Raise RunError if a state that was read from a file is not valid."""
        if self._checked:
            return
        if self._layout_read != self.layout:
            still = "; predict, inspect and audit still read this run"
            raise of_another_layout(self._read_from, "the states", still)
        state = self._new_state()
        for slots, buffer, places, lengths in self._unpacked():
            scratch = np.zeros(int(lengths.max()))
            rows = (buffer, places, lengths, scratch)
            invalid = caller(self._are_many())(first_invalid, self.player, state, *rows)
            if invalid >= 0:
                key = list(self.keys)[slots[invalid] // len(self.labels)]
                whose = f" of the key {key[:40]!r}" if key else ""
                raise damaged(self._read_from, f"the state{whose} is not valid")
        self._checked = True

    def _unpacked(self):
        """The states of all games, some at a time: their slots, a buffer, where each begins, its length."""
        for first in range(0, len(self._states), self._together):
            slots = np.arange(first, min(first + self._together, len(self._states)))
            yield slots, *self._states.unpack(slots, 0, self._are_many())

    def _are_many(self, compiled=False):
        """Whether functions that visit each game are compiled: if there are many games, or on request."""
        return compiled or self.always_compiled or len(self._states) > _MANY

    def _slot(self, name):
        return name[0] * len(self.labels) + name[1]

    def _first_state(self):
        state = self.player.init(self.width)
        return self.player.to_lazy(state, False) if self.sparse else state

    def _new_state(self):
        return aligned_copy(self._first_state(), _LARGE)

    def _state(self, name):
        self.check()
        state, _ = restore(self._first_state(), self._states.row(self._slot(name), False), 0)
        return self.player.from_stored(state) if self.keyed else state
