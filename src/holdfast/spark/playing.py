"""Play the rows of many keys in one process: their games, and the decision for every row."""

import numpy as np
import pyarrow as pa

from holdfast.io.rows import Batch
from holdfast.io.sources import Piece, keys_of
from holdfast.runs.files import damaged
from holdfast.runs.key_table import KeyTable
from holdfast.runs.model import Model
from holdfast.runs.outcomes import margins_of
from holdfast.runs.run import Run
from holdfast.spark.orders import LastOrders, order_numbers
from holdfast.spark.pages import Page
from holdfast.spark.row_log import RowLog


class KeyedRun(Run):
    """A run without a folder, for some of the keys of a fleet."""

    def __init__(self, plan, compiled=None):
        super().__init__(None, "the rows", plan.settings, plan.layout, plan.target)
        self.plan, self.forced = plan, compiled
        self.games.workers, self.compiling.in_background = 1, False  # a task of Spark has one core
        self.log = RowLog(self.games.labels, self.log.by_target, self.log.gradients, self.log.little)
        self.orders = LastOrders(self.games.keys)
        self.labels, self.state_layout = len(self.games.labels), self.games.layout
        self.margins = len(plan.target.labels) if len(plan.target.labels) > 2 else 1  # of a row

    def load(self, page, where):
        """Go on from the states of a page; raises RunError if they do not fit."""
        try:
            load_games(self, page, where)
            self.orders.load(self.games.keys, page.counters)
        except ValueError as problem:
            raise damaged(where, problem) from None

    def page(self):
        """The states of all keys, as one page."""
        found = self.games.packed(np.arange(len(self.games.keys)))
        return Page(list(self.games.keys), **found, counters=self.orders.counters, sums=self.keys.sums)

    def play(self, table, keys, now=0):
        """Learn from the rows of a table of Arrow, sorted by order, that are not late.

        Returns the indices of these rows, which rows are late, and `Played`, or None if all are late.
        """
        numbers, played = order_numbers(table, self.plan.order), None
        good, late = self.orders.sorted_out(numbers, keys)
        if len(good) == len(table):
            played = self.learn_rows(table, keys)
        elif len(good):
            played = self.learn_rows(table.take(pa.array(good)), keys.take(pa.array(good)))
        self.orders.update(numbers, keys, good, late, now)
        return good, late, played

    def learn_rows(self, table, keys):
        """Learn from all rows of a table, in their order."""
        features, faults = self.layout.rows(batch_of(table, self.plan), 0, table.num_rows)
        y, more = self.target.read(batch_of(table, self.plan), 0, table.num_rows)
        piece = Piece(features, y, keys, np.arange(table.num_rows), more | faults, None, 0, None, {})
        self._choose(piece)
        self._play(piece, 0, len(y))
        played = self.log.take()
        return played._replace(predictions=margins_of(self.target, played.predictions))

    def predict(self, table, keys):
        """For each row and label a number, by the models as they are; NaN for a key without a model."""
        features, faults = self.layout.rows(batch_of(table, self.plan), 0, table.num_rows)
        names = tuple(self.games.keys)
        if not names:
            return np.full((table.num_rows, self.margins), np.nan)
        model = Model(self.layout, self.target, names, self.plan.key, self.games.parameters(), paired=True)
        outcomes = model.outcomes(features, self.orders.indices(keys))
        outcomes[list(faults)] = np.nan
        return outcomes

    def as_column(self, outcomes):
        """The predictions as an array of Arrow: numbers, or labels; null where there is none."""
        empty = np.isnan(outcomes).any(axis=1)
        found = Model(self.layout, self.target, (), None, {}).answers(outcomes)
        return pa.array(found, pa.float64() if self.regression else pa.string(), mask=empty)

    def _choose(self, piece):
        """Whether to compile the games: as a run does, unless the user has chosen."""
        if self.forced is None:
            self.compiling.decide(piece, self.trace.rounds, _Silent())
        else:
            self.compiling.compiled = self.forced
        self.games.always_compiled = self.compiling.compiled


def load_games(run, page, where):
    """Replace the games of a run by those of a page; raises ValueError if they do not fit."""
    table, keys = KeyTable(), np.arange(len(page.keys))
    table.indices(page.keys)
    if len(table.names) < len(keys):
        raise ValueError("a key is there twice")
    run.games.take(np.zeros(0, np.int64))
    run.games.add_packed(page.words, page.sizes)
    run.games.load_packed(table, keys, page.counts, where, run.games.layout)
    run.keys.load(page.sums, len(keys))


class _Silent:
    """Shows no progress."""

    def note(self, text):
        pass


def batch_of(table, plan):
    columns = {
        name: table.column(name).combine_chunks() for name in plan.columns() if name in table.column_names
    }
    return Batch(columns, np.arange(table.num_rows), {})


def keys_in(table, plan):
    """The key of each row as text."""
    return keys_of(table.column(plan.key), plan.key, "the rows")
