"""The games of a fleet: one for each key and label, all with the same player."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from holdfast.certificates.certificate import certificate_of_state
from holdfast.dry_run import check_first_round
from holdfast.flatten import digest, flat_size, flatten, layout, layout_digest, restore
from holdfast.fleet.grouped_rounds import (
    COUNTS,
    KEEP,
    GroupedRounds,
    caller,
    collect_models,
    cores,
    evenly,
    example,
    first_invalid,
    group_rounds,
    play_groups,
)
from holdfast.fleet.key_table import KeyTable
from holdfast.fleet.states import KeyStates, States
from holdfast.linear_model import LinearModels, empty_models, write_view
from holdfast.play import empty_columns
from holdfast.steady.state import ROUNDS
from holdfast.terminal import Refusal
from holdfast.vectors import ScaledWeights, aligned_copy, values_of

_MANY = 1_000  # games; with more, functions that visit each game are compiled
_TOGETHER = 1 << 23  # numbers that are unpacked at once: 64 MB
_LARGE = 65_536  # bytes; an array of this size begins at a cache line
TENSORS = {"tape": (), "lengths": (), "counts": COUNTS}  # columns by name
Refuse = Callable[[str], Exception]  # the error for a state from a file that is not valid


class Rows(Protocol):
    """The rows of some rounds."""

    def __len__(self) -> int: ...

    def take(self, rows: np.ndarray) -> "Rows": ...

    def replay(self, y: np.ndarray, loss: Any) -> Any:
        """The adversary that reveals them."""


class Games:
    """The games, by key and label. Between batches, their states are in one array; with keys they are packed.

    A batch is played game after game, in the arrays of a single state.
    """

    workers: int | None = None  # threads that play compiled games; by default one for each core
    always_compiled = False  # functions that visit each game, also with few games

    def __init__(
        self,
        player: Any,
        dim: int,
        loss: Any,
        labels: Sequence[str],
        sparse: bool = False,
        keyed: bool = False,
    ) -> None:
        self.player, self.dim, self.loss, self.labels, self.sparse = player, dim, loss, labels, sparse
        self.scaled = isinstance(player.current_weights(player.init(2)), ScaledWeights)
        self.width = dim + (0 if self.scaled else 1)  # of a row, with the constant if the learner adds none
        state, self.keyed = self._first_state(), keyed
        # Several games are told apart by their names, so these belong to the layout.
        self.layout = layout_digest(state) if len(labels) == 1 else digest([layout(state), list(labels)])
        self._states = States(state, len(labels), packed=keyed)
        self._together = max(_TOGETHER // self._states.fresh, 1)  # games that are unpacked at once
        self._refuse: Refuse | None = None  # if states from a file are still to be checked
        self._tried = False  # whether the player and the loss were tried in Python
        self._idle: list[Any] = []  # states to play in
        self.counts = np.zeros((0, len(COUNTS)), np.int64)
        self.table = KeyTable()

    @property
    def keys(self) -> dict[str, int]:
        """The index of each key, in order of appearance."""
        return self.table.names

    def indices(self, names: Iterable[str]) -> np.ndarray:
        """The index of each of these keys; new keys are added at the end."""
        return self.table.indices(names)

    # -- rounds

    def play(
        self, keys: np.ndarray, label: int, rows: Rows, y: np.ndarray, compiled: bool, player: Any = None
    ) -> Any:
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
        self.counts = np.concatenate([self.counts, np.zeros((max(new, 0), len(COUNTS)), np.int64)])
        columns = empty_columns(len(y), self.width, len(self.player.check_names()), KEEP)
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

    def _play_some(
        self,
        game: tuple[Any, Any, Any],
        slots: np.ndarray,
        order: np.ndarray,
        cuts: np.ndarray,
        compiled: bool,
    ) -> None:
        """Play the rounds of some games: unpack their states, play in several threads, and pack them."""
        player, adversary, columns = game
        call = caller(compiled)
        rounds = np.diff(cuts) + self.player.replayed_at_once()
        buffer, places, lengths = self._states.unpack(slots, rounds)
        groups = GroupedRounds(order, cuts, places, lengths, self.counts[slots], self.keyed)

        def play_part(part: tuple[int, int]) -> None:
            state = self._idle.pop() if self._idle else self._new_state()
            call(play_groups, player, adversary, state, columns, groups, buffer, *part)
            self._idle.append(state)

        workers = min(self.workers or cores(), len(slots)) if compiled else 1
        if workers == 1:
            play_part((0, len(slots)))
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(play_part, evenly(cuts - cuts[0], workers)))
        self._states.pack(slots, buffer, places, groups.lengths)
        self.counts[slots] = groups.counts

    def example(self, rows: Rows, y: np.ndarray) -> tuple[Any, ...]:
        """Arguments of `play_groups` that have the types of all calls with such rows."""
        return example(self.player, self._first_state(), rows.replay(y, self.loss), self.keyed)

    def begin(self) -> None:
        """Let the games of all keys begin, also of those that have not played."""
        new = len(self.keys) * len(self.labels) - len(self._states)
        self._states.begin(new)
        self.counts = np.concatenate([self.counts, np.zeros((new, len(COUNTS)), np.int64)])

    # -- what the games have learned

    def names(self) -> list[tuple[int, int]]:
        """All games, as pairs: index of the key, index of the label."""
        return [(key, label) for key in range(len(self.keys)) for label in range(len(self.labels))]

    def weights(self, name: tuple[int, int]) -> np.ndarray:
        """The weights of the features, in the units of the data."""
        return values_of(self.player.current_weights(self._state(name)))[: self.dim]

    def first_rounds(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows and targets that the game of the only key and this label stores, if it is of `Steady`."""
        state = self._state((0, label))
        stored = state.first[: int(state.numbers[ROUNDS])]
        return stored[:, :-2], stored[:, -2]

    def certificate(self, name: tuple[int, int], k: int) -> Any:
        unmeasured = int(self.counts[self._slot(name), 2])
        return certificate_of_state(self._state(name), self.player, k, unmeasured)

    def parameters(self, others: "Games | None" = None) -> LinearModels:
        """All models (`docs/run-folder.md`), and those of other games at the end."""
        found = empty_models(len(self._states) + (len(others._states) if others else 0), self.dim)
        self._collect(found)
        if others:
            others._collect(found.part(slice(len(self._states), None)))
        return found

    def _collect(self, found: LinearModels) -> None:
        self.check()
        state = self._new_state()
        for slots, buffer, places, lengths in self._unpacked():
            some = found.part(slice(slots[0], slots[-1] + 1))
            scratch = np.zeros(int(lengths.max()))
            games = (state, self.keyed, buffer, places)
            caller(self._are_many())(collect_models, self.player, *games, scratch, some)
        write_view(found, self.player.current_weights(state))

    # -- states from which new games begin

    def set_first_states(self, rows: list[np.ndarray]) -> None:
        """New games begin with these states: a flat one for each label."""
        self._states.first = rows

    def priors(self) -> list[np.ndarray]:
        """For each game a state from which others can begin (`PlayerOptions.to_prior`), flattened."""
        found = []
        for name in self.names():
            state = self.player.to_stored(self.player.to_prior(self._state(name)))
            fresh, growth = flat_size(state)
            row = np.zeros(fresh + growth * int(self.counts[self._slot(name), 0]))
            found.append(row[: flatten(state, row, 0)].copy())
        return found

    # -- states as arrays

    def take(self, keys: np.ndarray) -> None:
        """Keep the games of the keys with these indices only."""
        slots = self.slots(keys)
        self.table.take(keys)
        self._states.take(slots)
        self.counts = self.counts[slots]

    def slots(self, keys: np.ndarray) -> np.ndarray:
        """The indices of the games of these keys."""
        return (keys[:, None] * len(self.labels) + np.arange(len(self.labels))).ravel()

    def bytes(self) -> np.ndarray:
        """How many bytes the packed states of each key take."""
        sizes = np.fromiter(map(len, self._states.rows), np.int64, len(self._states))
        return sizes.reshape(-1, len(self.labels)).sum(axis=1)

    def packed(self, keys: np.ndarray, columns: dict[str, np.ndarray]) -> KeyStates:
        """The packed states of these keys, given by index, with more columns that have a row for each."""
        slots, names, rows = self.slots(keys), list(self.keys), self._states.rows
        states = [rows[slot] for slot in slots]
        return KeyStates([names[i] for i in keys], states, self.counts[slots], columns)

    def add(self, states: KeyStates) -> None:
        """Add games, but not their keys."""
        self._states.add(states.states)
        self.counts = np.concatenate([self.counts, states.counts])

    def adopt(self, others: "Games", keys: Sequence[str]) -> None:
        """Take the states of these keys from other games."""
        self.begin()
        mine, theirs = self.indices(keys), others.indices(keys)
        slots, places = self.slots(mine), others.slots(theirs)
        self._states.put(slots, others._states, places)
        self.counts[slots] = others.counts[places]
        self.table.change(mine)

    def load_keys(self, table: KeyTable, order: np.ndarray, refuse: Refuse) -> None:
        """Continue with the keys of this table, which are the games that were added, in this order.

        The states are checked at their first use; `refuse` makes the error.
        """
        slots = self.slots(order)
        self.counts = _checked_counts(len(slots), self.counts[slots])
        self.table, self._refuse = table, refuse
        self._states.take(slots)

    def state(self) -> dict[str, np.ndarray]:
        """The states and counts of all games without keys, as arrays by name."""
        return self._states.state() | {"counts": self.counts}

    def load(self, keys: Sequence[str], tensors: dict[str, np.ndarray], refuse: Refuse) -> None:
        """Continue from what `state` returned; raises ValueError if it does not fit. `refuse`: see above."""
        count = len(keys) * len(self.labels)
        self.counts = _checked_counts(count, tensors["counts"])
        self.indices(keys)
        self._states.load(tensors["tape"], tensors["lengths"], count)
        self._refuse = refuse

    def check(self) -> None:
        """Raise if a state that was read from a file is not valid."""
        if self._refuse is None:
            return
        try:
            self._check_states(self._refuse)
        except ValueError as problem:
            raise problem if isinstance(problem, Refusal) else self._refuse(str(problem)) from None
        self._refuse = None

    def _check_states(self, refuse: Refuse) -> None:
        state = self._new_state()
        for slots, buffer, places, lengths in self._unpacked():
            scratch = np.zeros(int(lengths.max()))
            rows = (buffer, places, lengths, scratch)
            invalid = caller(self._are_many())(first_invalid, self.player, state, *rows)
            if invalid >= 0:
                key = list(self.keys)[slots[invalid] // len(self.labels)]
                whose = f" of the key {key[:40]!r}" if key else ""
                raise refuse(f"the state{whose} is not valid")

    def _unpacked(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """The states of all games, some at a time: their slots, a buffer, where each begins, its length."""
        for first in range(0, len(self._states), self._together):
            slots = np.arange(first, min(first + self._together, len(self._states)))
            yield slots, *self._states.unpack(slots, 0)

    def _are_many(self) -> bool:
        """Whether functions that visit each game are compiled: if there are many games, or on request."""
        return self.always_compiled or len(self._states) > _MANY

    def _slot(self, name: tuple[int, int]) -> int:
        return name[0] * len(self.labels) + name[1]

    def _first_state(self) -> Any:
        state = self.player.init(self.width)
        return self.player.to_lazy(state, False) if self.sparse else state

    def _new_state(self) -> Any:
        return aligned_copy(self._first_state(), _LARGE)

    def _state(self, name: tuple[int, int]) -> Any:
        self.check()
        state, _ = restore(self._first_state(), self._states.row(self._slot(name)), 0)
        return self.player.from_stored(state) if self.keyed else state


def _checked_counts(count: int, counts: np.ndarray) -> np.ndarray:
    """A copy of the counts of so many games; raises ValueError if they are not valid."""
    if counts.dtype != np.int64 or counts.shape != (count, len(COUNTS)):
        raise ValueError(f"{count:,} games cannot have counts {counts.dtype} of shape {counts.shape}")
    rounds, kept, unmeasured = counts.T
    if not ((kept >= 0) & (unmeasured >= 0) & (kept <= rounds - unmeasured) & (rounds < 1 << 53)).all():
        raise ValueError("the counts of the games are not counts of their rounds")
    return np.array(counts)
