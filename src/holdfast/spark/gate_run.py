"""A filter for each key, played in one process."""

import math

import numpy as np

from holdfast.flatten import check_flat, flatten, layout_digest, restore
from holdfast.io import cells
from holdfast.play_many import caller
from holdfast.runs.files import RunError
from holdfast.runs.flat_states import FlatStates, group_rounds
from holdfast.runs.trace import KEY_COLUMNS
from holdfast.spark.orders import LastOrders
from holdfast.spark.pages import Page
from holdfast.vectors import aligned_copy

_WORTH_COMPILING = 100_000  # rows in this process


class GateRun:
    """The filters of some keys. It is used like `KeyedRun`."""

    labels = 1  # filters of a key

    def __init__(self, plan, filter, compiled):
        self.plan, self.filter, self.forced = plan, filter, compiled
        self.state_layout = layout_digest(filter.init(1))
        self._state, self._rows = aligned_copy(filter.init(1)), 0
        self.load(Page.empty(), "")

    def load(self, page, where):
        """Go on from the states of a page; raises RunError if they do not fit."""
        self._states, self.keys = FlatStates(self.filter.init(1)), {key: i for i, key in enumerate(page.keys)}
        self.orders, self.counts = LastOrders(self.keys), np.array(page.counts)
        try:
            self._states.load(page.tape, page.lengths, len(page.keys))
            self.orders.load(self.keys, page.counters)
        except ValueError as problem:
            raise RunError(f"{where} is damaged: {problem}") from None
        for first, length in zip(self._states.starts, self._states.lengths, strict=True):
            if check_flat(self._state, self._states.buffer, first, first + length) != first + length:
                raise RunError(f"{where} is damaged: a state of a filter is not valid")

    def page(self):
        """The states of all keys, as one page."""
        states, sums = self._states.state(caller(False)), np.zeros((len(self.keys), len(KEY_COLUMNS)))
        return Page(
            list(self.keys), states["tape"], states["lengths"], self.counts, self.orders.counters, sums
        )

    def play(self, table, keys, now=0):
        """Decide on the rows of a table, sorted by order, that are not late."""
        good, late = self.orders.sorted_out(table, keys)
        if len(good) == 0:
            self.orders.update(table, keys, good, late, now)
            return good, late, None
        chosen = keys.take(good)
        for name in chosen.unique().to_pylist():
            self.keys.setdefault(name, len(self.keys))
        sizes, _ = cells.numbers(table.column(self.plan.value).combine_chunks())
        slots, order, cuts = group_rounds(self.orders.indices(chosen))
        self.counts = np.concatenate(
            [self.counts, np.zeros((len(self.keys) - len(self.counts), 3), np.int64)]
        )
        reading, writing = self._states.reserve(slots, np.diff(cuts), caller(False))
        kept, thresholds = np.zeros(len(good), bool), np.full(len(good), math.nan)
        lengths, counts = np.zeros(len(slots), np.int64), self.counts[slots]
        self._rows += len(good)
        call = caller(self._rows >= _WORTH_COMPILING if self.forced is None else self.forced)
        rounds = (sizes[good], order, cuts, kept, thresholds, counts)
        call(decide_groups, self.filter, self._state, *rounds, self._states.buffer, reading, writing, lengths)
        self._states.lengths[slots], self.counts[slots] = lengths, counts
        self.orders.update(table, keys, good, late, now)
        return good, late, (kept, thresholds)


def decide_groups(
    filter, state, sizes, order, cuts, kept, thresholds, counts, buffer, reading, writing, lengths
):
    """Decide on the sizes of each key in turn; restore its state from the buffer and write it back."""
    for group in range(len(reading)):
        state, _ = restore(state, buffer, reading[group])
        for i in range(cuts[group], cuts[group + 1]):
            t = order[i]
            size = float(sizes[t])
            counts[group, 0] += 1
            if -math.inf < size < math.inf:
                state, thresholds[t], kept[t] = filter.decide(state, size)
                counts[group, 1] += 1 if kept[t] else 0
            else:
                counts[group, 2] += 1
        lengths[group] = flatten(state, buffer, writing[group]) - writing[group]
    return 0
