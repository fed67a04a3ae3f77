"""Play the rows of many keys in one process: their games, their last rows, and the decision for every row."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io.rows import Batch
from holdfast.io.sources import Piece, keys_of
from holdfast.play_many import caller
from holdfast.runs.audit import RoundLog, sizes_of, thresholds_of
from holdfast.runs.games import Games
from holdfast.runs.run import Run

ORDER = "_holdfast_order"  # the order as a whole number
LATE, NO_ORDER = "late", "no order"
FIRST = np.iinfo(np.int64).min  # before any order
COUNTERS = ("order", "seen", "late")  # of each key: its last order, when it was last updated (ms), and dropped rows
_ROWS = 1 << 16


class KeyedGames(Games):
    """Games whose states are checked and collected by compiled code if the rounds are."""

    compiled = False

    def _caller(self):
        return caller(self.compiled) if self.compiled else super()._caller()


class Silent:
    """Shows no progress."""

    def note(self, text):
        pass


class Played(NamedTuple):
    """The rows that were played, in the order of the table, and the skipped ones."""

    predictions: np.ndarray  # a column for each label
    kept: np.ndarray
    sizes: np.ndarray  # of the target for numbers, of the gradient for labels
    thresholds: np.ndarray
    audit: Any  # a table: the skipped rows, as in a run


class RowLog:
    """Takes the place of the log of a run: the predictions and decisions of the last rows."""

    def __init__(self, labels, by_target):
        self.audit = RoundLog(labels, by_target, False, True)
        self.labels, self.measure = len(labels), 1 if by_target else 2
        self._parts: list = [[] for _ in range(self.labels)]

    def add(self, columns, rounds, rows, y, faults, missing, label, keys):
        found = columns.predictions, columns.kept, sizes_of(columns), thresholds_of(columns)
        self._parts[label].append((*found[:2], found[2][self.measure], found[3][self.measure]))
        self.audit.add(columns, rounds, rows, y, faults, missing, label, keys)

    def take(self):
        """What was played since the last call."""
        each = [[np.concatenate(column) for column in zip(*parts, strict=True)] for parts in self._parts]
        self._parts = [[] for _ in range(self.labels)]
        skipped, _ = self.audit.tables()
        self.audit.clear()
        kept = np.logical_and.reduce([columns[1] for columns in each])
        skipped = self.audit.schema("audit").empty_table() if skipped is None else skipped
        return Played(np.column_stack([columns[0] for columns in each]), kept, *each[0][2:], skipped)


class KeyedRun(Run):
    """A run without a folder, for some of the keys. It also remembers the last order of each key."""

    def __init__(self, plan, compiled=None):
        super().__init__(None, "the rows", plan.settings, plan.layout, plan.target)
        self.plan, self.forced = plan, compiled
        labels = self.games.labels
        self.games = KeyedGames(self.player, plan.layout.feature_count(), self.loss, labels, plan.layout.is_sparse())
        self.log = RowLog(labels, self.regression and plan.settings.scale)
        self.counters = np.zeros((0, len(COUNTERS)), np.int64)

    def load(self, keys, tensors, counters, sums, layout, where):
        """Begin with these states."""
        self.games.load(keys, tensors, where, layout)
        self.keys.load(sums, len(keys))
        self.counters = counters

    def choose(self, rows, keys):
        """Whether to compile the games, by the number of rows that are known to come."""
        self.expected = max(self.expected, rows)
        if self.forced is not None:
            self.compiled = self.forced
        elif len(keys):
            nothing = np.zeros((1, self.layout.feature_count()))
            first = Piece(_dense(self, nothing), np.zeros(1), keys, np.zeros(1, int), {}, None, 0, None)
            self.choose_compiled(first, Silent())
        self.games.compiled = self.compiled

    def play(self, table, now=0):
        """Learn from the rows of a table of Arrow, sorted by order; return which were not late, and `Played`."""
        order = table.column(ORDER).combine_chunks()
        keys = keys_of(table.column(self.plan.key), self.plan.key, "the rows")
        missing = order.is_null().to_numpy(zero_copy_only=False)
        numbers = order.fill_null(FIRST).to_numpy()
        late = self._late(keys, numbers, missing)
        good = np.flatnonzero(~(late | missing))
        if len(good) == 0:
            return good, late, None
        rows = table if len(good) == len(table) else table.take(pa.array(good))
        chosen = keys if rows is table else keys.take(pa.array(good))
        self.choose(len(good), chosen)
        self.learn(self._piece(rows, chosen), lambda: False)
        self._remember(keys, numbers, late, good, now)
        return good, late, self.log.take()

    def _late(self, keys, numbers, missing):
        """Which rows are not after all earlier rows of their key. Rows without an order are not looked at."""
        coded = pc.dictionary_encode(keys)
        codes, names = coded.indices.to_numpy(), coded.dictionary.to_pylist()
        known = np.array([self.games.keys.get(name, -1) for name in names], np.int64)
        last = np.where(known >= 0, self.counters[known, 0] if len(self.counters) else FIRST, FIRST)
        by_key = np.lexsort((numbers, codes))
        by_key = by_key[~missing[by_key]]
        sorted_codes, sorted_numbers = codes[by_key], numbers[by_key]
        late = np.zeros(len(codes), bool)
        again = (sorted_codes[1:] == sorted_codes[:-1]) & (sorted_numbers[1:] == sorted_numbers[:-1])
        late[by_key[1:]] = again
        late[by_key] |= sorted_numbers <= last[sorted_codes]
        return late

    def _remember(self, keys, numbers, late, good, now):
        """Update the last order of each key, and count the late rows."""
        new = len(self.games.keys) - len(self.counters)
        self.counters = np.concatenate([self.counters, np.tile(np.array([[FIRST, 0, 0]]), (new, 1))])
        coded = pc.dictionary_encode(keys)
        places = np.array([self.games.keys.get(name, -1) for name in coded.dictionary.to_pylist()], np.int64)
        places = places[coded.indices.to_numpy()]
        np.maximum.at(self.counters[:, 0], places[good], numbers[good])
        self.counters[places[good], 1] = now
        np.add.at(self.counters[:, 2], places[late], 1)

    def _piece(self, table, keys):
        columns = {name: table.column(name).combine_chunks() for name in self.plan.columns()}
        batch = Batch(columns, np.arange(table.num_rows), {})
        features, faults = self.layout.rows(batch, 0, table.num_rows)
        y, more = self.target.read(batch, 0, table.num_rows)
        return Piece(features, y, keys, batch.rows, more | faults, None, 0, None)

    def answers(self, outcomes):
        """The predictions as an array of Arrow: numbers, or labels; null where there is none."""
        empty = np.isnan(outcomes).any(axis=1)
        if self.regression:
            return pa.array(outcomes[:, 0], pa.float64(), mask=empty)
        codes = (outcomes[:, 0] > 0.0).astype(int) if len(self.target.labels) == 2 else outcomes.argmax(axis=1)
        return pa.array(np.array(self.target.labels, object)[codes], pa.string(), mask=empty)


def _dense(run, X):
    from holdfast.io.rows import DenseRows, SparseRows

    if not run.layout.is_sparse():
        return DenseRows(X)
    return SparseRows(np.zeros(0), np.zeros(0, np.int64), np.zeros(2, np.int64), run.layout.feature_count())


def tables(batches, rows):
    """Record batches joined into tables of about so many rows."""
    waiting, count = [], 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
    if count:
        yield pa.Table.from_batches(waiting)
