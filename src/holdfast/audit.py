"""Which rounds were skipped, and why: the reason of each round, and the table that the adapters keep."""

import numpy as np

NOT_FINITE = "not finite"
_PARTS = 64  # tables of single batches; above that they are joined into one


def reasons(measures, sizes, thresholds):
    """Name the first filter that refused each skipped round; "not finite" where no filter could be asked.

    >>> reasons(("features", "gradient"), [[1.0, 9.0], [5.0, 5.0]], [[2.0, 2.0], [3.0, 3.0]]).tolist()
    ['gradient', 'features']
    """
    found = np.full(len(sizes[0]), measures[-1], object)
    for measure, size, threshold in reversed(list(zip(measures, sizes, thresholds, strict=True))):
        found[~(np.asarray(size) <= np.asarray(threshold))] = measure
    found[np.isnan(thresholds[-1])] = NOT_FINITE
    return found


class Audit:
    """The first `size` skipped rounds as a table, and counts of all rounds.

    Parameters
    ----------
    size : int
        The largest number of rows of the table.
    measures : strings
        What is measured in a round, such as "features": each has a size and a threshold.
    places : strings
        The columns that locate a round, such as "round".

    Examples
    --------
    >>> audit = Audit(100, ["features"], ["round"])
    >>> audit.add([[7, 8]], [[90.0, np.nan]], [[2.5, np.nan]])
    >>> audit.counts
    {'features': 1, 'not finite': 1}
    >>> {name: column.tolist() for name, column in audit.table().items()}
    {'round': [7, 8], 'features_size': [90.0, nan], 'features_threshold': [2.5, nan], 'by': [...]}
    """

    def __init__(self, size, measures, places):
        self.size, self.measures, self.places, self.kept = size, tuple(measures), tuple(places), 0
        self.counts = dict.fromkeys((*self.measures, NOT_FINITE), 0)
        nothing = [[]] * len(self.measures)
        self._parts = [self._table([[]] * len(self.places), nothing, nothing, [])]
        self._length = 0

    @property
    def skipped(self):
        return sum(self.counts.values())

    def add(self, places, sizes, thresholds):
        """Record skipped rounds: a column for each place and for each measure."""
        by = reasons(self.measures, sizes, thresholds)
        for reason in self.counts:
            self.counts[reason] += int((by == reason).sum())
        room = min(self.size - self._length, len(by))
        if room > 0:
            columns = ([column[:room] for column in some] for some in (places, sizes, thresholds))
            self._parts.append(self._table(*columns, by[:room]))
            self._length += room
            if len(self._parts) > _PARTS:
                self._parts = [self.table()]

    def table(self):
        """The columns by name."""
        filled = [part for part in self._parts if len(part["by"])] or self._parts
        return {name: np.concatenate([part[name] for part in filled]) for name in filled[0]}

    def _table(self, places, sizes, thresholds, by):
        kind = None if len(by) else int
        table = {name: np.asarray(place, kind) for name, place in zip(self.places, places, strict=True)}
        for name, size, threshold in zip(self.measures, sizes, thresholds, strict=True):
            table |= {f"{name}_size": np.asarray(size, float)}
            table |= {f"{name}_threshold": np.asarray(threshold, float)}
        return table | {"by": np.asarray(by, "<U10")}
