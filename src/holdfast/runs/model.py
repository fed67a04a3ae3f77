"""The model of a run: written and read without executing anything (`docs/run-folder.md`)."""

import contextlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast.flatten import digest
from holdfast.fleet.tensor_file import Buffer, read_tensors, tensor_buffers
from holdfast.io.columns import Layout, Target, read_layout, read_target
from holdfast.io.rows import DenseRows, SparseRows
from holdfast.io.typed import typed
from holdfast.linear_model import LinearModels, class_margins, shapes_of, wild_limit
from holdfast.runs.files import RunError, of_another_layout, reading
from holdfast.runs.folder import Folder

FORMAT = "holdfast model 4"  # the number changes with the formula in docs/run-folder.md
FILE = "model.safetensors"
_AXES = ("games", "features")
# Tensors that a model may have too: without them there are no probabilities, outliers or intervals.
_OPTIONAL = ("recent", "threshold", "widths")
_LAYOUT = {name: ["float64", _AXES[: len(shape)]] for name, shape in shapes_of(0, 0).items()}


class RowMeasure(NamedTuple):
    """How the filter of rows measures a row: its farthest cell, or its Euclidean length.

    Cells are in units of the running scale, each at most `clip`; None if there is no limit. With `constant`,
    there is one more cell, which is 1.
    """

    farthest: bool
    clip: float | None
    constant: bool = True


class Model(NamedTuple):
    """What predicts: for every key and game, the weights of the features and their scale."""

    layout: Layout
    target: Target
    keys: tuple[str, ...]
    key: str | None
    parameters: LinearModels
    prior: bool = False  # whether there is one more model after those of the keys, for all other keys
    recent: np.ndarray | None = None  # recent results (`holdfast.runs.answers`)
    threshold: np.ndarray | None = None  # above which the features of a row are outliers, for each key
    measure: RowMeasure | None = None  # what is compared with the threshold
    widths: np.ndarray | None = None  # coverages, and the width of their intervals; infinite before the first

    def names(self) -> tuple[str, ...]:
        return self.target.model_names()

    def has_pairs(self) -> bool:
        """Whether there are three labels or more, and a game for each pair of them."""
        return len(self.target.labels) > 2 and self.target.class_models()[0].is_pair()

    def key_indices(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self.keys)}

    @np.errstate(all="ignore")
    def outcomes(self, rows: DenseRows | SparseRows, places: np.ndarray) -> np.ndarray:
        """A number for each row and label, by the model of the row's key, whose index is in `places`.

        If the index is -1, for an unknown key, it is by the shared prior, or NaN if there is none. A missing
        or infinite cell counts as the center of its column.
        """
        games = len(self.names())
        if self.prior:
            places = np.where(places < 0, len(self.keys), places)
        found = np.full((len(rows), games), np.nan)
        p = self.parameters
        for game in range(games):
            # Without keys there is one model for all rows. A row of an unknown key gets any model, then NaN.
            models = np.maximum(places, 0) * games + game if self.key is not None else np.full(1, game)
            y = p.predictions(rows.scores(p, models), models)
            found[:, game] = np.where(places >= 0, y, np.nan)
        return margins_of(self.target, found)

    def answers(self, outcomes: np.ndarray) -> np.ndarray:
        if self.target.regression:
            return outcomes[:, 0]
        if len(self.target.labels) == 2:
            codes = (outcomes[:, 0] > 0.0).astype(int)
        else:
            codes = np.where(np.isnan(outcomes), -np.inf, outcomes).argmax(axis=1)
        return np.array(self.target.labels, object)[codes]

    def to_bytes(self) -> bytes:
        return b"".join(self.buffers())

    def buffers(self) -> list[Buffer]:
        """The content of the file, in parts that follow each other."""
        header = {
            "format": FORMAT,
            "parameter_layout": digest(_layout(self.parameters._asdict())),
            "features": [] if self.layout.is_sparse() else self.layout.features(),
            "layout": self.layout.to_json(),
            "target": self.target.to_json(),
            "key": self.key,
            "keys": list(self.keys),
            "measure": None if self.measure is None else self.measure._asdict(),
            "prior": self.prior,
        }
        more = {name: getattr(self, name) for name in _OPTIONAL if getattr(self, name) is not None}
        return tensor_buffers(self.parameters._asdict() | more, header)


def with_wild(p: LinearModels, thresholds: np.ndarray, measure: RowMeasure, games: int) -> LinearModels:
    """The models, with the limit of wild cells from the last thresholds of the keys.

    It is a limit only where the filter compares the farthest cell of a row with it: then learning would skip
    a row with such a cell. Models of other keys, at the end, have none.
    """
    if not measure.farthest or measure.clip is not None:
        return p
    known = np.where(thresholds > 0.0, thresholds, np.inf)
    wild = np.full(len(p.wild), np.inf)
    wild[: len(known) * games] = np.repeat(np.nan_to_num(known, nan=np.inf, posinf=np.inf), games)
    return p._replace(wild=wild_limit(wild, p.knee))


