"""A filter without a learner, for a loop of your own: a Kalman filter, a sensor, a training step."""

__all__ = ["Gate"]

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from holdfast._compiled import prebuilt
from holdfast._compiled.argument_types import BoundState
from holdfast._compiled.calls import can_compile
from holdfast._compiled.long_calls import deferred_interrupts
from holdfast.dry_run import check_rule
from holdfast.flatten import layout_digest, numbers_of, state_of
from holdfast.levels.alarms import Event
from holdfast.levels.row_events import RowEvents
from holdfast.protocols import Filter, FilterOptions
from holdfast.rounds import Verdict
from holdfast.vectors import aligned_copy

_WORTH_COMPILING = 100_000  # sizes in one call
_SHORT = 50  # sizes: to pass fewer to machine code takes longer than to decide on them in Python
_FEW = 10_000  # sizes, for which moving a state out of native memory and back takes longer than the calls


def keep_one(state: Any, filter: Filter, last: np.ndarray, size: float) -> tuple[Any, bool]:
    """Whether to keep a size; its threshold goes to last[0]. `bind_state` needs this order of arguments."""
    state, threshold, kept = filter.decide(state, size)
    last[0] = threshold
    return state, kept


def keep_each(state: Any, filter: Filter, last: np.ndarray, sizes: np.ndarray, kept: np.ndarray) -> Any:
    """`keep_one` for every size that is finite."""
    for i in range(len(sizes)):
        if -math.inf < sizes[i] < math.inf:
            state, kept[i] = keep_one(state, filter, last, float(sizes[i]))
    return state


