"""The model of a run: written and read without executing anything (`docs/run-folder.md`)."""

import json
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from holdfast.flatten import digest, flatten, restore
from holdfast.io.columns import Layout, Target, read_layout, read_target
from holdfast.io.typed import typed
from holdfast.runs.files import RunError, damaged, of_another_layout
from holdfast.runs.outcomes import margins_of
from holdfast.runs.tensor_file import tensor_buffers
from holdfast.vectors import values_of

FORMAT = "holdfast model 3"  # the number changes with the formula in docs/run-folder.md
FILE = "model.safetensors"
# Earlier formats, and the values of the parameters that they do not have.
EARLIER: dict[str, dict[str, float]] = {"holdfast model 2": {}, "holdfast model 1": {"knee": np.inf}}
_UNPAIRED = ("holdfast model 1", "holdfast model 2")  # each of three labels or more against all others
_WIDE = ("center", "factors", "weights")  # with one entry for each feature
_AXES = ("games", "features")
# Tensors that a model may have too: without them there are no intervals, probabilities or outliers.
_RECENT, _THRESHOLD = "recent", "threshold"


class Parameters(NamedTuple):
    """The numbers that predict. The first axis of each array is the model: keys times labels."""

    center: Any
    factors: Any
    weights: Any
    knee: Any
    clip: Any
    constant: Any
    high: Any
    low: Any
    y_center: Any
    y_spread: Any


def zero_parameters(models, features):
    return Parameters(*map(np.zeros, _shapes(models, features).values()))


def _shapes(models, features):
    return {name: (models, features) if name in _WIDE else (models,) for name in Parameters._fields}


_LAYOUT = {name: ["float64", _AXES[: len(shape)]] for name, shape in _shapes(0, 0).items()}


def collect_scaled(player, state, packed, buffer, starts, scratch, found):
    """Write the parameters of each game into `found`, for learners that scale their features."""
    dim = found.weights.shape[1]
    for game in range(len(starts)):
        state, _ = restore(state, buffer, starts[game])
        if packed:
            state = player.from_stored(state)
        w = player.current_weights(state)
        v = values_of(w.v)
        found.weights[game], found.constant[game] = v[:dim], v[dim]
        found.center[game], found.factors[game] = w.center, w.factors
        found.y_center[game], found.y_spread[game] = w.y_center, w.y_spread
        # If targets are not scaled, predictions have no limits.
        bounded = w.y_low <= w.y_high
        found.low[game] = w.y_low - w.y_spread if bounded else -np.inf
        found.high[game] = w.y_high + w.y_spread if bounded else np.inf
        flatten(state, scratch, 0)  # empties the histograms
    return 0


def collect_plain(player, state, packed, buffer, starts, scratch, found):
    """Write the parameters of each game into `found`, for learners that do not scale their features."""
    dim = found.weights.shape[1]
    for game in range(len(starts)):
        state, _ = restore(state, buffer, starts[game])
        if packed:
            state = player.from_stored(state)
        v = values_of(player.current_weights(state))
        found.weights[game], found.constant[game] = v[:dim], v[dim]
        found.factors[game], found.y_spread[game] = 1.0, 1.0
        found.low[game], found.high[game] = -np.inf, np.inf
        flatten(state, scratch, 0)
    return 0


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
    parameters: dict[str, np.ndarray]
    prior: bool = False  # whether there is one more model after those of the keys, for all other keys
    recent: np.ndarray | None = None  # recent results (`holdfast.runs.answers`)
    threshold: np.ndarray | None = None  # above which the features of a row are outliers, for each key
    measure: RowMeasure | None = None  # what is compared with the threshold
    paired: bool = False  # whether three to 20 labels have a game for each pair; not in earlier versions

    def names(self):
        """The names of the games of a key."""
        return self.target.model_names(self.paired)

    def has_pairs(self):
        """Whether there are three labels or more, and a game for each pair of them."""
        return len(self.target.labels) > 2 and self.target.class_models(self.paired)[0].is_pair()

    def key_indices(self):
        """The index of each key."""
        return {key: i for i, key in enumerate(self.keys)}

    @np.errstate(all="ignore")
    def outcomes(self, rows, places):
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
            z = rows.scores(p, models) + p["constant"][models]
            y = p["y_center"][models] + p["y_spread"][models] * z
            found[:, game] = np.where(places >= 0, np.clip(y, p["low"][models], p["high"][models]), np.nan)
        return margins_of(self.target, found, self.paired)

    def answers(self, outcomes):
        """The predictions: numbers, or labels."""
        if self.target.regression:
            return outcomes[:, 0]
        if len(self.target.labels) == 2:
            codes = (outcomes[:, 0] > 0.0).astype(int)
        else:
            codes = np.where(np.isnan(outcomes), -np.inf, outcomes).argmax(axis=1)
        return np.array(self.target.labels, object)[codes]

    def to_bytes(self):
        """The content of the file."""
        return b"".join(self.buffers())

    def buffers(self):
        """The content of the file, in parts that follow each other."""
        header = {
            "format": FORMAT,
            "parameter_layout": digest(_layout(self.parameters)),
            "features": [] if self.layout.is_sparse() else self.layout.features(),
            "layout": self.layout.to_json(),
            "target": self.target.to_json(),
            "key": self.key,
            "keys": list(self.keys),
            "measure": None if self.measure is None else self.measure._asdict(),
            "prior": self.prior,
        }
        more = {_RECENT: self.recent, _THRESHOLD: self.threshold}
        tensors = self.parameters | {name: array for name, array in more.items() if array is not None}
        return tensor_buffers(tensors, {"holdfast": json.dumps(header, sort_keys=True)})


