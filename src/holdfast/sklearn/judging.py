"""What a pass over the rows says about each row: learned from, or skipped for a reason."""

from typing import NamedTuple

import numpy as np

MEASURES = ("features", "target", "gradient")
_SAMPLE = 1000


class JudgedRows(NamedTuple):
    """The decisions of one model about some rows, in the order in which it saw them."""

    rows: np.ndarray  # indices in the table
    rounds: np.ndarray  # numbers of the steps
    kept: np.ndarray
    farthest: np.ndarray  # the column of the farthest cell of rows that are refused; -1 if it is not known
    sizes: tuple  # an array for each of MEASURES
    thresholds: tuple  # NaN where the row, or its target, is not readable, or the filter was not asked

    def some(self, which):
        """Those where `which` holds."""
        several = [tuple(column[which] for column in columns) for columns in self[4:]]
        return JudgedRows(*(column[which] for column in self[:4]), *several)


_NONE = np.zeros(0, int)
NOTHING_JUDGED = JudgedRows(_NONE, _NONE, np.zeros(0, bool), _NONE, (np.zeros(0),) * 3, (np.zeros(0),) * 3)


def thinned(judged):
    """About 1,000 of the rows at most, evenly spaced."""
    step = -(-len(judged.rows) // _SAMPLE)
    return judged.some(slice(None, None, step)) if step > 1 else judged


def judged(columns, rows, rounds, gradients):
    """The decisions in the columns of a game, whose last rounds were these rows, after so many in all.

    `gradients`: whether the player measures them; if not, sizes and thresholds of the game are of features.
    """
    unknown = np.full(0 if gradients else len(rows), np.nan)
    sizes, thresholds = (columns.sizes, columns.thresholds) if gradients else (unknown, unknown)
    return JudgedRows(
        rows,
        np.arange(rounds - len(rows), rounds),
        columns.kept,
        columns.farthest,
        (columns.feature_sizes, columns.target_sizes, sizes),
        (columns.feature_thresholds, columns.target_thresholds, thresholds),
    )


def joined(parts):
    """The decisions of one model about several parts of its rows."""
    if len(parts) == 1:
        return parts[0]
    *single, sizes, thresholds = zip(*parts, strict=True)
    several = (tuple(map(np.concatenate, zip(*each, strict=True))) for each in (sizes, thresholds))
    return JudgedRows(*map(np.concatenate, single), *several)


def compared_again(judged, groups):
    """The decisions, with the last thresholds of the pass for rows of the warm-up.

    A filter skips its first rows because it has nothing to compare them with: `TopK(k)` skips k. At the end
    of the pass their sizes can be compared with all others. `groups` has the rows whose gradients share a
    filter, as numbers: those of a label.
    """
    last = _last_thresholds(judged, groups)
    thresholds = (np.where(old <= 0.0, new, old) for old, new in zip(judged.thresholds, last, strict=True))
    return judged._replace(thresholds=tuple(thresholds))


def is_ordinary(judged, groups):
    """Whether each row is within the last thresholds of the pass, though it may have been skipped."""
    asked = ~np.isnan(judged.thresholds)
    within = np.asarray(judged.sizes) <= np.asarray(_last_thresholds(judged, groups))
    return (within | ~asked).all(axis=0) & asked.any(axis=0)


def _last_thresholds(judged, groups):
    """For each of MEASURES and each row, the last known threshold of its filter; NaN if there is none."""
    found = []
    for measure, thresholds in zip(MEASURES, judged.thresholds, strict=True):
        own = groups if measure == "gradient" else np.zeros(len(thresholds))
        last = np.full(len(thresholds), np.nan)
        for group in np.unique(own):
            known = thresholds[(own == group) & ~np.isnan(thresholds)]
            last[own == group] = known[-1] if len(known) else np.nan
        found.append(last)
    return tuple(found)
