"""Play a few rounds in Python before a game, to report mistakes in a user's rule in one sentence."""

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast import protocols
from holdfast.checks import Guarded
from holdfast.game import Filtered
from holdfast.norms import L2
from holdfast.protocols import Weights
from holdfast.roles import check_role, role_of, rules_in
from holdfast.rounds import Round, Verdict, after_round
from holdfast.vectors import ForecastWeights, ScaledWeights, Sparse

_SIZES = (1.0, 1e9, 0.5)  # an ordinary size, an outlier, and another ordinary size
_EXAMPLES = ((0.5, 1.0), (2.0, -1.0))  # predictions and targets


def check_first_round(player: Any, dim: int, adversary: Any = None) -> None:
    """Raise TypeError if a rule lacks a method, or if a method returns a value of the wrong type or shape.

    Without this check Python would fail later in other code, and the compiler with a page of types.
    """
    check_rule(player, protocols.Player, dim)
    if adversary is not None:
        with np.errstate(all="ignore"):
            _check_adversary(adversary, player.predict(player.init(dim)))


@np.errstate(all="ignore")
def check_rule(rule: Any, role: Any, dim: int) -> None:
    """Raise TypeError if one rule cannot be used in this role."""
    try:
        _check_once(rule, role, dim)
    except TypeError as problem:
        if "unhashable" not in str(problem):
            raise
        _check_once.__wrapped__(rule, role, dim)


def check_restored(player: Any, state: Any) -> None:
    """Raise ValueError if this is not a state of the player: machine code uses its counts as indices."""
    valid = getattr(player, "valid", None)
    try:
        with np.errstate(all="ignore"):
            is_valid = valid is None or bool(valid(state))
    except Exception:  # whatever a method raises if the state has other fields
        is_valid = False
    if not is_valid:
        raise ValueError(
            f"what was stored is not a state of {type(player).__name__}, so it was damaged: "
            "use another copy, or learn again"
        )


def checked_extent(adversary: Any) -> tuple[int, int]:
    """The number of rounds and of weights of an adversary; raise TypeError if it is not an adversary."""
    check_role(adversary, protocols.Adversary)
    answer = adversary.extent()
    is_extent = _is_tuple(answer, 2) and all(isinstance(count, int | np.integer) for count in answer)
    _expect(is_extent, f"{type(adversary).__name__}.extent must return (rounds, dim)", answer)
    return answer


@functools.lru_cache(maxsize=64)  # one check for each rule is enough
def _check_once(rule: Any, role: Any, dim: int) -> None:
    check_role(rule, role)
    rule.check_dim(dim)
    _check_parts(rule, role, dim)


def _check_parts(rule: Any, role: Any, dim: int) -> None:
    """Check first the rules inside a rule and then the rule, so that the error names the innermost one.

    Rules of holdfast are not checked: its tests do that, and in many dimensions some take minutes in Python.
    """
    from holdfast.learners.scaled import Scaled  # imported here, because few games use it

    inner = dim + 1 if isinstance(rule, Scaled) else dim  # the learner of `Scaled` also has a constant
    for part, inner_role in rules_in(rule):
        if part is not None:
            _check_parts(part, inner_role, inner)
    for on in measures_of(rule):
        if not _is_ours(on):
            check_measure(rule, on, dim)
    if not _is_ours(rule):
        check_results(rule, role, dim)


def measures_of(rule: Any) -> list[Any]:
    """What a player measures in a round."""
    if isinstance(rule, Guarded):
        return [check.on for check in rule.checks]
    return [rule.on] if isinstance(rule, Filtered) else []


def _is_ours(rule: Any) -> bool:
    return type(rule).__module__.startswith("holdfast.")


def check_results(rule: Any, role: Any, dim: int) -> None:
    """Raise TypeError if a method of a rule returns a value of the wrong type or shape."""
    check = _CHECKS.get(role_of(role))
    if check is not None:
        check(rule, dim)


def _check_player(player: Any, dim: int) -> None:
    name, x = type(player).__name__, np.ones(dim)
    state = player.init(dim)
    for size in _SIZES:
        _expect_weights(f"{name}.predict", player.predict(state), dim)
        answer = player.observe(state, Round(size, x, 1.0, x, 0.0))
        _expect(_is_tuple(answer, 2), f"{name}.observe must return (state, verdict)", answer)
        before, (state, verdict) = state, answer
        is_verdict = isinstance(verdict, Verdict)
        _expect(is_verdict, f"{name}.observe must return a holdfast.Verdict, second", verdict)
        checks = ", ".join(player.check_names())
        _expect(
            _fits(verdict, player), f"{name}.observe must return a size for each check ({checks})", verdict
        )
        _compare(f"{name}.observe", "state", before, state)
    _expect_weights(f"{name}.current_weights", player.current_weights(state), dim)


def _check_filter(filter: Any, dim: int) -> None:
    method = f"{type(filter).__name__}.decide"
    state = filter.init(dim)
    for size in _SIZES:
        before, answer = state, filter.decide(state, size)
        _expect(_is_tuple(answer, 3), f"{method} must return (state, threshold, kept)", answer)
        state, threshold, kept = answer
        _expect(_is_number(threshold), f"{method} must return the threshold as a number, second", threshold)
        _expect(_is_bool(kept), f"{method} must return kept as True or False, third", kept)
        _compare(method, "state", before, state)
    _expect_answer(filter, "restarts", _is_bool, "True or False", state)


def _check_learner(learner: Any, dim: int) -> None:
    name = type(learner).__name__
    state = learner.init(dim)
    if learner.needs_hints():
        before, state = state, learner.set_hint(state, 2e9 * dim)
        _compare(f"{name}.set_hint", "state", before, state)
    for size in _SIZES:
        _expect_weights(f"{name}.predict", learner.predict(state), dim)
        before, state = state, after_round(learner, state, Round(size, np.ones(dim), 1.0, np.ones(dim), 0.0))
        _compare(f"{name}.update", "state", before, state)


