"""When to play compiled: if that came with the package, if it is on disk already, or if the game is long.

The figures are for AdaGrad behind `Guarded`, whose round takes 85 us in Python. Rounds of second order take
two to six times as long, and compiling them takes a minute: `expecting` has a `cost` for them. The results
have the same bits either way.
"""

import contextlib
import contextvars
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from holdfast._compiled import calls, prebuilt
from holdfast._compiled.argument_types import AnyFunction, Arguments, signature
from holdfast._compiled.calls import Form
from holdfast._compiled.disk_cache import is_empty
from holdfast._compiled.long_calls import deferred_interrupts

FEW = 500  # rounds, a hundred rows in five epochs: with less, not even a look at the disk, which takes 20 ms
SHORT = 10  # rounds in one call: in Python they are faster than to convert the state and back
LOADING = (
    2_000  # rounds of this process: in Python they take as long as importing llvmlite and loading a game
)
WORTH_COMPILING = 50_000  # rounds: in Python they take 4 s, compiling takes 4 to 15

_expected: contextvars.ContextVar[tuple[float, float]] = contextvars.ContextVar(
    "rounds to come, cost of one", default=(0, 1)
)
_on_disk: dict[Any, bool] = {}  # kind, function, signature -> whether it was on disk
_interpreted = [0.0]  # rounds that this process has played in Python, times their cost


@contextlib.contextmanager
def expecting(rounds: float, cost: float = 1) -> Iterator[None]:
    """All games inside together have this many rounds. With `math.inf` they are compiled at once.

    `cost` is the time that a round takes in Python, over that of AdaGrad behind `Guarded`.
    """
    most, costliest = _expected.get()
    token = _expected.set((max(rounds, most), max(cost, costliest)))
    try:
        yield
    finally:
        _expected.reset(token)


def count_interpreted(rounds: int) -> None:
    _interpreted[0] += rounds * _expected.get()[1]


def choose(kind: Form, function: AnyFunction, args: Arguments, rounds: int, before: int = 0) -> bool:
    """Whether the next rounds should be played compiled.

    `kind` is "call" or "state": whether for `calls.call` or for `calls.bind_state`. `rounds` are to
    come, `before` were played in this game.
    """
    if prebuilt.find(function, args) is not None:
        return kind == "state" or rounds >= SHORT
    to_come, cost = _expected.get()
    expected = max(rounds + before, to_come)
    may_compile = calls.can_compile(is_long=WORTH_COMPILING <= expected < math.inf)
    if expected == math.inf:
        return may_compile
    if kind == "call" and rounds < SHORT:
        return False
    if (cost * expected < FEW) if calls.has_others() else (_interpreted[0] + cost * expected < LOADING):
        return False
    return _is_stored(kind, function, args) or (may_compile and expected >= WORTH_COMPILING)


def called(function: AnyFunction, args: Arguments, count: int, cost: float, before: int = 0) -> Any:
    """The result of a function that does something `count` times: compiled, if that is worth it.

    `before` is how often this was done before, and `cost` as in `expecting`.
    """
    with expecting(0, cost), np.errstate(all="ignore"):
        if choose("call", function, args, count, before):
            calls.prepare(function, *args)  # may take a minute, and can be interrupted
            with deferred_interrupts():
                return calls.call(function, *args)
        count_interpreted(count)
        return function(*args)


def _is_stored(kind: Form, function: AnyFunction, args: Arguments) -> bool:
    """Whether it is in this process, or was on disk when this process looked for the first time."""
    types = signature(args)
    if types is None or not (calls.has_others() or not is_empty()):
        return False
    key = kind, function, types
    if key not in _on_disk:
        _on_disk[key] = calls.is_stored(kind, function, args)
    return _on_disk[key] or calls.is_ready(kind, function, args)
