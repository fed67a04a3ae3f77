"""The model of a run: written and read without executing anything (`docs/run-folder.md`)."""

import json
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from holdfast.flatten import digest
from holdfast.io.tables import Layout, Target, read_layout, read_target
from holdfast.io.typed import typed
from holdfast.runs.folder import RunError, damaged, of_another_layout

FORMAT = "holdfast model 1"  # the number is that of the formula in docs/run-folder.md
FILE = "model.safetensors"
_WIDE = ("center", "factors", "weights")
_FLAT = ("clip", "constant", "high", "low", "y_center", "y_spread")
_AXES = ("games", "features")
_LAYOUT = {name: ["float64", _AXES] for name in _WIDE} | {name: ["float64", _AXES[:1]] for name in _FLAT}


class Model(NamedTuple):
    """What predicts: of every key and label, weights of features in their own units of length."""

    layout: Layout
    target: Target
    keys: tuple[str, ...]
    key: str | None
    parameters: dict[str, np.ndarray]  # the first axis: keys times labels

    @np.errstate(all="ignore")
    def outcomes(self, rows, places):
        """A number for every row and label, of the key at each place; the constant's if cells are missing."""
        games = len(self.target.games()) or 1
        found = np.full((len(rows), games), np.nan)
        p = self.parameters
        for label in range(games):
            # Without keys there is one model for all rows; a row of an unknown key gets any, and no answer.
            which = np.maximum(places, 0) * games + label if self.key is not None else np.full(1, label)
            z = rows.scores(p, which) + p["constant"][which]
            y = p["y_center"][which] + p["y_spread"][which] * z
            found[:, label] = np.where(places >= 0, np.clip(y, p["low"][which], p["high"][which]), np.nan)
        return found

    def answers(self, outcomes):
        """Numbers, or labels."""
        if self.target.regression:
            return outcomes[:, 0]
        if len(self.target.labels) == 2:
            codes = (outcomes[:, 0] > 0.0).astype(int)
        else:
            codes = np.where(np.isnan(outcomes), -np.inf, outcomes).argmax(axis=1)
        return np.array(self.target.labels, object)[codes]

    def to_bytes(self):
        about = {
            "format": FORMAT,
            "parameter_layout": digest(_layout(self.parameters)),
            "features": [] if self.layout.is_sparse() else self.layout.features(),
            "layout": self.layout.to_json(),
            "target": self.target.to_json(),
            "key": self.key,
            "keys": list(self.keys),
        }
        return save(self.parameters, metadata={"holdfast": json.dumps(about, sort_keys=True)})


def read_model(folder):
    """The model of a run; every tensor has the shape that the layout, the labels and the keys imply."""
    path = folder.path / FILE
    about, tensors = read_tensors(path, folder.read(FILE), FORMAT)
    if about.get("parameter_layout") != digest(_LAYOUT):
        raise of_another_layout(path, "the parameters")
    try:
        parts = {name: about.get(name) for name in ("key", "keys")}
        key, keys = typed(_Keys, parts)
        layout, target = read_layout(about.get("layout")), read_target(about.get("target"))
    except ValueError as problem:
        raise damaged(path, problem) from None
    if len(set(keys)) < len(keys) or (key is None) != (not keys):
        raise damaged(path, "its keys are not those of a model")
    games = (len(keys) or 1) * (len(target.games()) or 1)
    shapes = dict.fromkeys(_WIDE, (games, layout.breadth())) | dict.fromkeys(_FLAT, (games,))
    check_tensors(path, tensors, dict.fromkeys(shapes, np.float64), shapes)
    return Model(layout, target, keys, key, tensors)


def _layout(parameters):
    """Names, types and axes; not how many games and features there are."""
    return {name: [array.dtype.name, _AXES[: array.ndim]] for name, array in parameters.items()}


class _Keys(NamedTuple):
    key: str | None
    keys: tuple[str, ...]


def read_tensors(path, data, form):
    """What is said in a file of tensors, and the tensors."""
    try:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        about = json.loads(header["__metadata__"]["holdfast"])
        tensors = load(data)
    except (ValueError, KeyError, TypeError, RecursionError, SafetensorError) as problem:
        raise damaged(path, f"no safetensors file ({str(problem)[:80]})") from None
    if not isinstance(about, dict) or about.get("format") != form:
        found = about.get("format") if isinstance(about, dict) else about
        raise RunError(
            f"{path} is {str(found)[:40]!r}, and this version of holdfast reads {form!r}; "
            "learn again into another folder with --to"
        )
    return about, tensors


def check_tensors(path, tensors, kinds, shapes):
    """Raise unless there are these tensors and no others, of these types and shapes; None is any length."""
    if set(tensors) != set(kinds):
        raise damaged(path, f"its tensors are not {', '.join(sorted(kinds))}")
    for name, array in tensors.items():
        shape = shapes[name]
        fits = array.dtype == kinds[name] and array.ndim == len(shape)
        if not fits or any(want not in (None, size) for size, want in zip(array.shape, shape, strict=True)):
            raise damaged(path, f"{name} cannot be {array.dtype} of shape {array.shape}")
