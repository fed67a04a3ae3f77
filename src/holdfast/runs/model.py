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
    def outcomes(self, X, places):
        """A number for every row and label, of the key at each place; the constant's if cells are missing."""
        games = len(self.target.games()) or 1
        found = np.full((len(X), games), np.nan)
        known, rows = np.isfinite(X).all(axis=1), np.flatnonzero(places >= 0)
        for label in range(games):
            which = places[rows] * games + label
            if self.key is None:  # one model for all rows: matrices can be multiplied
                which = np.full(1, label)
            p = {name: array[which] for name, array in self.parameters.items()}
            clip = p["clip"][:, None]
            Z = np.clip((X[rows] - p["center"]) * p["factors"], -clip, clip)
            products = Z @ p["weights"][0] if self.key is None else (Z * p["weights"]).sum(axis=1)
            z = np.where(known[rows], products, 0.0) + p["constant"]
            found[rows, label] = np.clip(p["y_center"] + p["y_spread"] * z, p["low"], p["high"])
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
            "features": self.layout.features(),
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
