"""A filter or a level for each key, played in one process."""

import math
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast._compiled.compiling import WORTH_COMPILING
from holdfast.flatten import check_flat, flatten, layout_digest, restore
from holdfast.fleet.grouped_rounds import COUNTS, caller, group_rounds
from holdfast.fleet.states import Columns, KeyStates, States
from holdfast.io import cells
from holdfast.levels.baseline import Baseline
from holdfast.protocols import Filter
from holdfast.rule import rule
from holdfast.runs.files import damaged, reading
from holdfast.spark.orders import COUNTERS, LastOrders, order_numbers
from holdfast.spark.playing import PlayedRows
from holdfast.vectors import aligned_copy


class GatePlan(NamedTuple):
    """The columns of a gate."""

    value: str
    key: str
    order: str


@rule
class ByFilter:
    """A filter decides on the values of a key; its threshold goes to `numbers`."""

    filter: Filter

    def begin(self) -> Any:
        """The state before the first value."""
        return self.filter.init(1)

    def answer(self, state: Any, value: float, numbers: np.ndarray) -> tuple[Any, bool]:
        """The state after a value, and whether it is kept."""
        state, numbers[0], kept = self.filter.decide(state, value)
        return state, kept

    def without_value(self, state: Any) -> Any:
        """The state after a row that has no number."""
        return state


@rule
class ByLevel:
    """A level decides on the values of a key; it, its spread and the interval go to `numbers`."""

    baseline: Any

    def begin(self) -> Any:
        """The state before the first value."""
        return self.baseline.begin()

    def answer(self, state: Any, value: float, numbers: np.ndarray) -> tuple[Any, bool]:
        """The state after a value, and whether it is ordinary."""
        middle, width = self.baseline.expected(state), state.width
        if width < math.inf:
            numbers[2], numbers[3] = middle - width, middle + width
        state, kept, _, _ = self.baseline.follow(state, value)
        numbers[0], numbers[1] = state.level, state.spread
        return state, kept

    def without_value(self, state: Any) -> Any:
        """The state after a row that has no number: it has a place in the season."""
        return self.baseline.without_value(state)


def names_of_numbers(part: Any) -> tuple[str, ...]:
    """The names of what a filter, or a `Baseline`, says of a value."""
    return ("level", "spread", "low", "high") if isinstance(part, Baseline) else ("threshold",)


class GateRun:
    """The filters or levels of some keys. It is used like `KeyedRun`."""

    labels = 1  # filters of a key
    columns: Columns = MappingProxyType({"counters": np.zeros((0, len(COUNTERS)), np.int64)})

    def __init__(self, plan: GatePlan, part: Any, compiled: bool | None) -> None:
        self._decides = ByLevel(part) if isinstance(part, Baseline) else ByFilter(part)
        self.names = names_of_numbers(part)
        self.config, self.forced, self._state = plan, compiled, aligned_copy(self._decides.begin())
        self.state_layout = layout_digest(self._state)
        self._rows, self.compiled = 0, bool(compiled)
        self.load(KeyStates.empty(self.columns), "")

    def load(self, states: KeyStates, where: str) -> None:
        """Go on from these states; raises RunError if they do not fit."""
        self._states = States(aligned_copy(self._decides.begin()))
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
        kept, found = np.zeros(len(good), bool), np.full((len(good), len(self.names)), math.nan)
        counts = self.counts[slots]
        rounds, call = (sizes[good], order, cuts, kept, found, counts), caller(self.compiled)
        call(decide_groups, self._decides, self._state, *rounds, buffer, places, lengths)
        self._states.pack(slots, buffer, places, lengths)
        self.counts[slots] = counts
        self.orders.update(numbers, keys, good, late, now)
        return good, late, (kept, found)


def decide_groups(
    decides: Any,
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
                state, kept[t] = decides.answer(state, size, numbers[t])
                counts[group, 1] += 1 if kept[t] else 0
            else:
                state = decides.without_value(state)
                counts[group, 2] += 1
        lengths[group] = flatten(state, buffer, places[group]) - places[group]
    return 0