class Gate:
    """A filter and its state: is this size one to trust?

    A size is any number that is far from 0 if something is wrong: the norm of a gradient, the normalised
    innovation of a Kalman filter, a residual. Of a negative number the absolute value counts. Sizes that are
    not finite are not kept and not remembered. What a filter promises of the learner's regret says nothing
    here; but that what is kept is of the size of the inliers, and that few inliers are lost, holds for any
    sizes (`docs/math.md`, 2 and 4).

    Parameters:
        filter: Such as `TopShare(0.01, window=1000)`. A restart of the learner, which `Quantile` without a
            horizon would ask for, is ignored.
        compiled: Whether calls are compiled. By default only `keep_many` is: for the usual filters, which
            were compiled with holdfast, or if it has 100,000 sizes or more. The decisions are the same.
        on_event: Called with each `holdfast.levels.Event`: glitches and changes, of sizes that were not kept,
            and sizes that are frozen. Then `keep_many` decides one by one.
        patience: So many sizes in a row that are not kept are a change, fewer are a glitch.

    >>> import holdfast as hf
    >>> gate = Gate(hf.TopK(k=1))
    >>> [gate.keep(size) for size in (1.0, 1.2, 90.0, 1.1, float("nan"))]
    [False, True, False, True, False]
    >>> verdict = gate.decide(1.3)
    >>> verdict.kept, verdict.size, verdict.threshold
    (True, 1.3, 2.6)
    """

    def __init__(
        self,
        filter: Filter,
        compiled: bool | None = None,
        on_event: Callable[[Event], Any] | None = None,
        patience: int = 20,
    ) -> None:
        check_rule(filter, Filter, dim=1)
        self.filter, self.compiled = cast(FilterOptions, filter), compiled
        self._state, self._last = aligned_copy(filter.init(1)), np.full(1, math.nan)
        self._compiled_keep: BoundState | None = None  # the compiled `keep_one`, with its state
        self._events = None if on_event is None else RowEvents([""], on_event, patience)
        if compiled:
            self._bind()

    def keep(self, size: float) -> bool:
        """Whether to keep this size. The filter remembers it, whether it is kept or not."""
        size = abs(float(size))
        if not size < math.inf:
            return False
        if self._compiled_keep is not None:
            kept = bool(self._compiled_keep(size))
        else:
            self._state, self._last[0], kept = self.filter.decide(self._state, size)
        if self._events is not None:
            about = ("", size, self.threshold)
            self._events.add(np.array([kept], bool), np.array([[size]]), lambda i: about)
        return bool(kept)

    def decide(self, size: float) -> Verdict:
        """`keep`, with the size and the threshold it was compared with, NaN if the size is not finite."""
        size = abs(float(size))
        kept, finite = self.keep(size), size < math.inf
        threshold = self.threshold if finite else math.nan
        return Verdict(kept, 0 if finite and not kept else -1, (size,), (threshold,))

    def keep_many(self, sizes: ArrayLike) -> np.ndarray:
        """`keep` for each of many sizes, as an array of truth values."""
        sizes = np.abs(np.ascontiguousarray(sizes, dtype=np.float64))
        if sizes.ndim != 1:
            raise ValueError(f"sizes must be a list of numbers, one a round: got shape {sizes.shape}")
        kept = np.zeros(len(sizes), np.bool_)
        if self._events is not None or (self._compiled_keep is not None and len(sizes) < _FEW):
            for i, size in enumerate(sizes.tolist()):
                kept[i] = self.keep(size)
            return kept
        args = (self.state, self.filter, self._last, sizes, kept)
        worth = _is_worth_compiling(args) if self.compiled is None else self.compiled
        self._set_state(_compiled_call(keep_each, *args) if worth else keep_each(*args))
        return kept

    @property
    def threshold(self) -> float:
        """The threshold that the last finite size was compared with; NaN before the first.

        The threshold of the next size may differ: with `TopK` and `TopShare` it depends on that size too.
        """
        return float(self._last[0])

    @property
    def state(self) -> Any:
        """What the filter remembers."""
        return self._compiled_keep.first() if self._compiled_keep is not None else self._state

    def reset(self) -> None:
        """Forget all sizes."""
        self._last[0] = math.nan
        self._set_state(self.filter.reset(self.state, 1))

    def state_dict(self) -> dict[str, Any]:
        """The state as a dictionary of numbers, strings and a list of numbers, which JSON can hold.

        Numbers that JSON cannot hold, infinity and NaN, are strings.
        """
        layout = layout_digest(self.state)
        if layout != layout_digest(self.filter.init(1)):
            raise ValueError(
                f"the state of {self.filter} has no fixed layout, because its arrays grow: "
                "pickle the gate, or use exact=False"
            )
        return {
            "filter": repr(self.filter),
            "layout": layout,
            "threshold": _to_json(self.threshold),
            "numbers": [_to_json(number) for number in numbers_of(self.state).tolist()],
        }

    def load_state_dict(self, stored: dict[str, Any]) -> None:
        """Go on from a `state_dict`. If it is not one of this filter, raise an error and change nothing."""
        self._last[0], state = self._read(stored)
        self._set_state(state)

    def _read(self, stored: Any) -> tuple[float, Any]:
        """The threshold and the state of a `state_dict`."""
        state = aligned_copy(self.filter.init(1))
        expected = {"filter": repr(self.filter), "layout": layout_digest(state)}
        for name, value in expected.items():
            found = stored.get(name) if isinstance(stored, dict) else None
            if found != value:
                raise ValueError(
                    f"this is not a state of {self.filter} in this version of holdfast: "
                    f"its {name} is {found!r}, not {value!r}"
                )
        try:
            threshold = float(stored["threshold"])
            numbers = np.array([float(number) for number in stored["numbers"]])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ValueError("a state needs a threshold and a list of numbers: make it again") from None
        found = state_of(numbers, state, self.filter.valid)
        if found is None:
            raise ValueError(
                f"no sizes lead {self.filter} to this state: the numbers were changed or cut off"
            )
        return threshold, found

    def _bind(self) -> None:
        from holdfast._compiled import bind_state

        self._compiled_keep = bind_state(keep_one, self._state, self.filter, self._last, 0.0)

    def _set_state(self, state: Any) -> None:
        self._state = state
        if self._compiled_keep is not None:
            self._bind()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_state": self.state, "_compiled_keep": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.compiled:
            self._bind()

    def __repr__(self) -> str:
        return f"Gate({self.filter!r}, compiled={self.compiled!r})"


def _is_worth_compiling(args: tuple[Any, ...]) -> bool:
    count = len(args[3])
    if count >= _SHORT and prebuilt.find(keep_each, args) is not None:
        return True
    return count >= _WORTH_COMPILING and can_compile(True)


def _compiled_call(function: Callable[..., Any], *args: Any) -> Any:
    from holdfast._compiled import call, prepare

    prepare(function, *args)
    with deferred_interrupts():
        return call(function, *args)


def _to_json(number: float) -> float | str:
    return number if abs(number) < math.inf else str(number)
