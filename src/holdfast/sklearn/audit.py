"""Which rounds were skipped, and why."""

import numpy as np

REASONS = ("features", "target", "gradient", "not finite")
_PARTS = 64  # tables of single batches, before they become one


class Audit:
    """The first `size` skipped rounds as a table, and counts of all rounds."""

    def __init__(self, size):
        self.size, self.kept = size, 0
        self.counts = dict.fromkeys(REASONS, 0)
        self._parts = [_table([], [], [], [[]] * 6, [])]
        self._length = 0

    def add(self, record, label, rows):
        """Look through the rounds of a record, made of these rows of the data, in the game of this label."""
        skipped = np.flatnonzero(~record.kept)
        self.kept += len(record.kept) - len(skipped)
        if len(skipped) == 0:
            return
        columns = (
            *(record.feature_sizes, record.feature_thresholds),
            *(record.target_sizes, record.target_thresholds),
            *(record.sizes, record.thresholds),
        )
        columns = [column[skipped] for column in columns]
        by = _reasons(*columns)
        for reason in REASONS:
            self.counts[reason] += int((by == reason).sum())
        room = min(self.size - self._length, len(skipped))
        if room > 0:
            rounds = record.rounds - len(record.kept) + skipped[:room]
            labels = np.full(room, label)
            columns = [column[:room] for column in columns]
            self._parts.append(_table(rounds, rows[skipped[:room]], labels, columns, by[:room]))
            self._length += room
            if len(self._parts) > _PARTS:
                self._parts = [self.table()]

    def table(self):
        """The columns by name."""
        filled = [part for part in self._parts if len(part["round"])] or self._parts
        return {name: np.concatenate([part[name] for part in filled]) for name in filled[0]}


def _table(rounds, rows, labels, columns, by):
    names = [f"{what}_{number}" for what in REASONS[:3] for number in ("size", "threshold")]
    numbers = {name: np.asarray(column, float) for name, column in zip(names, columns, strict=True)}
    places = {"round": np.asarray(rounds, int), "row": np.asarray(rows, int), "label": np.asarray(labels)}
    return places | numbers | {"by": np.asarray(by, "<U10")}


def _reasons(features, most_features, target, most_target, gradient, most_gradient):
    """The first filter that would not have the round. None was asked where a size was not finite."""
    by = np.full(len(features), "gradient", "<U10")
    by[~(target <= most_target)] = "target"
    by[~(features <= most_features)] = "features"
    by[np.isnan(most_gradient)] = "not finite"
    return by
