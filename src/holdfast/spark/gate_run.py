"""A filter or a level for each key, played in one process."""

import math
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast._compiled.compiling import WORTH_COMPILING
from holdfast.flatten import layout_digest
from holdfast.fleet.grouped_rounds import COUNTS, answer_groups, caller, first_unlike, group_rounds
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
    """A filter decides on the values of a key: `columns` are the values, decisions and thresholds."""

    filter: Filter

    def begin(self) -> Any:
        """The state before the first value."""
        return self.filter.init(1)

    def answer(self, state: Any, t: int, columns: Any) -> Any:
        """The state after row t. One that has no number changes nothing."""
        values, kept, numbers = columns
        if -math.inf < values[t] < math.inf:
            state, numbers[t, 0], kept[t] = self.filter.decide(state, float(values[t]))
        return state

    def ended(self, state: Any) -> Any:
        """The state that is stored."""
        return state


@rule
class ByLevel:
    """A level decides on the values of a key; it, its spread and the interval go to the last column."""

    baseline: Any

    def begin(self) -> Any:
        """The state before the first value."""
        return self.baseline.begin()

    def answer(self, state: Any, t: int, columns: Any) -> Any:
        """The state after row t. One that has no number has a place in the season."""
        values, kept, numbers = columns
        if not -math.inf < values[t] < math.inf:
            return self.baseline.without_value(state)
        middle, width = self.baseline.expected(state), state.width
        if width < math.inf:
            numbers[t, 2], numbers[t, 3] = middle - width, middle + width
        state, kept[t], _, _ = self.baseline.follow(state, float(values[t]))
        numbers[t, 0], numbers[t, 1] = state.level, state.spread
        return state

    def ended(self, state: Any) -> Any:
        """The state that is stored."""
        return state


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
        if first_unlike(self._state, buffer, places, lengths) >= 0:
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
        values, _ = cells.numbers(table.column(self.config.value).combine_chunks())
        values = values[good]
        slots, order, cuts = group_rounds(self.orders.indices(chosen))
        buffer, places, lengths = self._states.unpack(slots, np.diff(cuts))
        kept, found = np.zeros(len(good), bool), np.full((len(good), len(self.names)), math.nan)
        rows = (values, kept, found), order, cuts
        caller(self.compiled)(answer_groups, self._decides, self._state, *rows, buffer, places, lengths)
        self._states.pack(slots, buffer, places, lengths)
        decided = np.column_stack([np.ones(len(good)), kept, ~np.isfinite(values)]).astype(np.int64)
        new = np.zeros((len(self.keys) - len(self.counts), len(COUNTS)), np.int64)
        self.counts = np.concatenate([self.counts, new])
        self.counts[slots] += np.add.reduceat(decided[order], cuts[:-1])
        self.orders.update(numbers, keys, good, late, now)
        return good, late, (kept, found)
