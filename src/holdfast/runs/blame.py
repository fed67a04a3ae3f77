"""Which column made a skipped round an outlier, and its value."""

import numpy as np

from holdfast.audit import NOT_FINITE
from holdfast.io.rows import DenseRows
from holdfast.runs.audit import MISSING, NO_TARGET

_OF_TARGET = ("target", "gradient", NO_TARGET)


class Blame:
    """Names a column for each skipped round of a run.

    A round that the feature filter skipped has the feature that is farthest from its center, in units of
    its scale. For `Steady` the scale is that of the round (`PastUnits`), for others that of the last snapshot
    before it (`Trace`), so that the answer does not depend on batches. There is none in a run with keys or
    sparse rows, or before the first snapshot.

    If the player also skips rows that came too often one after the other (`repeats`), no column is named
    where the farthest cell is within the threshold.
    """

    def __init__(self, features, target, regression, repeats):
        self.features, self.target, self.regression, self.repeats = features, target, regression, repeats
        self._names = np.array(features, object)

    @np.errstate(all="ignore")
    def columns(self, reasons, rows, y, skipped, scale, thresholds):
        """Names, empty if unknown, and values, NaN if unknown, of the skipped rounds, given by index.

        `reasons` and `thresholds`, those of the features, are of the skipped rounds only. `scale` has centers
        and factors, for all rounds or for each of them.
        """
        names, values = np.full(len(reasons), "", object), np.full(len(reasons), np.nan)
        of_target = np.isin(reasons, _OF_TARGET)
        names[of_target] = self.target
        if self.regression:
            values[of_target] = y[skipped[of_target]]
        if not isinstance(rows, DenseRows) or not len(reasons):
            return names, values
        X = rows.X[skipped, : len(self.features)]
        far = np.zeros(X.shape)
        if scale.shape[-1] == X.shape[1]:
            far = np.nan_to_num(np.abs(X - scale[0]) * scale[1])
        of_features = (reasons == "features") & (far.max(axis=1, initial=0.0) > 0.0)
        if self.repeats:
            of_features &= ~(far.max(axis=1, initial=0.0) <= thresholds)
        for chosen, badness in (
            (of_features, far),
            (reasons == NOT_FINITE, np.where(np.isnan(X), 0.0, np.abs(X))),
            (reasons == MISSING, np.isnan(X)),
        ):
            places = np.flatnonzero(chosen)
            worst = badness[places].argmax(axis=1) if len(places) else places
            if len(places):
                names[places], values[places] = self._names[worst], X[places, worst]
        return names, values
