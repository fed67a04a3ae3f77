"""The model of a run: written and read without executing anything (`docs/run-folder.md`)."""

import json
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from holdfast.runs.folder import RunError
from holdfast.tables import Layout, Target, read_layout, read_target

FORMAT = "holdfast model 1"
FILE = "model.safetensors"


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
            "features": [] if self.layout.is_sparse() else self.layout.features(),
            "layout": self.layout.to_json(),
            "target": self.target.to_json(),
            "key": self.key,
            "keys": list(self.keys),
        }
        return save(self.parameters, metadata={"holdfast": json.dumps(about, sort_keys=True)})


def read_model(path):
    """The model in a file."""
    about, tensors = read_tensors(path, FORMAT)
    layout, target = read_layout(about["layout"]), read_target(about["target"])
    return Model(layout, target, tuple(about["keys"]), about["key"], tensors)


def read_tensors(path, form):
    """What is said in a file of tensors, and the tensors."""
    try:
        data = path.read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        about = json.loads(header["__metadata__"]["holdfast"])
        tensors = load(data)
    except FileNotFoundError:
        raise RunError(
            f"{path.parent} is no run of holdfast, or has learned nothing yet: no {path.name} in it"
        ) from None
    except (OSError, ValueError, KeyError, SafetensorError) as problem:
        raise RunError(f"{path} is damaged: {problem}") from None
    if about.get("format") != form:
        raise RunError(f"{path} is {about.get('format')!r}, and this version of holdfast reads {form!r}")
    return about, tensors
