"""One round in plain Python before the game, so that a mistake in someone's own rule is met in words."""

import copy

import numpy as np


def rehearse(player, dim):
    """Ask the filter and the learner of `player` for one round; raise TypeError if they answer in the wrong shape.

    Python would stumble over such a mistake later and elsewhere, and the compiler with a page of types.
    """
    asked = f"{type(player.filter).__name__}.decide"
    memory = player.filter.init(dim)
    answer = player.filter.decide(copy.deepcopy(memory), 1.0)
    if not (isinstance(answer, tuple) and len(answer) == 3):
        raise TypeError(f"{asked} must return (state, threshold, kept): got {_short(answer)}")
    if not isinstance(answer[2], bool | np.bool_):
        raise TypeError(f"{asked} must return kept as True or False, third: got {_short(answer[2])}")
    if not isinstance(answer[1], float | int | np.floating):
        raise TypeError(f"{asked} must return the threshold as a number, second: got {_short(answer[1])}")
    _compare(asked, "state", memory, answer[0])

    asked = type(player.learner).__name__
    state = player.learner.init(dim)
    w = player.learner.predict(state)
    if not (isinstance(w, np.ndarray) and w.shape == (dim,) and w.dtype == np.float64):
        raise TypeError(f"{asked}.predict must return a float64 array of {dim} weights: got {_short(w)}")
    _compare(
        f"{asked}.update", "state", state, player.learner.update(copy.deepcopy(state), 1.0, np.ones(dim))
    )


def _compare(asked, path, before, after):
    """A state must keep its types from round to round: the compiler fixes them in the first."""
    if isinstance(before, tuple) and type(before) is type(after) and len(before) == len(after):
        names = getattr(before, "_fields", range(len(before)))
        for name, one, other in zip(names, before, after, strict=True):
            _compare(asked, f"{path}.{name}", one, other)
    elif _kind(before) != _kind(after):
        remedy = (
            " Start it as a float, such as 0.0." if (_kind(before), _kind(after)) == ("int", "float") else ""
        )
        raise TypeError(f"{asked} turns {path} from {_kind(before)} into {_kind(after)}.{remedy}")


def _kind(value):
    if isinstance(value, np.ndarray):
        return f"a {value.ndim}-dimensional array of {value.dtype}"
    for name, types in (
        ("bool", (bool, np.bool_)),
        ("int", (int, np.integer)),
        ("float", (float, np.floating)),
    ):
        if isinstance(value, types):
            return name
    return type(value).__name__


def _short(value):
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
