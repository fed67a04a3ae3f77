"""When to play compiled: if that came with the package, if it is on disk already, or if the game is long.

The figures are for AdaGrad behind `Guarded`, whose round takes 85 us in Python. Rounds of second order take
two to six times as long, and compiling them takes a minute: `expecting` has a `cost` for them. The results
have the same bits either way.
"""

import contextlib
import contextvars
import math
import sys
from collections.abc import Iterator
from typing import Any, Literal

from holdfast._compiled import prebuilt
from holdfast._compiled.argument_types import AnyFunction, Arguments, signature
from holdfast._compiled.cache_folder import is_empty
from holdfast._compiled.running import can_compile

Kind = Literal["call", "state"]  # for `running.call`, or for `running.bind_state`

FEW = 500  # rounds, a hundred rows in five epochs: with less, not even a look at the disk, which takes 40 ms
SHORT = 10  # rounds in one call: in Python they are faster than to convert the state and back
LOADING = 5_000  # rounds of this process: in Python they take as long as importing numba and loading a game
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


def choose(kind: Kind, function: AnyFunction, args: Arguments, rounds: int, before: int = 0) -> bool:
    """Whether the next rounds should be played compiled.

    `kind` is "call" or "state": whether for `running.call` or for `running.bind_state`. `rounds` are to
    come, `before` were played in this game.
    """
    if prebuilt.find(function, args) is not None:
        return kind == "state" or rounds >= SHORT
    to_come, cost = _expected.get()
    expected = max(rounds + before, to_come)
    if not can_compile(is_long=WORTH_COMPILING <= expected < math.inf):
        return False
    if expected == math.inf:
        return True
    if kind == "call" and rounds < SHORT:
        return False
    known = "holdfast._compiled.calls" in sys.modules
    if (cost * expected < FEW) if known else (_interpreted[0] + cost * expected < LOADING):
        return False
    types = signature(args)
    if types is None:  # a function of the user is among them
        return expected >= WORTH_COMPILING
    key = kind, function, types
    if _on_disk.get(key) or (known and kind == "call" and _is_ready(function, args)):
        return True
    if key not in _on_disk and (known or not is_empty()):
        _on_disk[key] = _is_stored(kind, function, args)
    return _on_disk.get(key, False) or expected >= WORTH_COMPILING


def _is_ready(function: AnyFunction, args: Arguments) -> bool:
    """Whether this process has compiled it already."""
    from holdfast._compiled.calls import is_ready

    return is_ready(function, *args)


def _is_stored(kind: Kind, function: AnyFunction, args: Arguments) -> bool:
    from holdfast._compiled.calls import is_state_stored, is_stored

    return {"call": is_stored, "state": is_state_stored}[kind](function, *args)
