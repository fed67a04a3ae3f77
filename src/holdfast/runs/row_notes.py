"""Which cells of a row `predict` has counted as missing, and why."""

from collections.abc import Mapping

import numpy as np

from holdfast.io.columns import Layout
from holdfast.io.rows import DenseRows, SparseRows, WrongCell
from holdfast.runs.model import Model
from holdfast.terminal import shown, visible

_MOST_NAMES = 3  # columns that a note names


def row_notes(
    model: Model, rows: DenseRows | SparseRows, places: np.ndarray, faults: Mapping[int, str]
) -> tuple[np.ndarray, np.ndarray]:
    """A note for each row, None for most, and which rows lack a cell, so that no interval is known for them.

    A missing cell that the run fills in is no reason for a note: the run has learned from such rows, too.
    `places` has the index of the key of each row.
    """
    notes = np.full(len(rows), None, object)
    lacking = np.zeros(len(rows), bool)
    for row, fault in faults.items():
        notes[row], lacking[row] = visible(fault), True
    if not isinstance(rows, DenseRows):
        return notes, lacking
    models = np.maximum(places, 0) * len(model.names()) if model.key is not None else np.zeros(1, int)
    wild, missing = model.parameters.wild_cells(rows.X, models), np.isnan(rows.X)
    columns = columns_of_features(model.layout)
    for row in np.flatnonzero((wild | missing).any(axis=1)).tolist():
        found = faults.get(row)
        if found is not None and not isinstance(found, WrongCell):
            continue
        lacking[row] = True
        own = found.column if isinstance(found, WrongCell) else None
        gone = [name for name in _names(columns, missing[row]) if name != own]
        parts = [str(notes[row])] if found is not None else []
        parts += [_far(columns, rows.X[row], wild[row])] if wild[row].any() else []
        parts += [f"{_listed(gone)} {'is' if len(gone) == 1 else 'are'} missing"] if gone else []
        notes[row] = "; ".join(parts)
    return notes, lacking


def columns_of_features(layout: Layout) -> np.ndarray:
    """The name of the column of each feature."""
    return np.array([column.name for column in layout.columns for _ in column.features()], object)


def _far(columns: np.ndarray, row: np.ndarray, wild: np.ndarray) -> str:
    cells = [f"{visible(columns[i], 40)} = {shown(float(row[i]))}" for i in np.flatnonzero(wild)]
    return f"{_listed(cells)} left out: too far from the rows learned from"


def _names(columns: np.ndarray, chosen: np.ndarray) -> list[str]:
    return [visible(name, 40) for name in dict.fromkeys(columns[chosen])]


def _listed(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
