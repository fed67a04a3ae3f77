"""A filter or a level for each key, played in one process."""

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast._compiled.compiling import WORTH_COMPILING
from holdfast.flatten import check_flat, flatten, layout_digest, restore
from holdfast.fleet.grouped_rounds import COUNTS
from holdfast.fleet.grouping import caller, group_rounds
from holdfast.fleet.key_states import Columns, KeyStates
from holdfast.fleet.states import States
from holdfast.io import cells
from holdfast.levels.baseline import Baseline
from holdfast.runs.files import damaged, reading
from holdfast.spark.orders import COUNTERS, LastOrders, order_numbers
from holdfast.spark.playing import PlayedRows
from holdfast.vectors import aligned_copy


class GatePlan(NamedTuple):
    """The columns of a gate."""

    value: str
    key: str
    order: str


class Decider(NamedTuple):
    """What decides on the values of a key.

    `first` is its first state, `answer` writes what it says of a value, as `decide` does, and `names` are
    those of the numbers that it writes.
    """

    rule: Any
    first: Any
    answer: Callable[[Any, Any, float, np.ndarray], tuple[Any, bool]]
    names: tuple[str, ...]


def decide(filter: Any, state: Any, size: float, numbers: np.ndarray) -> tuple[Any, bool]:
    """The state after a size, and whether it is kept; its threshold goes to `numbers`."""
    state, numbers[0], kept = filter.decide(state, size)
    return state, kept


def follow(baseline: Any, state: Any, value: float, numbers: np.ndarray) -> tuple[Any, bool]:
    """The state after a value, and whether it is ordinary; level, spread and its interval go to `numbers`."""
    middle, width = baseline.expected(state), state.width
    if width < math.inf:
        numbers[2], numbers[3] = middle - width, middle + width
    state, kept, _, _ = baseline.follow(state, value)
    numbers[0], numbers[1] = state.level, state.spread
    return state, kept


def decider(rule: Any) -> Decider:
    """That of a filter or of a `Baseline`."""
    if isinstance(rule, Baseline):
        return Decider(rule, aligned_copy(rule.begin()), follow, ("level", "spread", "low", "high"))
    return Decider(rule, aligned_copy(rule.init(1)), decide, ("threshold",))


class GateRun:
    """The filters or levels of some keys. It is used like `KeyedRun`."""

    labels = 1  # filters of a key
    columns: Columns = MappingProxyType({"counters": np.zeros((0, len(COUNTERS)), np.int64)})

    def __init__(self, plan: GatePlan, rule: Any, compiled: bool | None) -> None:
        self.config, self.decider, self.forced = plan, decider(rule), compiled
        self.state_layout = layout_digest(self.decider.first)
        self._state, self._rows, self.compiled = self.decider.first, 0, bool(compiled)
        self.load(KeyStates.empty(self.columns), "")

    def load(self, states: KeyStates, where: str) -> None:
        """Go on from these states; raises RunError if they do not fit."""
        self._states = States(decider(self.decider.rule).first)
        self.keys = {key: i for i, key in enumerate(states.keys)}
        self.orders, self.counts = LastOrders(self.keys), np.array(states.counts)
        with reading(where):
            self._states.add(states.states)
            self.orders.load(self.keys, states.columns["counters"])
            buffer, places, lengths = self._states.unpack(np.arange(len(states.keys)), 0)
        for first, end in zip(places, places + lengths, strict=True):
            if check_flat(self._state, buffer, first, end) != end:
                raise damaged(where, "a state of a filter is not valid")

    def stored(self) -> KeyStates:
        """The states of all keys."""
        return KeyStates(list(self.keys), self._states.rows, self.counts, {"counters": self.orders.counters})

    def play(self, table: pa.Table, keys: Any, now: int = 0) -> PlayedRows:
        """Decide on the rows of a table, sorted by order, that are not late."""
        numbers = order_numbers(table, self.config.order)
        good, late = self.orders.sorted_out(numbers, keys)
        if len(good) == 0:
            self.orders.update(numbers, keys, good, late, now)
            return good, late, None
        chosen = keys.take(good)
        for name in chosen.unique().to_pylist():
            self.keys.setdefault(name, len(self.keys))
        self._rows += len(good)
        self.compiled = self._rows >= WORTH_COMPILING if self.forced is None else self.forced
        sizes, _ = cells.numbers(table.column(self.config.value).combine_chunks())
        slots, order, cuts = group_rounds(self.orders.indices(chosen))
        new = np.zeros((len(self.keys) - len(self.counts), len(COUNTS)), np.int64)
        self.counts = np.concatenate([self.counts, new])
        buffer, places, lengths = self._states.unpack(slots, np.diff(cuts))
        rule, _, answer, names = self.decider
        kept, found = np.zeros(len(good), bool), np.full((len(good), len(names)), math.nan)
        counts = self.counts[slots]
        rounds, call = (sizes[good], order, cuts, kept, found, counts), caller(self.compiled)
        play = decide_groups if answer is decide else follow_groups
        call(play, rule, self._state, *rounds, buffer, places, lengths)
        self._states.pack(slots, buffer, places, lengths)
        self.counts[slots] = counts
        self.orders.update(numbers, keys, good, late, now)
        return good, late, (kept, found)


def decide_groups(
    filter: Any,
    state: Any,
    sizes: np.ndarray,
    order: np.ndarray,
    cuts: np.ndarray,
    kept: np.ndarray,
    numbers: np.ndarray,
    counts: np.ndarray,
    buffer: np.ndarray,
    places: np.ndarray,
    lengths: np.ndarray,
) -> int:
    """Decide on the sizes of each key in turn; restore its state from the buffer and write it back."""
    for group in range(len(places)):
        state, _ = restore(state, buffer, places[group])
        for i in range(cuts[group], cuts[group + 1]):
            t = order[i]
            size = float(sizes[t])
            counts[group, 0] += 1
            if -math.inf < size < math.inf:
                state, kept[t] = decide(filter, state, size, numbers[t])
                counts[group, 1] += 1 if kept[t] else 0
            else:
                counts[group, 2] += 1
        lengths[group] = flatten(state, buffer, places[group]) - places[group]
    return 0


def follow_groups(
    baseline: Any,
    state: Any,
    sizes: np.ndarray,
    order: np.ndarray,
    cuts: np.ndarray,
    kept: np.ndarray,
    numbers: np.ndarray,
    counts: np.ndarray,
    buffer: np.ndarray,
    places: np.ndarray,
    lengths: np.ndarray,
) -> int:
    """`decide_groups` for levels."""
    for group in range(len(places)):
        state, _ = restore(state, buffer, places[group])
        for i in range(cuts[group], cuts[group + 1]):
            t = order[i]
            size = float(sizes[t])
            counts[group, 0] += 1
            if -math.inf < size < math.inf:
                state, kept[t] = follow(baseline, state, size, numbers[t])
                counts[group, 1] += 1 if kept[t] else 0
            else:
                counts[group, 2] += 1
        lengths[group] = flatten(state, buffer, places[group]) - places[group]
    return 0
