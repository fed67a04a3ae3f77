"""Choose how games are compiled: with `numba_private`, or only through the public API of numba.

`HOLDFAST_PUBLIC_NUMBA=1` chooses the public API. If `numba_private` does not work with the installed numba,
the public API is used with one warning. The results are the same, but compiling and playing take longer.
A release of numba that is not in `TESTED` is tried with a small game first.
"""

import math
import sys
import warnings
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np

from holdfast._compiled.calls import SWITCH, is_public
from holdfast._compiled.memory_layout import imported

# -- a small game that uses everything in `numba_private`


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


def try_private() -> None:
    """Play this game. Raise an error if the results are wrong, or if anything on the way fails."""
    from holdfast._compiled import numba_private
    from holdfast._compiled.machine_code import compile_game
    from holdfast._compiled.object_files import ObjectFile

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


# -- the choice


def _load() -> ModuleType | None:
    """The module `numba_private`, or None."""
    if is_public():
        return None
    try:
        from holdfast._compiled import numba_private

        numba_private.check()
        # On other systems LLVM's linker was not tried when this was written.
        if numba.__version__.rsplit(".", 1)[0] not in numba_private.TESTED or sys.platform != "linux":
            try_private()
    except Exception as problem:
        warnings.warn(
            f"holdfast cannot use the private API of numba {numba.__version__} ({problem!r}), so it "
            "compiles through the public API: the same results, but slower and without a disk cache. "
            f"Install numba>=0.68,<0.69, or set {SWITCH}=1 to choose the public API without this warning",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return numba_private


private = _load()
