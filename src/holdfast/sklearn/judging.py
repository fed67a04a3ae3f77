"""What a pass over the rows says about each row: learned from, or skipped for a reason."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from holdfast.game import Columns

_SAMPLE = 1000


class JudgedRows(NamedTuple):
    """The verdicts of one model on some rows, in the order in which it saw them."""

    rows: np.ndarray  # indices in the table
    rounds: np.ndarray  # numbers of the steps
    kept: np.ndarray
    refused_by: np.ndarray
    farthest: np.ndarray  # the column of the farthest cell of rows that are refused; -1 if it is not known
    sizes: np.ndarray  # by row and check
    thresholds: np.ndarray

    def some(self, which: Any) -> "JudgedRows":
        """Those where `which` holds."""
        return JudgedRows(*(column[which] for column in self))


def thinned(judged: JudgedRows) -> JudgedRows:
    """About 1,000 of the rows at most, evenly spaced."""
    step = -(-len(judged.rows) // _SAMPLE)
    return judged.some(slice(None, None, step)) if step > 1 else judged


def judged(columns: Columns, rows: np.ndarray, rounds: int) -> JudgedRows:
    """The verdicts in the columns of a game, whose last rounds were these rows, after so many in all."""
    steps = np.arange(rounds - len(rows), rounds)
    verdicts = (columns.kept, columns.refused_by, columns.farthest, columns.sizes, columns.thresholds)
    return JudgedRows(rows, steps, *verdicts)


def nothing_judged(checks: int) -> JudgedRows:
    """The verdicts of a game without rounds."""
    none, sizes = np.zeros(0, int), np.zeros((0, checks))
    return JudgedRows(none, none, np.zeros(0, bool), none, none, sizes, sizes)


def joined(parts: Sequence[JudgedRows]) -> JudgedRows:
    """The verdicts of one model on several parts of its rows."""
    return parts[0] if len(parts) == 1 else JudgedRows(*map(np.concatenate, zip(*parts, strict=True)))


def compared_again(judged: JudgedRows, groups: np.ndarray, checks: Sequence[str]) -> JudgedRows:
    """The verdicts, with the last thresholds of the pass for rows of the warm-up.

    A filter skips its first rows because it has nothing to compare them with: `TopK(k)` skips k. At the end
    of the pass their sizes can be compared with all others. `groups` has the rows whose gradients share a
    filter, as numbers: those of a label.
    """
    known = judged.thresholds > 0.0
    thresholds = np.where(
        known | np.isnan(judged.thresholds), judged.thresholds, _last_thresholds(judged, groups, checks)
    )
    refused = (judged.sizes > thresholds) & (thresholds > 0.0)
    again = ~judged.kept & (judged.refused_by >= 0) & refused.any(axis=1)
    refused_by = np.where(again, refused.argmax(axis=1), judged.refused_by)
    return judged._replace(thresholds=thresholds, refused_by=refused_by)


def is_ordinary(judged: JudgedRows, groups: np.ndarray, checks: Sequence[str]) -> np.ndarray:
    """Whether each row is within the last thresholds of the pass, though it may have been skipped."""
    asked = ~np.isnan(judged.thresholds)
    within = judged.sizes <= _last_thresholds(judged, groups, checks)
    return (within | ~asked).all(axis=1) & asked.any(axis=1)


def _last_thresholds(judged: JudgedRows, groups: np.ndarray, checks: Sequence[str]) -> np.ndarray:
    """For each row and check, the last known threshold of its filter; NaN if there is none."""
    found = np.full(judged.thresholds.shape, np.nan)
    for k, check in enumerate(checks):
        thresholds = judged.thresholds[:, k]
        own = groups if check == "gradient" else np.zeros(len(thresholds))
        for group in np.unique(own):
            known = thresholds[(own == group) & ~np.isnan(thresholds)]
            found[own == group, k] = known[-1] if len(known) else np.nan
    return found
