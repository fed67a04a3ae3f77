"""A few rounds in plain Python before the game, so that a mistake in someone's own rule is met in words."""

import copy
import functools

import numpy as np

from holdfast.game import Filtered
from holdfast.rule import VERBS
from holdfast.vectors import Affine, Ahead, Sparse

_SIZES = (1.0, 1e9, 0.5)  # something to learn from, an outlier, and something to learn from again


@np.errstate(all="ignore")
def rehearse(player, dim, adversary=None):
    """Ask each rule for a round; raise TypeError if it answers in the wrong shape.

    Python would stumble over such a mistake later and elsewhere, and the compiler with a page of types.
    """
    try:
        _rehearse_player(player, dim)
    except TypeError as problem:
        if "unhashable" not in str(problem):
            raise
        _rehearse_player.__wrapped__(player, dim)
    if adversary is not None:
        _rehearse_adversary(adversary, dim, player.predict(player.init(dim)))


@functools.lru_cache(maxsize=64)  # the same rule gives the same answers
def _rehearse_player(player, dim):
    _demand(player, "player", "init", "predict", "observe")
    core = player.core()
    if isinstance(core, Filtered):
        _demand(core.filter, "filter", "init", "decide", "restarts")
        _demand(core.learner, "learner", "init", "predict", "update")
    player.fits(dim)
    if isinstance(core, Filtered):
        _rehearse_filter(core.filter, dim)
        _rehearse_learner(core.learner, dim)


def _rehearse_filter(filter, dim):
    asked = f"{type(filter).__name__}.decide"
    state = filter.init(dim)
    for size in _SIZES:
        before, answer = state, filter.decide(state, size)
        _expect(_is_tuple(answer, 3), f"{asked} must return (state, threshold, kept)", answer)
        state, threshold, kept = answer
        _expect(_is_number(threshold), f"{asked} must return the threshold as a number, second", threshold)
        _expect(isinstance(kept, bool | np.bool_), f"{asked} must return kept as True or False, third", kept)
        _compare(asked, "state", before, state)
    again = filter.restarts(state)
    _expect(
        isinstance(again, bool | np.bool_),
        f"{type(filter).__name__}.restarts must return True or False",
        again,
    )


def _rehearse_learner(learner, dim):
    asked = type(learner).__name__
    state = learner.init(dim)
    for size in _SIZES:
        w = learner.predict(state)
        is_row = isinstance(w, np.ndarray) and w.shape == (dim,) and w.dtype == np.float64
        is_row |= isinstance(w, Affine | Ahead)
        _expect(is_row, f"{asked}.predict must return a float64 array of {dim} weights", w)
        before, state = state, learner.update(state, size, np.ones(dim))
        _compare(f"{asked}.update", "state", before, state)


def _rehearse_adversary(adversary, dim, w):
    _demand(adversary, "adversary", "extent", "start", "reveal")
    if adversary.extent()[0] == 0:
        return
    asked = f"{type(adversary).__name__}.reveal"
    state = adversary.start()
    answer = adversary.reveal(copy.deepcopy(state), 0, w)
    _expect(_is_tuple(answer, 4), f"{asked} must return (state, loss, slope, x)", answer)
    after, loss, slope, x = answer
    _expect(_is_number(loss), f"{asked} must return the loss as a number, second", loss)
    _expect(_is_number(slope), f"{asked} must return the slope as a number, third", slope)
    is_row = isinstance(x, np.ndarray) and x.shape == (dim,) and x.dtype in (np.float64, np.float32)
    is_row |= isinstance(x, Sparse) and x.dim == dim
    _expect(is_row, f"{asked} must return x as an array of {dim} floats, fourth", x)
    _compare(asked, "state", state, after)


def _demand(rule, role, *verbs):
    if isinstance(rule, type):
        raise TypeError(f"{rule.__name__} is a class and no {role} yet: call it with its parameters")
    if not isinstance(rule, tuple):
        raise TypeError(f"{type(rule).__name__} cannot be a {role}: write @rule above its class")
    for verb in verbs:
        if not callable(getattr(rule, verb, None)):
            call = f"{verb}({', '.join(VERBS[verb])})"
            raise TypeError(f"{type(rule).__name__} cannot be a {role}: it has no method {call}")


def _expect(fulfilled, demand, answer):
    if not fulfilled:
        raise TypeError(f"{demand}: got {_short(answer)}")


def _is_tuple(value, length):
    return isinstance(value, tuple) and len(value) == length


def _is_number(value):
    return isinstance(value, float | int | np.floating | np.integer)


def _compare(asked, path, before, after):
    """A state must keep its types from round to round: the compiler fixes them in the first."""
    if isinstance(before, tuple) and type(before) is type(after) and len(before) == len(after):
        names = getattr(before, "_fields", range(len(before)))
        for name, one, other in zip(names, before, after, strict=True):
            _compare(asked, f"{path}.{name}", one, other)
    elif _kind(before) != _kind(after):
        becomes_float = (_kind(before), _kind(after)) == ("int", "float")
        remedy = "start it as a float, such as 0.0" if becomes_float else "a state must keep its types"
        raise TypeError(f"{asked} turns {path} from {_kind(before)} into {_kind(after)}: {remedy}")


def _kind(value):
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"a {value.ndim}-dimensional array of {value.dtype}"
    for name, types in _KINDS.items():
        if isinstance(value, types):
            return name
    return type(value).__name__


_KINDS = {"bool": (bool, np.bool_), "int": (int, np.integer), "float": (float, np.floating)}


def _short(value):
    text = " ".join(repr(value).split())
    return text if len(text) < 60 else text[:57] + "..."
