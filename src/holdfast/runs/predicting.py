"""What `predict` says about each row: the prediction, how sure it is, and whether the row is an outlier."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.intervals.widths import interpolated
from holdfast.io.columns import Layout
from holdfast.io.rows import DenseRows, SparseRows, WrongCell, unreadable
from holdfast.io.sources import Piece
from holdfast.runs.answers import label_margins, scores
from holdfast.runs.model import Model
from holdfast.terminal import shown, visible

Outliers = tuple[np.ndarray, np.ndarray, np.ndarray]


@np.errstate(all="ignore")
def interval(model: Model, predictions: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper end of an interval around each prediction, as two arrays.

    The width is that of `holdfast.intervals.Tracker`, which has followed the errors of all forecasts of the
    run. NaN if there were fewer than 32.
    """
    width = width_for(model, share)
    return predictions - width, predictions + width


def width_for(model: Model, share: float) -> float:
    """The width of intervals that cover this share, NaN if there is none yet."""
    if model.widths is None or not len(model.widths):
        return math.nan
    width = interpolated(share, *model.widths.T)
    return width if width < math.inf else math.nan


@np.errstate(all="ignore")
def label_sets(model: Model, outcomes: np.ndarray, share: float) -> np.ndarray:
    """For each row, the labels that are enough for this share of the rows, as a list that JSON can read.

    They are the predicted label, and those whose margin is as large as the `Tracker` demands. None for a row
    without a prediction, or if there is no width yet.
    """
    inside, empty = inside_sets(outcomes, width_for(model, share))
    several, places = np.unique(inside, axis=0, return_inverse=True)
    texts = [json.dumps([model.target.labels[i] for i in np.flatnonzero(row)]) for row in several]
    found = np.array(texts, object)[places.reshape(-1)] if len(inside) else np.zeros(0, object)
    found[empty] = None
    return found