def check_measure(player: Any, on: Any, dim: int) -> None:
    """Check a measure of a player with the arguments that the player passes to it."""
    learner, norm, x = player.learner, player.norm.dual(), np.ones(dim)
    state = learner.init(dim)
    round = learner.in_units(state, Round(1.0, x, 1.0, x, 0.0))
    _expect_number(on, "size_of", learner, state, norm, round, norm.of(round.row))


def _check_loss(loss: Any, dim: int) -> None:
    for z, y in _EXAMPLES:
        _expect_number(loss, "value", z, y)
        _expect_number(loss, "slope", z, y)


def _check_norm(norm: Any, dim: int) -> None:
    dual = norm.dual()
    check_role(dual, protocols.Norm)
    for one in (norm, dual):
        _expect_number(one, "of", np.ones(dim))


def _check_domain(domain: Any, dim: int) -> None:
    name = type(domain).__name__
    w = domain.center(dim)
    _expect_weights(f"{name}.center", w, dim)
    _expect_weights(f"{name}.project", domain.project(w + 1.0), dim)
    _expect_number(domain, "diameter", L2(), dim)
    _expect_number(domain, "support", np.ones(dim))
    _expect_answer(domain, "bounded", _is_bool, "True or False")


def _check_step(step: Any, dim: int) -> None:
    tally = step.accrued(0.0, 1.0)
    _expect_number(step, "accrued", 0.0, 1.0)
    _expect_number(step, "eta", tally, 1.0)
    _expect_number(step, "held", tally, 1.0)


_CHECKS: dict[Any, Callable[[Any, int], None]] = {
    protocols.Player: _check_player,
    protocols.Filter: _check_filter,
    protocols.Learner: _check_learner,
    protocols.LearnerInDomain: _check_learner,
    protocols.Loss: _check_loss,
    protocols.Norm: _check_norm,
    protocols.Domain: _check_domain,
    protocols.Step: _check_step,
}


def _check_adversary(adversary: Any, w: Weights) -> None:
    rounds, dim = checked_extent(adversary)
    for part, role in rules_in(adversary):
        if role is protocols.Adversary:
            _check_adversary(part, w)
        else:
            _check_parts(part, role, dim)
    if rounds == 0:
        return
    method = f"{type(adversary).__name__}.reveal"
    state = adversary.start()
    _expect_number(adversary, "target_at", 0)
    _expect_answer(adversary, "is_sparse", _is_bool, "True or False")
    answer = adversary.reveal(copy.deepcopy(state), 0, w)
    _expect(_is_tuple(answer, 4), f"{method} must return (state, loss, slope, x)", answer)
    after, loss, slope, x = answer
    _expect(_is_number(loss), f"{method} must return the loss as a number, second", loss)
    _expect(_is_number(slope), f"{method} must return the slope as a number, third", slope)
    is_row = isinstance(x, np.ndarray) and x.shape == (dim,) and x.dtype in (np.float64, np.float32)
    is_row |= isinstance(x, Sparse) and x.dim == dim
    _expect(is_row, f"{method} must return x as an array of {dim} floats, fourth", x)
    _compare(method, "state", state, after)


def _expect_weights(method: str, w: Any, dim: int) -> None:
    is_row = isinstance(w, np.ndarray) and w.shape == (dim,) and w.dtype == np.float64
    is_row |= isinstance(w, ScaledWeights | ForecastWeights)
    _expect(is_row, f"{method} must return a float64 array of {dim} weights", w)


def _expect_number(rule: Any, method: str, *args: Any) -> None:
    _expect_answer(rule, method, _is_number, "a number", *args)


def _expect_answer(rule: Any, method: str, is_valid: Callable[[Any], bool], wanted: str, *args: Any) -> None:
    answer = getattr(rule, method)(*args)
    _expect(is_valid(answer), f"{type(rule).__name__}.{method} must return {wanted}", answer)


def _expect(is_valid: bool, requirement: str, answer: Any) -> None:
    if not is_valid:
        raise TypeError(f"{requirement}: got {_short(answer)}")


def _is_tuple(value: Any, length: int) -> bool:
    return isinstance(value, tuple) and len(value) == length


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int | np.floating | np.integer)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _fits(verdict: Verdict, player: Any) -> bool:
    count, figures = len(player.check_names()), (*verdict.sizes, *verdict.thresholds)
    one_each = len(verdict.sizes) == len(verdict.thresholds) == count
    return one_each and _is_bool(verdict.kept) and all(map(_is_number, figures))


def _compare(method: str, path: str, before: Any, after: Any) -> None:
    """Raise TypeError if a state changes its types: the compiler fixes them in the first round."""
    if isinstance(before, tuple) and type(before) is type(after) and len(before) == len(after):
        names = getattr(before, "_fields", range(len(before)))
        for name, one, other in zip(names, before, after, strict=True):
            _compare(method, f"{path}.{name}", one, other)
    elif _kind(before) != _kind(after):
        becomes_float = (_kind(before), _kind(after)) == ("int", "float")
        remedy = "start it as a float, such as 0.0" if becomes_float else "a state must keep its types"
        raise TypeError(f"{method} turns {path} from {_kind(before)} into {_kind(after)}: {remedy}")


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"a {value.ndim}-dimensional array of {value.dtype}"
    for name, types in _KINDS.items():
        if isinstance(value, types):
            return name
    return type(value).__name__


_KINDS = {"bool": (bool, np.bool_), "int": (int, np.integer), "float": (float, np.floating)}


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 60 else text[:57] + "..."
