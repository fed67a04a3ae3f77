"""A small game that uses everything in `numba_private`, to try a release of numba that is not in `TESTED`."""

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from holdfast._compiled import numba_private
from holdfast._compiled.machine_code import compile_game
from holdfast._compiled.memory_layout import imported
from holdfast._compiled.object_files import ObjectFile


class TrialState(NamedTuple):
    parts: np.ndarray
    name: str

    def plus(self, x: float, times: float = 1.0) -> "TrialState":
        self.parts[0] += doubled(x) * times
        return TrialState(self.parts, self.name)


def doubled(x: float) -> float:
    if x < 0.0:
        raise ValueError("x is negative")
    return 2.0 * x


def add_all(total: TrialState, row: np.ndarray) -> TrialState:
    for x in row:
        total = total.plus(x, times=0.5)
    return total


def run() -> None:
    """Raise an error if the results are wrong, or if anything on the way fails."""
    numba_private.register_function(doubled)
    numba_private.register_method(TrialState, "plus", TrialState.plus)
    args = TrialState(np.zeros(1), "sum"), np.arange(4.0)
    made = compile_game("call", add_all, args, numba.typeof(args))
    _play(made)
    _play(ObjectFile.unpacked(made.packed(), imported))


def _play(made: Any) -> None:
    args = TrialState(np.zeros(1), "sum"), np.arange(4.0)
    program = made.load()
    total = program.call(args)
    if not (total.parts is args[0].parts and math.isclose(total.parts[0], 6.0) and total.name == "sum"):
        raise RuntimeError("a trial gave a wrong result")
    try:
        program.call((args[0], np.full(1, -1.0)))
    except ValueError:
        return
    raise RuntimeError("a trial did not raise the error that it should")
