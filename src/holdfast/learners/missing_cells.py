"""What `Scaled` does with rows in which cells are missing (NaN): skip them, or fill the cells.

Two rules with the same methods, so that a game is compiled with only the one it uses.
"""

from typing import Any

import numpy as np

from holdfast.entrywise import clear_cells, count_missing, fill_missing
from holdfast.protocols import Row
from holdfast.rule import rule
from holdfast.vectors import values_of


def missing_with(share: Any) -> Any:
    """The rule for the largest share of missing cells that a row may have: 0 means none."""
    if isinstance(share, SkipMissing | FillMissing):
        return share
    return FillMissing(share) if share != 0.0 else SkipMissing()


@rule
class SkipMissing:
    """A missing cell stays NaN, so that the row has no finite size and is not learned from."""

    def clear(self, row: Row, x: Row) -> Row:
        return row

    def fill(self, row: np.ndarray, x: Row, center: np.ndarray) -> Row:
        return x


@rule
class FillMissing:
    """A missing cell counts as the center of its column, in a row with few of them. Infinities stay.

    >>> import numpy as np
    >>> x, row = np.array([np.nan, 2.0, 3.0]), np.array([np.nan, 0.2, 0.3, 1.0])
    >>> FillMissing(0.5).clear(row, x).tolist()
    [0.0, 0.2, 0.3, 1.0]
    """

    share: float

    def check(self) -> None:
        if not 0.0 <= self.share < 1.0:
            raise ValueError(f"missing is a share of the cells, from 0 to below 1: got {self.share:g}")

    def clear(self, row: Row, x: Row) -> Row:
        """The standardised row, with 0 for the missing cells of x; unchanged if these are too many."""
        cells = values_of(x)
        if 0.0 < count_missing(cells) <= self.share * len(cells):
            clear_cells(values_of(row)[: len(cells)], cells)
        return row

    def fill(self, row: np.ndarray, x: Row, center: np.ndarray) -> Row:
        """The row x with centers for missing cells, in a buffer; a sparse row is left as it is."""
        return fill_missing(row, x, center)