@np.errstate(all="ignore")
def inside_sets(outcomes: np.ndarray, width: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which labels are in the set of each row, by the width for all rows or each; and which have no set."""
    least, margins = -np.log(width), label_margins(outcomes)
    empty = np.isnan(margins).all(axis=1) | np.isnan(least)
    margins = np.where(np.isnan(margins), -math.inf, margins)
    return margins >= np.minimum(margins.max(axis=1), least)[:, None], empty


@np.errstate(all="ignore")
def probability(model: Model, outcomes: np.ndarray) -> np.ndarray:
    """How probable each predicted label is, by the recent rounds of the run with such scores.

    The share of hits as an increasing function of the score (isotonic regression), with half a hit and half
    a miss added to each step, so that nothing is certain. There is no theorem for it. NaN without rounds.
    """
    if model.recent is None or not len(model.recent):
        return np.full(len(outcomes), math.nan)
    starts, shares = isotonic(*model.recent.T)
    found = scores(outcomes)
    of_hit = shares[np.maximum(np.searchsorted(starts, found, side="right") - 1, 0)]
    of_hit = np.where(np.isnan(found), math.nan, of_hit)
    two = len(model.target.labels) == 2
    return np.where(found > 0.0, of_hit, 1.0 - of_hit) if two else of_hit


def isotonic(x: np.ndarray, hits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first x of each step, and the share of hits on it, by pooling neighbours that are out of order.

    >>> starts, shares = isotonic(np.array([3.0, 1.0, 2.0, 4.0]), np.array([0.0, 0.0, 1.0, 1.0]))
    >>> starts.tolist(), shares.tolist()
    ([1.0, 2.0, 4.0], [0.25, 0.5, 0.75])
    """
    steps: list[list[float]] = []  # first x, hits, count
    values, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    for start, total, count in zip(values, np.bincount(places, hits), counts, strict=True):
        steps.append([start, total, count])
        while len(steps) > 1 and steps[-2][1] * steps[-1][2] >= steps[-1][1] * steps[-2][2]:
            _, total, count = steps.pop()
            steps[-1][1] += total
            steps[-1][2] += count
    starts, totals, sums = np.array(steps).T
    return starts, (totals + 0.5) / (sums + 1.0)


def outliers(model: Model, rows: DenseRows | SparseRows, places: np.ndarray) -> Outliers:
    """Of each row: 1 if it is an outlier, 0 if not, NaN if unknown; its farthest column and the value there.

    The size of the row is compared with the last threshold of the feature filter, in the units that the model
    has for the row's key, whose index is in `places`. With a game for each pair of labels, an outlier is one
    in the units of every pair; with one for each label, they are those of the first. A missing cell is at no
    distance. Unknown is a row with an unknown key, and every row while there is no threshold.
    """
    found, columns, values = _outliers(model, rows, places, 0)
    for game in range(1, len(model.names()) if model.has_pairs() else 1):
        more = _outliers(model, rows, places, game)
        new = np.isnan(found)
        columns, values = np.where(new, more[1], columns), np.where(new, more[2], values)
        found = np.fmin(found, more[0])
    return found, columns, values


@np.errstate(all="ignore")
def _outliers(model: Model, rows: DenseRows | SparseRows, places: np.ndarray, game: int) -> Outliers:
    """The same in the units of one game. Unknown is also every row if these are not known yet."""
    count = len(rows)
    if model.threshold is None or model.measure is None:
        return np.full(count, math.nan), np.zeros(count, np.int64), np.full(count, math.nan)
    key, games = np.maximum(places, 0), len(model.names())
    models = key * games + game if model.key is not None else np.full(1, game)
    clip = math.inf if model.measure.clip is None else model.measure.clip
    columns, values, far, squares = rows.farthest(model.parameters, models, clip)
    constant = float(model.measure.constant)
    size = np.maximum(far, constant) if model.measure.farthest else np.sqrt(squares + constant)
    threshold = model.threshold[key]
    found = np.where(size <= threshold, 0.0, 1.0)
    unknown = np.isnan(squares) | (places < 0) | ~((threshold > 0.0) & (threshold < math.inf))
    if games > 1:
        unknown |= ~(model.parameters.factors[models] > 0.0).any(axis=1)
    found = np.where(unknown, math.nan, found)
    return np.where(np.isinf(values), 1.0, found), columns, values


def feature_names(layout: Layout, places: Iterable[int]) -> list[str]:
    """The names of the features with these indices. Sparse rows can have millions, so not all are made."""
    if layout.is_sparse():
        return [str(place) for place in places]
    names = layout.features()
    return [names[place] for place in places]


def answer_types(model: Model) -> dict[str, pa.DataType]:
    numbers = model.target.regression
    return (
        {"row": pa.int64()}
        | ({"key": pa.string()} if model.key is not None else {})
        | {"prediction": pa.float64() if numbers else pa.string()}
        | ({"low": pa.float64(), "high": pa.float64()} if numbers else {"probability": pa.float64()})
        | ({} if numbers else {"labels": pa.string()})
        | {"outlier": pa.int64(), "outlier_column": pa.string(), "note": pa.string()}
    )


def answers(model: Model, known: Mapping[str, int], piece: Piece, share: float) -> tuple[pa.Table, int]:
    """The answers about the rows of a piece as a table, and how many have no prediction.

    A cell that is missing, wild or wrong does not count, and the note of its row says so. Such a row has no
    interval and no probability, because those come from rows with all their cells.

    `known` has the index of each key of the model, `share` is that of `interval` and `label_sets`.
    """
    places = np.zeros(len(piece.rows), int)
    if model.key is not None:
        coded = pc.dictionary_encode(piece.keys)
        indices = np.array([known.get(key, -1) for key in coded.dictionary.to_pylist()], int)
        places = indices[coded.indices.to_numpy()]
    outcomes = model.outcomes(piece.features, places)
    empty = np.isnan(outcomes).all(axis=1)
    empty[unreadable(piece.faults)] = True
    outcomes[empty] = math.nan
    predictions = model.answers(outcomes)
    wrong, columns, _ = outliers(model, piece.features, places)
    wrong[unreadable(piece.faults)] = math.nan
    notes, lacking = row_notes(model, piece.features, places, piece.faults)
    found: dict[str, Any] = {"row": piece.rows, "key": piece.keys}
    found["prediction"] = pa.array(predictions, mask=empty)
    if model.target.regression:
        ends = interval(model, predictions, share)
        found["low"], found["high"] = (np.where(lacking, math.nan, end) for end in ends)
    else:
        found["probability"] = np.where(lacking, math.nan, probability(model, outcomes))
        found["labels"] = label_sets(model, np.where(lacking[:, None], math.nan, outcomes), share)
    found["outlier"] = wrong
    found["outlier_column"] = np.full(len(wrong), None, object)
    found["outlier_column"][wrong == 1.0] = feature_names(model.layout, columns[wrong == 1.0])
    found["note"] = notes
    arrays = {name: _array(found[name], kind) for name, kind in answer_types(model).items()}
    return pa.table(arrays), int(empty.sum())


def _array(column: Any, kind: pa.DataType) -> Any:
    if isinstance(column, np.ndarray) and column.dtype == np.float64:
        column = pa.array(column, from_pandas=True)
    return pa.array(column, kind) if isinstance(column, np.ndarray) else column.cast(kind)


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
    used = model.layout.columns
    columns = np.array([column.name for column in used for _ in column.features()], object)  # by feature
    for row in np.flatnonzero((wild | missing).any(axis=1)).tolist():
        found = faults.get(row)
        if found is not None and not isinstance(found, WrongCell):
            continue
        lacking[row] = True
        own = [visible(name, 40) for name in found.columns] if isinstance(found, WrongCell) else []
        gone = [name for name in _names(columns, missing[row]) if name not in own]
        parts = [str(notes[row])] if found is not None else []
        parts += [_far(columns, rows.X[row], wild[row])] if wild[row].any() else []
        parts += [f"{_listed(gone)} {'is' if len(gone) == 1 else 'are'} missing"] if gone else []
        notes[row] = "; ".join(parts)
    return notes, lacking


def _far(columns: np.ndarray, row: np.ndarray, wild: np.ndarray) -> str:
    cells = [f"{visible(columns[i], 40)} = {shown(float(row[i]))}" for i in np.flatnonzero(wild)]
    return f"{_listed(cells)} left out: too far from the rows learned from"


def _names(columns: np.ndarray, chosen: np.ndarray) -> list[str]:
    return [visible(name, 40) for name in dict.fromkeys(columns[chosen])]


def _listed(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
