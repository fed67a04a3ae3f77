"""Answers from one state of the model that nobody changes: predictions never wait for learning."""

import json
import math
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast.io.sources import Piece
from holdfast.runs.answers import label_margins
from holdfast.runs.model import Model
from holdfast.runs.predicting import answers, interval
from holdfast.serve.rows import RowReader, ServedRow


class Answer(NamedTuple):
    """What is sent, and what the label will be judged with."""

    sent: dict[str, Any]
    forecast: str


class Snapshot:
    """A model, and what it answers. It has all rows of the log up to `seq`."""

    def __init__(self, model: Model, seq: int, rounds: int, share: float) -> None:
        self.model, self.seq, self.rounds, self.share = model, seq, rounds, share
        self._known = model.key_indices()
        p = model.parameters
        self._fast = model.target.regression and model.key is None and _is_simple(model)
        if self._fast:
            # The arithmetic of `LinearModels`, for one row.
            self._center, self._factors, self._weights = p.center[0], p.factors[0], p.weights[0]
            self._limits = float(p.knee[0]), float(p.clip[0]), float(p.wild[0])
            self._line = float(p.constant[0]), float(p.y_center[0]), float(p.y_spread[0])
            self._range = float(p.low[0]), float(p.high[0])
            assert model.threshold is not None
            self._threshold = float(model.threshold[0])
            ends = interval(model, np.zeros(1), share)
            self._width = float(ends[1][0])

    def answer(self, reader: RowReader, rows: list[ServedRow], keys: list[str]) -> list[Answer]:
        found: list[Answer | None] = [self._quick(row) if self._fast and row.plain else None for row in rows]
        rest = [i for i, one in enumerate(found) if one is None]
        if rest:
            whole = self._whole(reader, [rows[i] for i in rest], [keys[i] for i in rest])
            for i, one in zip(rest, whole, strict=True):
                found[i] = one
        return [one for one in found if one is not None]

    def _quick(self, row: ServedRow) -> Answer | None:
        """The answer about an ordinary row; None if anything has to be said about it."""
        z = (row.x - self._center) * self._factors
        far = float(np.abs(z).max())
        knee, clip, wild = self._limits
        if not far <= min(self._threshold, wild):
            return None
        if far > knee:
            beyond = np.abs(z) - knee
            z = np.where(beyond > 0.0, np.copysign(knee + np.log1p(np.maximum(beyond, 0.0)), z), z)
        if far > clip:
            z = np.minimum(np.maximum(z, -clip), clip)
        constant, center, spread = self._line
        y = center + spread * (float((z * self._weights)[None].sum(axis=1)[0]) + constant)
        y = min(max(y, self._range[0]), self._range[1])
        if not math.isfinite(y):
            return None
        known = self._width == self._width
        sent = {
            "prediction": y,
            "low": y - self._width if known else None,
            "high": y + self._width if known else None,
        }
        return Answer(sent | {"outlier": False, "note": ""}, '{"prediction": %r, "outlier": false}' % y)  # noqa: UP031

    def _whole(self, reader: RowReader, rows: list[ServedRow], keys: list[str]) -> list[Answer]:
        """The answers that `holdfast predict` gives."""
        model, (features, faults) = self.model, reader.batch(rows)
        arrow = pa.array(keys, pa.string()) if model.key is not None else None
        y = np.full(len(rows), math.nan)
        piece = Piece(features, y, arrow, np.arange(1, 1 + len(rows)), faults, None, 0, None, {})
        table, _ = answers(model, self._known, piece, self.share)
        margins: list[Any] = [None] * len(rows)
        if not model.target.regression:
            places = np.array([self._known.get(key, -1) if model.key is not None else 0 for key in keys], int)
            found = label_margins(model.outcomes(features, places))
            margins = [None if not np.isfinite(each).all() else each.tolist() for each in found]
        result = []
        for each, margin in zip(table.to_pylist(), margins, strict=True):
            sent = {"prediction": each["prediction"]}
            if model.target.regression:
                sent |= {"low": each["low"], "high": each["high"]}
            else:
                labels = json.loads(each["labels"]) if each["labels"] else None
                sent |= {"labels": labels, "probability": each["probability"]}
            column = each["outlier_column"]
            note = each["note"] or (f"{column} is far from the rows learned from" if column else "")
            sent |= {"outlier": bool(each["outlier"]), "note": note}
            judged = {"prediction": each["prediction"], "outlier": bool(each["outlier"])}
            judged |= {} if model.target.regression else {"margins": margin}
            result.append(Answer(sent, json.dumps(judged)))
        return result


def _is_simple(model: Model) -> bool:
    """Whether the filter compares the farthest cell, unclipped, with a threshold."""
    measure, threshold = model.measure, model.threshold
    if measure is None or threshold is None or not 0.0 < float(threshold[0]) < math.inf:
        return False
    return (
        measure.farthest
        and measure.clip is None
        and not measure.constant
        and len(model.parameters.weights) == 1
    )
