"""Which column made a skipped round an outlier, and its value."""

import numpy as np

from holdfast.audit import NOT_READABLE
from holdfast.io.rows import DenseRows
from holdfast.runs.audit import MISSING, NO_TARGET

_OF_TARGET = ("target", "gradient", NO_TARGET)


class Blame:
    """Names a column for each skipped round of a run.

    A round that the feature filter skipped has the column that was farthest in that round, as the player has
    measured it. No column is named if the player did not measure one, and in sparse rows.
    """

    def __init__(self, features, target, regression):
        self.target, self.regression = target, regression
        self._names = np.array(features, object)

    @np.errstate(all="ignore")
    def columns(self, reasons, rows, y, skipped, farthest):
        """Names, empty if unknown, and values, NaN if unknown, of the skipped rounds, given by index.

        `reasons` and `farthest`, the columns that were measured, are of the skipped rounds only.
        """
        names, values = np.full(len(reasons), "", object), np.full(len(reasons), np.nan)
        targets = np.asarray(y, float)[skipped]
        of_target = np.isin(reasons, _OF_TARGET)
        if isinstance(rows, DenseRows):
            X = rows.X[skipped, : len(self._names)]
            sizes = np.where(np.isnan(X), 0.0, np.abs(X))
            unreadable = (reasons == NOT_READABLE) & (sizes.max(axis=1, initial=0.0) > 0.0)
            in_target = unreadable & self.regression & (np.abs(targets) > sizes.max(axis=1, initial=0.0))
            of_target |= in_target
            known = (reasons == "features") & (farthest >= 0) & (farthest < len(self._names))
            for chosen, columns in (
                (known, farthest),
                (unreadable & ~in_target, sizes.argmax(axis=1) if X.size else farthest),
                (reasons == MISSING, np.isnan(X).argmax(axis=1) if X.size else farthest),
            ):
                places = np.flatnonzero(chosen)
                names[places], values[places] = self._names[columns[places]], X[places, columns[places]]
        names[of_target] = self.target
        if self.regression:
            values[of_target] = targets[of_target]
        return names, values
