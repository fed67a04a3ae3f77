"""A few rounds in plain Python before the game, so that a mistake in someone's own rule is met in words."""

import copy
import functools

import numpy as np

from holdfast import protocols
from holdfast.game import Filtered
from holdfast.guard import Guarded
from holdfast.norms import L2
from holdfast.role_checks import check_role, roles_of, rules_in
from holdfast.vectors import ForecastWeights, ScaledWeights, Sparse

_SIZES = (1.0, 1e9, 0.5)  # something to learn from, an outlier, and something to learn from again
_EXAMPLES = ((0.5, 1.0), (2.0, -1.0))  # predictions and targets


def check_first_round(player, dim, adversary=None):
    """Raise TypeError if a rule lacks a method, or answers in the wrong shape.

    Python would stumble over such a mistake later and elsewhere, and the compiler with a page of types.
    """
    rehearse_part(player, protocols.Player, dim)
    if adversary is not None:
        with np.errstate(all="ignore"):
            _rehearse_adversary(adversary, player.predict(player.init(dim)))


@np.errstate(all="ignore")
def rehearse_part(rule, role, dim):
    """The same of one rule, in this role."""
    try:
        _rehearse_once(rule, role, dim)
    except TypeError as problem:
        if "unhashable" not in str(problem):
            raise
        _rehearse_once.__wrapped__(rule, role, dim)


def checked_extent(adversary):
    """The number of rounds and of weights of an adversary, if it is one."""
    check_role(adversary, protocols.Adversary)
    answer = adversary.extent()
    is_extent = _is_tuple(answer, 2) and all(isinstance(count, int | np.integer) for count in answer)
    _expect(is_extent, f"{type(adversary).__name__}.extent must return (rounds, dim)", answer)
    return answer


@functools.lru_cache(maxsize=64)  # the same rule gives the same answers
def _rehearse_once(rule, role, dim):
    check_role(rule, role)
    rule.check_dim(dim)
    _rehearse(rule, role, dim)


def _rehearse(rule, role, dim):
    """Ask a rule, and before it the rules inside: they are to blame if both answer wrongly.

    Our own rules are not asked: tests do that, and in Python some take minutes in many dimensions.
    """
    from holdfast.learners.scaled import Scaled  # not above: few games need it

    inner = dim + 1 if isinstance(rule, Scaled) else dim  # whose learner has a constant, too
    for part, inner_role in rules_in(rule):
        if part is not None:
            _rehearse(part, inner_role, inner)
    if isinstance(rule, Filtered | Guarded) and not _is_ours(rule.on):
        ask_measure(rule, dim)
    if not _is_ours(rule):
        ask(rule, role, dim)


def _is_ours(rule):
    return type(rule).__module__.startswith("holdfast.")


def ask(rule, role, dim):
    """Raise TypeError if a rule answers in the wrong shape."""
    _ASKING.get(roles_of(role)[0], _ask_nothing)(rule, dim)


def _ask_nothing(rule, dim):
    """Its methods are all that is asked for."""


def _ask_player(player, dim):
    asked = type(player).__name__
    state = player.init(dim)
    for size in _SIZES:
        _expect_weights(f"{asked}.predict", player.predict(state), dim)
        before, state = state, player.set_target(state, 1.0)
        _compare(f"{asked}.set_target", "state", before, state)
        answer = player.observe(state, size, np.ones(dim))
        _expect(_is_tuple(answer, 2), f"{asked}.observe must return (state, decision)", answer)
        before, (state, decision) = state, answer
        _expect(_is_decision(decision), f"{asked}.observe must return a holdfast.Decision, second", decision)
        _compare(f"{asked}.observe", "state", before, state)
    _expect_weights(f"{asked}.current_weights", player.current_weights(state), dim)


def _ask_filter(filter, dim):
    asked = f"{type(filter).__name__}.decide"
    state = filter.init(dim)
    for size in _SIZES:
        before, answer = state, filter.decide(state, size)
        _expect(_is_tuple(answer, 3), f"{asked} must return (state, threshold, kept)", answer)
        state, threshold, kept = answer
        _expect(_is_number(threshold), f"{asked} must return the threshold as a number, second", threshold)
        _expect(_is_bool(kept), f"{asked} must return kept as True or False, third", kept)
        _compare(asked, "state", before, state)
    _expect_answer(filter, "restarts", _is_bool, "True or False", state)


