"""A small game that uses everything in `numba_private`, to try a release of numba that is not in `TESTED`."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from holdfast._compiled import numba_private
from holdfast._compiled.native_calls import owners_of, uncounted, with_owners


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


class _MemoryStore:
    """A store in memory instead of on disk."""

    data = b""

    def load(self, rebuild: Callable[[bytes], Any]) -> Any:
        return rebuild(self.data) if self.data else None

    def save(self, returned: Any, pack: Callable[[], bytes]) -> None:
        self.data = pack()


def run() -> None:
    """Raise an error if the results are wrong, or if anything on the way fails."""
    numba_private.register_function(doubled)
    numba_private.register_method(TrialState, "plus", TrialState.plus)
    store = _MemoryStore()
    for _ in range(2):  # the first compiles, the second loads
        _play(store)
    if not (store.data and numba_private.processor() and numba_private.size_of(numba.types.intp)):
        raise RuntimeError("a trial compiled nothing that could be stored")


def _play(store: _MemoryStore) -> None:
    inner = numba.njit(add_all, **numba_private.HELPER)

    def entry(args: Any) -> Any:
        return inner(*uncounted(args))

    args = TrialState(np.zeros(1), "sum"), np.arange(4.0)
    play = numba_private.compile_entry(numba.njit(entry, nogil=True), (numba.typeof(args),), store)
    total = with_owners(play(args), owners_of(args))
    if not (total.parts is args[0].parts and math.isclose(total.parts[0], 6.0) and total.name == "sum"):
        raise RuntimeError("a trial gave a wrong result")
    try:
        play((args[0], np.full(1, -1.0)))
    except ValueError:
        return
    raise RuntimeError("a trial did not raise the error that it should")