def read_model(folder: Folder) -> Model:
    """The model of a run; raises if a tensor does not have the shape that columns, labels and keys imply."""
    path = folder.path / FILE
    with reading(path):
        header, tensors = read_tensors(folder.read(FILE), FORMAT)
        if header.get("parameter_layout") != digest(_LAYOUT):
            raise of_another_layout(path, "the parameters")
        about = typed(_Header, {name: header.get(name) for name in _Header._fields}, _READERS)
        keys, prior = about.keys, about.prior
        if len(set(keys)) < len(keys) or (about.key is None) != (not keys) or (prior and not keys):
            raise ValueError("its keys are not those of a model")
        games = ((len(keys) or 1) + prior) * len(about.target.model_names())
        shapes = shapes_of(games, about.layout.feature_count())
        for name in _OPTIONAL:
            if name in tensors:
                shapes[name] = (len(keys) or 1,) if name == "threshold" else (len(tensors[name]), 2)
        if set(tensors) != set(shapes):
            raise ValueError(f"its tensors are not {', '.join(sorted(shapes))}")
        for name, array in tensors.items():
            if array.dtype != np.float64 or array.shape != shapes[name]:
                raise ValueError(f"{name} cannot be {array.dtype} of shape {array.shape}")
    more: dict[str, Any] = {name: tensors.pop(name, None) for name in _OPTIONAL} | {"measure": about.measure}
    return Model(about.layout, about.target, keys, about.key, LinearModels(**tensors), prior, **more)


def _layout(parameters: dict[str, np.ndarray]) -> dict[str, Any]:
    """Names, types and axes, without the lengths of the axes."""
    return {name: [array.dtype.name, _AXES[: array.ndim]] for name, array in parameters.items()}


class _Header(NamedTuple):
    """What the header says of the model."""

    layout: Layout
    target: Target
    keys: tuple[str, ...]
    key: str | None
    prior: bool
    measure: RowMeasure | None


_READERS = {
    "layout": read_layout,
    "target": read_target,
    "measure": lambda found: None if found is None else typed(RowMeasure, found),
}


class NewestModel:
    """The model of a run that may be learning. It is read again when its file was replaced.

    If the new file cannot be read, or is that of a run with other columns, the model stays.
    """

    def __init__(self, path: str | Path) -> None:
        self._path, self._seen = path, _identity(path)
        self._model = read_model(Folder(path))

    def get(self) -> Model:
        """The model of the last checkpoint."""
        found = _identity(self._path)
        if found is not None and found != self._seen:
            with contextlib.suppress(RunError):
                model = read_model(Folder(self._path))
                if (model.layout, model.key) == (self._model.layout, self._model.key):
                    self._model, self._seen = model, found
        return self._model


def _identity(path: str | Path) -> tuple[int, int, int] | None:
    """What changes when the file of the model is replaced; None if it is not there."""
    try:
        found = os.stat(os.path.join(path, FILE))
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


# -- from targets to the targets of each game, and from the outcomes of games to predictions and errors


def targets_of(target: Target, y: np.ndarray) -> list[np.ndarray]:
    """The targets in each game: numbers, or +1 and -1 for two labels, or for a label and all others.

    In the game of a pair, the target is NaN for rows of other labels: they are predicted, and change nothing.
    A row without a label is one of the first game only.
    """
    if target.regression:
        return [np.where(np.isfinite(y), y, np.nan)]
    unknown = np.isnan(y)
    found: list[np.ndarray] = []
    for model in target.class_models():
        signs, taught = model.split(y)
        found.append(np.where(taught | unknown if not found else taught, signs, np.nan))
    return found


def margins_of(target: Target, outcomes: np.ndarray) -> np.ndarray:
    """A number for each label if there are three or more, from a column for each game; else the column."""
    return class_margins(outcomes, target.class_models()) if len(target.labels) > 2 else outcomes


def predictions_of(target: Target, margins: np.ndarray) -> np.ndarray:
    """The prediction of each round, from its margins: a number, or the index of a label."""
    if target.regression:
        return margins[:, 0]
    return (margins[:, 0] > 0.0 if margins.shape[1] == 1 else margins.argmax(axis=1)).astype(float)


def errors_of(target: Target, margins: np.ndarray, predicted: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The error of each prediction; NaN if it is unknown."""
    known = np.isfinite(margins).all(axis=1) & np.isfinite(y)
    with np.errstate(all="ignore"):
        errors = np.abs(predicted - y) if target.regression else predicted != y
    return np.where(known, errors, np.nan)
