"""What every source gives: rows in batches, and what is wrong with some of them."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.terminal import quoted


class Batch(NamedTuple):
    """Some rows as columns of Arrow.

    A row that cannot be read stays, with nulls in its cells and an entry in `faults`: it will be a round that
    nobody learns from.
    """

    columns: dict[str, Any]  # of arrays, all of the same length
    rows: np.ndarray  # the number of each row in the source, from 1
    faults: dict[int, str]  # what is wrong with a row, by its place in this batch

    @staticmethod
    def whole(table, row, count, names):
        """These columns of a table that begins at this row; None if it has not as many rows as lines."""
        if table.num_rows != count:
            return None
        columns = {name: table.column(name).combine_chunks() for name in names}
        return Batch(columns, np.arange(row, row + count), {})


def wrong_cell(column, value, what):
    """What is wrong with a cell, in words."""
    return f"column {quoted(column)}: {quoted(value, 40)} is {what}"


class SourceError(ValueError):
    """What is wrong with a source as a whole, with the file and the remedy."""


# What a cell may be read as; whatever a source knows better about its columns takes precedence. A label, or a
# key, has its text or exact value (`holdfast.io.cells.labels`).
NUMBER, TEXT, LABEL = "number", "text", "label"