def read_model(folder):
    """The model of a run; raises if a tensor does not have the shape that columns, labels and keys imply."""
    path = folder.path / FILE
    header, tensors = read_tensors(path, folder.read(FILE), FORMAT, *EARLIER)
    added = EARLIER.get(header["format"], {})
    if header.get("parameter_layout") != digest({n: what for n, what in _LAYOUT.items() if n not in added}):
        raise of_another_layout(path, "the parameters")
    try:
        key, keys = typed(_Keys, {name: header.get(name) for name in _Keys._fields})
        layout, target = read_layout(header.get("layout")), read_target(header.get("target"))
        measure = header.get("measure")
        if isinstance(measure, dict):  # in earlier versions there was always a constant
            measure = {"constant": True} | measure
        measure = None if measure is None else typed(RowMeasure, measure)
    except ValueError as problem:
        raise damaged(path, problem) from None
    prior = header.get("prior", False) is True
    if len(set(keys)) < len(keys) or (key is None) != (not keys) or (prior and not keys):
        raise damaged(path, "its keys are not those of a model")
    paired = header["format"] not in _UNPAIRED
    games = ((len(keys) or 1) + prior) * len(target.model_names(paired))
    shapes = _shapes(games, layout.feature_count())
    tensors |= {name: np.full(shapes[name], value) for name, value in added.items()}
    shapes |= {_RECENT: (len(tensors.get(_RECENT, ())), 2)} if _RECENT in tensors else {}
    shapes |= {_THRESHOLD: (len(keys) or 1,)} if _THRESHOLD in tensors else {}
    if set(tensors) != set(shapes):
        raise damaged(path, f"its tensors are not {', '.join(sorted(shapes))}")
    for name, array in tensors.items():
        if array.dtype != np.float64 or array.shape != shapes[name]:
            raise damaged(path, f"{name} cannot be {array.dtype} of shape {array.shape}")
    more = tensors.pop(_RECENT, None), tensors.pop(_THRESHOLD, None), measure
    return Model(layout, target, keys, key, tensors, prior, *more, paired)


def _layout(parameters):
    """Names, types and axes, without the lengths of the axes."""
    return {name: [array.dtype.name, _AXES[: array.ndim]] for name, array in parameters.items()}


class _Keys(NamedTuple):
    key: str | None
    keys: tuple[str, ...]


def read_tensors(path, data, *forms):
    """The header and the tensors of a safetensors file of one of these formats."""
    try:
        outer = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        header = json.loads(outer["__metadata__"]["holdfast"])
        tensors = load(data)
    except (ValueError, KeyError, TypeError, RecursionError, SafetensorError) as problem:
        raise damaged(path, f"no safetensors file ({str(problem)[:80]})") from None
    if not isinstance(header, dict) or header.get("format") not in forms:
        found = header.get("format") if isinstance(header, dict) else header
        raise RunError(
            f"{path} is {str(found)[:40]!r}, and this version of holdfast reads {forms[0]!r}; "
            "learn again into another folder with --to"
        )
    return header, tensors
