"""Play the rows of many keys in one process: their games, and the decision for every row."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from holdfast.flatten import digest
from holdfast.fleet.key_table import KEY_COLUMNS, KeyTable
from holdfast.fleet.states import Columns, KeyStates
from holdfast.io.rows import Batch, unreadable
from holdfast.io.sources import Piece, keys_of
from holdfast.linear_model import empty_models
from holdfast.runs.audit import RoundLog
from holdfast.runs.config import Config
from holdfast.runs.files import damaged, reading
from holdfast.runs.folder import Folder
from holdfast.runs.model import Model, margins_of, with_wild
from holdfast.runs.predicting import inside_sets, row_notes
from holdfast.runs.run import Run
from holdfast.spark.key_widths import AskedRows, KeyWidths, with_widths, without_widths
from holdfast.spark.orders import COUNTERS, LastOrders, order_numbers

_COUNTERS = np.zeros((0, len(COUNTERS)), np.int64)
PlayedRows = tuple[np.ndarray, np.ndarray, Any]  # indices, which rows are late, what was played or None


class Played(NamedTuple):
    """The rows that were played, in the order of the table, and the skipped ones."""

    predictions: np.ndarray  # a column for each game
    kept: np.ndarray
    sizes: np.ndarray  # of the target for numbers; of the gradient for labels, or of the features
    thresholds: np.ndarray  # both by the first game of the row
    audit: Any  # a table: the skipped rows, as in a run


class RowLog(RoundLog):
    """The log of a run that also has the predictions and decisions of all rows since it was last taken."""

    def __init__(self, labels: Sequence[str], checks: Sequence[str], by_target: bool, little: bool) -> None:
        super().__init__(labels, checks, by_target, False, True, little)
        shown = "target" if by_target else "gradient" if "gradient" in checks else "features"
        self._check = checks.index(shown)
        self._rows: list[list[tuple[np.ndarray, ...]]] = [[] for _ in labels]

    def _keep(self, played: Any, y: np.ndarray, place: int) -> None:
        size, threshold = played.sizes[:, self._check], played.thresholds[:, self._check]
        self._rows[place].append((played.predictions, played.kept, ~np.isnan(y), size, threshold))

    def take(self) -> Played:
        """What was played since the last call."""
        each = [[np.concatenate(column) for column in zip(*parts, strict=True)] for parts in self._rows]
        self._rows = [[] for _ in self.labels]
        skipped = self._in_order(self._skipped) if self._skipped else self.schema("audit").empty_table()
        self.clear()
        kept = np.logical_and.reduce([columns[1] for columns in each])
        first = np.argmax([columns[2] for columns in each], axis=0)  # of the games that learn from a row
        each_row = np.arange(len(kept))
        sizes, thresholds = (np.array([columns[i] for columns in each])[first, each_row] for i in (3, 4))
        return Played(np.column_stack([columns[0] for columns in each]), kept, sizes, thresholds, skipped)


class KeyedRun(Run):
    """A run without a folder, for some of the keys of a fleet."""

    columns: Columns = MappingProxyType({"counters": _COUNTERS, "sums": np.zeros((0, len(KEY_COLUMNS)))})

    def __init__(self, plan: Config, compiled: bool | None = None) -> None:
        super().__init__(Folder("the rows"), plan)
        self.forced = compiled
        self.games.workers = 1  # a task of Spark has one core
        self.log: RowLog = RowLog(self.games.labels, self.log.checks, self.log.by_target, self.log.little)
        self.orders = LastOrders(self.games.keys)
        self.answers: AskedRows = AskedRows(len(plan.target.labels))
        self.widths = KeyWidths(len(plan.target.labels))
        self.labels = len(self.games.labels) + 1  # states of a key: those of its games, and of its widths
        self.state_layout = digest([self.games.layout, self.widths.layout])
        self.margins = len(plan.target.labels) if len(plan.target.labels) > 2 else 1  # of a row

    def load(self, states: KeyStates, where: str) -> None:
        """Go on from these states; raises RunError if they do not fit."""
        games, widths = without_widths(states, len(self.games.labels))
        with reading(where):
            load_games(self, games, where)
            self.orders.load(self.games.keys, states.columns["counters"])
        self.widths.load(widths, where)

    def stored_games(self) -> KeyStates:
        """The states of the games of all keys."""
        columns = {"counters": self.orders.counters, "sums": self.keys.sums}
        return self.games.packed(np.arange(len(self.games.keys)), columns)

    def stored(self) -> KeyStates:
        """The states of all keys, with those of their widths."""
        widths = self.widths.stored(len(self.games.keys))
        return with_widths(self.stored_games(), widths, len(self.games.labels))

    def play(self, table: pa.Table, keys: Any, now: int = 0) -> PlayedRows:
        """Learn from the rows of a table of Arrow, sorted by order, that are not late.

        Returns the indices of these rows, which rows are late, and `Played`, or None if all are late.
        """
        numbers, played = order_numbers(table, str(self.config.order)), None
        good, late = self.orders.sorted_out(numbers, keys)
        if len(good) == len(table):
            played = self.learn_rows(table, keys)
        elif len(good):
            played = self.learn_rows(table.take(pa.array(good)), keys.take(pa.array(good)))
        self.orders.update(numbers, keys, good, late, now)
        return good, late, played

    def learn_rows(self, table: pa.Table, keys: Any, asked: np.ndarray | None = None) -> Played:
        """Learn from all rows of a table, in their order.

        `asked` has their forecasts, if they were asked for before: widths follow those.
        """
        features, faults = self.layout.rows(batch_of(table, self.config), 0, table.num_rows)
        y, more = self.target.read(batch_of(table, self.config), 0, table.num_rows)
        piece = Piece(features, y, keys, np.arange(table.num_rows), more | faults, None, 0, None, {})
        self._choose(piece)
        self._play(piece, 0, len(y))
        outcomes, targets = self.answers.take()
        places = self.orders.indices(keys)
        self.widths.follow(places, outcomes if asked is None else asked, targets, self.forced)
        played = self.log.take()
        return played._replace(predictions=margins_of(self.target, played.predictions))

    def predict(self, table: pa.Table, keys: Any) -> np.ndarray:
        """For each row and label a number, by the models as they are; NaN for a key without a model."""
        return self._answers(table, keys, False)[0]

    def intervals(self, table: pa.Table, keys: Any, coverage: float) -> tuple[np.ndarray, dict[str, Any]]:
        """What `predict` returns, and columns by name: low and high around numbers, or sets of labels.

        They are null if the key has no width yet, or if the row lacks a cell.
        """
        outcomes, lacking = self._answers(table, keys, True)
        places, widths = self.orders.indices(keys), np.append(self.widths.at(coverage), np.nan)
        width = np.where(np.isfinite(widths[places]) & ~lacking, widths[places], np.nan)
        if self.regression:
            with np.errstate(all="ignore"):
                ends = {"low": outcomes[:, 0] - width, "high": outcomes[:, 0] + width}
            return outcomes, {name: pa.array(end, from_pandas=True) for name, end in ends.items()}
        inside, empty = inside_sets(outcomes, width)
        labels = np.array(self.target.labels, object)
        sets = [None if gone else labels[row] for row, gone in zip(inside, empty, strict=True)]
        return outcomes, {"labels": pa.array(sets, pa.list_(pa.string()))}

    def _answers(self, table: pa.Table, keys: Any, noted: bool) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of `predict`, and, if `noted`, which rows lack a cell."""
        features, faults = self.layout.rows(batch_of(table, self.config), 0, table.num_rows, forgiving=True)
        names = tuple(self.games.keys)
        if not names:
            return np.full((table.num_rows, self.margins), np.nan), np.ones(table.num_rows, bool)
        games, thresholds = len(self.games.labels), self.keys.thresholds()
        p = with_wild(self.games.parameters(), thresholds, self.measure, games)
        model, places = Model(self.layout, self.target, names, self.config.key, p), self.orders.indices(keys)
        outcomes = model.outcomes(features, places)
        outcomes[unreadable(faults)] = np.nan
        return outcomes, row_notes(model, features, places, faults)[1] if noted else np.zeros(0, bool)

    def as_column(self, outcomes: np.ndarray) -> Any:
        """The predictions as an array of Arrow: numbers, or labels; null where there is none."""
        empty = np.isnan(outcomes).any(axis=1)
        found = Model(self.layout, self.target, (), None, empty_models(0, 0)).answers(outcomes)
        return pa.array(found, pa.float64() if self.regression else pa.string(), mask=empty)

    def _choose(self, piece: Piece) -> None:
        """Whether to compile the games: as a run does, unless the user has chosen."""
        if self.forced is None:
            self.compiling.decide(piece, self.trace.rounds, lambda text: None)
        else:
            self.compiling.compiled = self.forced
        self.games.always_compiled = self.compiling.compiled


def load_games(run: Run, states: KeyStates, where: str | Path) -> None:
    """Replace the games of a run by these; raises ValueError if they do not fit."""
    states.check(len(run.games.labels), KeyedRun.columns)
    table, keys = KeyTable(), np.arange(len(states.keys))
    table.indices(states.keys)
    run.games.take(np.zeros(0, np.int64))
    run.games.add(states)
    run.games.load_keys(table, keys, lambda why: damaged(where, why))
    run.keys.load(states.columns["sums"], len(keys))


def batch_of(table: pa.Table, plan: Config) -> Batch:
    columns = {
        name: table.column(name).combine_chunks() for name in plan.columns() if name in table.column_names
    }
    return Batch(columns, np.arange(table.num_rows), {})


class HasKey(Protocol):
    """What has a column of keys: the plan of a fleet, or of a gate."""

    @property
    def key(self) -> str | None: ...


def keys_in(table: pa.Table, plan: HasKey) -> Any:
    """The key of each row as text."""
    return keys_of(table.column(plan.key), str(plan.key), "the rows")