def _ask_learner(learner, dim):
    asked = type(learner).__name__
    state = learner.init(dim)
    if learner.needs_hints():
        before, state = state, learner.set_hint(state, 2e9 * dim)
        _compare(f"{asked}.set_hint", "state", before, state)
    for size in _SIZES:
        _expect_weights(f"{asked}.predict", learner.predict(state), dim)
        before, state = state, learner.update(state, size, np.ones(dim))
        _compare(f"{asked}.update", "state", before, state)


def ask_measure(player, dim):
    """A measure is asked as its player does."""
    on, learner, norm, x = player.on, player.learner, player.norm.dual(), np.ones(dim)
    state = learner.init(dim)
    row = learner.transform_row(state, x)
    _expect_number(on, "size_of_transformed", learner, state, norm, 1.0, x, row, norm.of(row))


def _ask_loss(loss, dim):
    for z, y in _EXAMPLES:
        _expect_number(loss, "value", z, y)
        _expect_number(loss, "slope", z, y)


def _ask_norm(norm, dim):
    dual = norm.dual()
    check_role(dual, protocols.Norm)
    for one in (norm, dual):
        _expect_number(one, "of", np.ones(dim))


def _ask_domain(domain, dim):
    asked = type(domain).__name__
    w = domain.center(dim)
    _expect_weights(f"{asked}.center", w, dim)
    _expect_weights(f"{asked}.project", domain.project(w + 1.0), dim)
    _expect_number(domain, "diameter", L2(), dim)
    _expect_number(domain, "support", np.ones(dim))
    _expect_answer(domain, "bounded", _is_bool, "True or False")


def _ask_step(step, dim):
    tally = step.accrued(0.0, 1.0)
    _expect_number(step, "accrued", 0.0, 1.0)
    _expect_number(step, "eta", tally, 1.0)
    _expect_number(step, "held", tally, 1.0)


_ASKING = {
    protocols.Player: _ask_player,
    protocols.Filter: _ask_filter,
    protocols.Learner: _ask_learner,
    protocols.LearnerInDomain: _ask_learner,
    protocols.Loss: _ask_loss,
    protocols.Norm: _ask_norm,
    protocols.Domain: _ask_domain,
    protocols.Step: _ask_step,
}


def _rehearse_adversary(adversary, w):
    rounds, dim = checked_extent(adversary)
    for part, role in rules_in(adversary):
        if role is protocols.Adversary:
            _rehearse_adversary(part, w)
        else:
            _rehearse(part, role, dim)
    if rounds == 0:
        return
    asked = f"{type(adversary).__name__}.reveal"
    state = adversary.start()
    _expect_number(adversary, "target_at", 0)
    _expect_answer(adversary, "is_sparse", _is_bool, "True or False")
    answer = adversary.reveal(copy.deepcopy(state), 0, w)
    _expect(_is_tuple(answer, 4), f"{asked} must return (state, loss, slope, x)", answer)
    after, loss, slope, x = answer
    _expect(_is_number(loss), f"{asked} must return the loss as a number, second", loss)
    _expect(_is_number(slope), f"{asked} must return the slope as a number, third", slope)
    is_row = isinstance(x, np.ndarray) and x.shape == (dim,) and x.dtype in (np.float64, np.float32)
    is_row |= isinstance(x, Sparse) and x.dim == dim
    _expect(is_row, f"{asked} must return x as an array of {dim} floats, fourth", x)
    _compare(asked, "state", state, after)


def _expect_weights(asked, w, dim):
    is_row = isinstance(w, np.ndarray) and w.shape == (dim,) and w.dtype == np.float64
    is_row |= isinstance(w, ScaledWeights | ForecastWeights)
    _expect(is_row, f"{asked} must return a float64 array of {dim} weights", w)


def _expect_number(rule, method, *args):
    _expect_answer(rule, method, _is_number, "a number", *args)


def _expect_answer(rule, method, is_right, wanted, *args):
    answer = getattr(rule, method)(*args)
    _expect(is_right(answer), f"{type(rule).__name__}.{method} must return {wanted}", answer)


def _expect(fulfilled, demand, answer):
    if not fulfilled:
        raise TypeError(f"{demand}: got {_short(answer)}")


def _is_tuple(value, length):
    return isinstance(value, tuple) and len(value) == length


def _is_number(value):
    return isinstance(value, float | int | np.floating | np.integer)


def _is_bool(value):
    return isinstance(value, bool | np.bool_)


def _is_decision(value):
    figures = [getattr(value, name, None) for name in ("size", "threshold")]
    is_round = _is_bool(getattr(value, "kept", None)) and all(map(_is_number, figures))
    return is_round and callable(getattr(value, "others", None))


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
