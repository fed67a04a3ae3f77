"""How often the cells of a column are missing, which says whether intervals know of such rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_OFTEN = 0.01  # of the rows lack a cell of the column: the widths have followed such rows, too


class Gaps(NamedTuple):
    """The missing cells of each column, in the rows learned from.

    The width of intervals follows the errors of rows as they were. So it says nothing about a row that lacks
    a cell which was hardly ever missing.

    Examples
    --------
    >>> seen = Gaps().add(np.array([[1.0, np.nan], [2.0, 3.0]]))
    >>> seen.are_new(np.array([[np.nan, 1.0], [1.0, np.nan]])).tolist()
    [True, False]
    """

    rows: int = 0
    missing: NDArray[np.int64] = np.zeros(0, np.int64)

    def add(self, X: NDArray[np.floating]) -> "Gaps":
        """After these rows. There may be more columns than before."""
        missing = np.isnan(X).sum(axis=0)
        missing[: len(self.missing)] += self.missing
        return Gaps(self.rows + len(X), missing)

    def are_new(self, X: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Which rows lack a cell of a column that was missing in fewer than one of 100 rows."""
        rarely = np.ones(X.shape[1], bool)
        rarely[: len(self.missing)] = self.missing[: X.shape[1]] < _OFTEN * self.rows
        return (np.isnan(X) & rarely).any(axis=1)
