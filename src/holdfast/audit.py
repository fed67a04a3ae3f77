"""Which rounds were skipped, and why: the reason of each round, and the table that the adapters keep."""

__all__ = ["HoldfastWarning"]

import warnings

import numpy as np

WARM_UP, NOT_READABLE = "warm-up", "not readable"
LITTLE, NOTHING = "little", "nothing"  # what a skipped round has taught
_MANY, _FIRST, _LONG_RUN = 0.2, 20, 100  # _FIRST rows: a filter has little to compare at first
_PARTS = 64  # tables of single batches; above that they are joined into one


def reasons(measures, sizes, thresholds):
    """Name the first filter that refused each skipped round.

    It is "warm-up" if the threshold of each filter that refused it was 0 or less: the filter had nothing to
    compare with. It is "not readable" if no filter could be asked: a number is missing, infinite, or too
    large to compute with. A threshold that is NaN belongs to a filter that was not asked.

    >>> sizes, thresholds = [[1.0, 9.0, 1.0], [5.0, 5.0, 5.0]], [[2.0, 2.0, 2.0], [3.0, 3.0, 0.0]]
    >>> reasons(("features", "gradient"), sizes, thresholds).tolist()
    ['gradient', 'features', 'warm-up']
    """
    found = np.full(len(sizes[0]), WARM_UP, object)
    for measure, size, threshold in reversed(list(zip(measures, sizes, thresholds, strict=True))):
        found[(np.asarray(threshold) > 0.0) & ~(np.asarray(size) <= np.asarray(threshold))] = measure
    found[np.isnan(thresholds).all(axis=0)] = NOT_READABLE
    return found


def learned(by, little):
    """What skipped rounds with these reasons have taught: a little if the target was refused and `little`."""
    return np.where((np.asarray(by) == "target") & little, LITTLE, NOTHING)


class HoldfastWarning(UserWarning):
    """Something that can be learned from, but that is probably not what you want."""


class SkipMonitor:
    """Warn, once each, if more than 20 % of the rows are skipped, or 100 rows one after the other.

    Rows of the warm-up count as kept, and the first 20 skipped rows do not count. The share is looked at when
    there are `enough` rows.

    Examples
    --------
    >>> monitor = SkipMonitor("look at audit_")
    >>> monitor.add(np.arange(150) > 40)
    >>> monitor.rows, monitor.skipped, monitor.run
    (150, 41, 0)
    """

    def __init__(self, remedy, depth=7, enough=200):
        self.remedy, self.enough = remedy, enough
        self.depth = depth  # the number of calls from the user's to `warnings.warn`
        self.rows, self.skipped, self.run, self.longest = 0, 0, 0, 0
        self._warned_of_share = self._warned_of_run = False

    def add(self, kept):
        """Count these rows, in their order."""
        if len(kept) == 1:
            self._count_one(bool(kept[0]))
        elif kept.all():
            self.rows, self.run = self.rows + len(kept), 0 if len(kept) else self.run
        else:
            self._count(kept)
        self._warn()

    def add_one(self, kept):
        """Count one row."""
        self._count_one(kept)
        self._warn()

    def _count(self, kept):
        ends = np.flatnonzero(kept)
        runs = np.diff(ends, prepend=-1, append=len(kept)) - 1
        runs[0] += self.run
        self.rows, self.skipped = self.rows + len(kept), self.skipped + len(kept) - len(ends)
        self.run, self.longest = int(runs[-1]), max(self.longest, int(runs.max()))

    def _count_one(self, kept):
        self.rows, self.skipped = self.rows + 1, self.skipped + (not kept)
        self.run = 0 if kept else self.run + 1
        self.longest = max(self.longest, self.run)

    def _warn(self):
        if self.longest >= _LONG_RUN and not self._warned_of_run:
            self._warned_of_run = True
            self._say(f"{self.longest:,} rows one after the other were skipped: the data may have changed")
        many = self.rows >= self.enough and self.skipped > _FIRST + _MANY * self.rows
        if many and not self._warned_of_share:
            self._warned_of_share = True
            self._say(f"{self.skipped:,} of {self.rows:,} rows were skipped, more than {_MANY:.0%}")

    def _say(self, sentence):
        warnings.warn(f"{sentence}; {self.remedy}", HoldfastWarning, stacklevel=self.depth)


class Audit:
    """The first `size` skipped rounds as a table, and counts of all rounds.

    Rounds of the warm-up are counted, but they are no outliers: they are not in the table, nor in `skipped`.

    Parameters
    ----------
    size : int
        The largest number of rows of the table.
    measures : strings
        What is measured in a round, such as "features": each has a size and a threshold.
    places : strings
        The columns that locate a round, such as "round".
    little : bool
        Whether a round whose target is refused teaches a little (`PlayerOptions.learns_little`).

    Examples
    --------
    >>> audit = Audit(100, ["features"], ["round"])
    >>> audit.add([[7, 8]], [[90.0, np.nan]], [[2.5, np.nan]])
    >>> audit.counts
    {'features': 1, 'not readable': 1, 'warm-up': 0}
    >>> {name: column.tolist() for name, column in audit.table().items() if "_" not in name}
    {'round': [7, 8], 'by': ['features', 'not readable'], 'learned': ['nothing', 'nothing']}
    """

    def __init__(self, size, measures, places, little=False):
        self.size, self.measures, self.places, self.kept = size, tuple(measures), tuple(places), 0
        self.little, self.counts = little, dict.fromkeys((*self.measures, NOT_READABLE, WARM_UP), 0)
        nothing = [[]] * len(self.measures)
        self._parts = [self._table([[]] * len(self.places), nothing, nothing, [])]
        self._length = 0

    @property
    def room(self):
        """How many rows the table can still take."""
        return self.size - self._length

    @property
    def skipped(self):
        """How many rounds were skipped after the warm-up."""
        return self.rounds - self.kept - self.counts[WARM_UP]

    @property
    def rounds(self):
        """How many rounds there were."""
        return self.kept + sum(self.counts.values())

    def add(self, places, sizes, thresholds):
        """Record skipped rounds: a column for each place and for each measure.

        Columns of places may end where the table is full; then no round of them is one of the warm-up.
        """
        by = reasons(self.measures, sizes, thresholds)
        for reason in self.counts:
            self.counts[reason] += int((by == reason).sum())
        if (by == WARM_UP).any():
            left = by != WARM_UP
            by = by[left]
            places, sizes, thresholds = (
                [np.asarray(column)[left] for column in some] for some in (places, sizes, thresholds)
            )
        room = min(self.room, len(by))
        if room > 0:
            columns = ([column[:room] for column in some] for some in (places, sizes, thresholds))
            self._parts.append(self._table(*columns, by[:room]))
            self._length += room
            if len(self._parts) > _PARTS:
                self._parts = [self.table()]

    def table(self):
        """The columns by name; a notebook shows the first rows."""
        filled = [part for part in self._parts if len(part["by"])] or self._parts
        from holdfast.pages.notebook import ColumnTable

        return ColumnTable({name: np.concatenate([part[name] for part in filled]) for name in filled[0]})

    def _table(self, places, sizes, thresholds, by):
        kind = None if len(by) else int
        table = {name: np.asarray(place, kind) for name, place in zip(self.places, places, strict=True)}
        for name, size, threshold in zip(self.measures, sizes, thresholds, strict=True):
            table |= {f"{name}_size": np.asarray(size, float)}
            table |= {f"{name}_threshold": np.asarray(threshold, float)}
        return table | {"by": np.asarray(by, "<U12"), "learned": learned(by, self.little).astype("<U7")}
