"""The log of a run that also has the prediction and the decision of every row."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.runs.audit import RoundLog, measured


class Played(NamedTuple):
    """The rows that were played, in the order of the table, and the skipped ones."""

    predictions: np.ndarray  # a column for each game
    kept: np.ndarray
    sizes: np.ndarray  # of the target for numbers; of the gradient for labels, or of the features
    thresholds: np.ndarray  # both by the first game of the row
    audit: Any  # a table: the skipped rows, as in a run


class RowLog(RoundLog):
    """The log of a run that also has the predictions and decisions of all rows since it was last taken."""

    def __init__(self, labels, by_target, gradients, little):
        super().__init__(labels, by_target, False, True, gradients, little)
        self.measure = 1 if by_target else 2 if gradients else 0
        self._rows: list = [[] for _ in labels]

    def add(self, played, rounds, rows, y, faults, missing, place, keys, *more):
        size, threshold = (each[self.measure] for each in measured(played, self.gradients))
        self._rows[place].append((played.predictions, played.kept, ~np.isnan(y), size, threshold))
        return super().add(played, rounds, rows, y, faults, missing, place, keys, *more)

    def take(self):
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
