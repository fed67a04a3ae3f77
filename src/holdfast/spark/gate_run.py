"""A filter for each key, played in one process."""

import math

import numpy as np

from holdfast.compiling import WORTH_COMPILING
from holdfast.flatten import check_flat, flatten, layout_digest, restore
from holdfast.io import cells
from holdfast.play_many import caller
from holdfast.runs.files import damaged
from holdfast.runs.flat_states import group_rounds
from holdfast.runs.packed_states import PackedStates
from holdfast.runs.trace import KEY_COLUMNS
from holdfast.spark.orders import LastOrders, order_numbers
from holdfast.spark.pages import Page
from holdfast.vectors import aligned_copy


class GateRun:
    """The filters of some keys. It is used like `KeyedRun`."""

    labels = 1  # filters of a key

    def __init__(self, plan, filter, compiled):
        self.plan, self.filter, self.forced = plan, filter, compiled
        self.state_layout = layout_digest(filter.init(1))
        self._state, self._rows, self.compiled = aligned_copy(filter.init(1)), 0, bool(compiled)
        self.load(Page.empty(), "")

    def load(self, page, where):
        """Go on from the states of a page; raises RunError if they do not fit."""
        self._states, self.keys = (
            PackedStates(self.filter.init(1)),
            {key: i for i, key in enumerate(page.keys)},
        )
        self.orders, self.counts = LastOrders(self.keys), np.array(page.counts)
        try:
            self._states.add_packed(page.words, page.sizes, self.compiled)
            self.orders.load(self.keys, page.counters)
        except ValueError as problem:
            raise damaged(where, problem) from None
        buffer, places, lengths = self._states.unpack(np.arange(len(page.keys)), 0, self.compiled)
        for first, end in zip(places, places + lengths, strict=True):
            if check_flat(self._state, buffer, first, end) != end:
                raise damaged(where, "a state of a filter is not valid")

    def page(self):
        """The states of all keys, as one page."""
        states = self._states.packed(np.arange(len(self.keys)), self.compiled)
        sums = np.zeros((len(self.keys), len(KEY_COLUMNS)))
        return Page(list(self.keys), *states, self.counts, self.orders.counters, sums)

    def play(self, table, keys, now=0):
        """Decide on the rows of a table, sorted by order, that are not late."""
        numbers = order_numbers(table, self.plan.order)
        good, late = self.orders.sorted_out(numbers, keys)
        if len(good) == 0:
            self.orders.update(numbers, keys, good, late, now)
            return good, late, None
        chosen = keys.take(good)
        for name in chosen.unique().to_pylist():
            self.keys.setdefault(name, len(self.keys))
        self._rows += len(good)
        self.compiled = self._rows >= WORTH_COMPILING if self.forced is None else self.forced
        sizes, _ = cells.numbers(table.column(self.plan.value).combine_chunks())
        slots, order, cuts = group_rounds(self.orders.indices(chosen))
        self.counts = np.concatenate(
            [self.counts, np.zeros((len(self.keys) - len(self.counts), 3), np.int64)]
        )
        buffer, places, lengths = self._states.unpack(slots, np.diff(cuts), self.compiled)
        kept, thresholds = np.zeros(len(good), bool), np.full(len(good), math.nan)
        counts = self.counts[slots]
        rounds, call = (sizes[good], order, cuts, kept, thresholds, counts), caller(self.compiled)
        call(decide_groups, self.filter, self._state, *rounds, buffer, places, lengths)
        self._states.pack(slots, buffer, places, lengths, self.compiled)
        self.counts[slots] = counts
        self.orders.update(numbers, keys, good, late, now)
        return good, late, (kept, thresholds)


def decide_groups(filter, state, sizes, order, cuts, kept, thresholds, counts, buffer, places, lengths):
    """Decide on the sizes of each key in turn; restore its state from the buffer and write it back."""
    for group in range(len(places)):
        state, _ = restore(state, buffer, places[group])
        for i in range(cuts[group], cuts[group + 1]):
            t = order[i]
            size = float(sizes[t])
            counts[group, 0] += 1
            if -math.inf < size < math.inf:
                state, thresholds[t], kept[t] = filter.decide(state, size)
                counts[group, 1] += 1 if kept[t] else 0
            else:
                counts[group, 2] += 1
        lengths[group] = flatten(state, buffer, places[group]) - places[group]
    return 0
