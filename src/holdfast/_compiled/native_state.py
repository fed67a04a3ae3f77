"""A state that stays in native memory between calls, for `Player(compiled=True)` and estimators.

Converting a player, its state and a loss from Python objects to machine values and back takes a hundred times
as long as a round. Here they are stored in a block of bytes, in the layout of the machine code. A call passes
the block and one argument.
"""

import functools
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from holdfast._compiled import numba_private
from holdfast._compiled.argument_types import AnyFunction, Arguments, BoundState
from holdfast._compiled.disk_cache import Store
from holdfast._compiled.long_calls import deferred_interrupts
from holdfast._compiled.native_calls import is_counted, owners_of, uncounted, with_owners
from holdfast._compiled.numba_private import (
    compile_entry,
    data_and_length,
    decref,
    incref,
    nothing,
    tuple_of,
)

if TYPE_CHECKING:
    from holdfast._compiled.method_registration import CallGraph

_BLOCK = types.Array(types.uint8, 1, "C")
_PLACE = types.UniTuple(types.intp, 2)  # address and length of an array
_compiled: dict[Any, list[AnyFunction]] = {}
_lock = threading.RLock()


class _Places(NamedTuple):
    """Where the arrays of the first value are."""

    owners: dict[int, np.ndarray]
    rebuild: Callable[[Any], Any]
    numbers: list[int]  # of the arrays, among all leaves
    places: list[tuple[int, int]]  # their addresses and lengths


class NativeState:
    """`state(argument)` calls function(*values, argument): it returns the new first value and an answer.

    The block points to arrays that Python objects own, so machine code need not count references to them.
    """

    def __init__(self, values: Arguments, kind: Any, functions: list[AnyFunction]) -> None:
        self.block = np.zeros(
            numba_private.size_of(kind) + 1, np.uint8
        )  # the last byte: is there a new array
        self.step, self.write, self.read_first, self.read_leaves = functions
        self._own(values)

    def _own(self, values: Arguments) -> None:
        self.values = values  # keeps alive the arrays that the block points to
        self.known: _Places | None = None  # see `first`
        self.write(self.block, values)

    def __call__(self, argument: Any) -> Any:
        answer = self.step(self.block, argument)
        if self.block[-1]:
            self._own((self._read_first(owners_of(self.values)), *self.values[1:]))
        return answer

    def __del__(self) -> None:
        self.write(self.block, self.values)  # releases new arrays, if a call was interrupted

    def first(self) -> Any:
        """The current first value."""
        if self.known is None:
            arrays = dict(_arrays_in(self.values[0], itertools.count()))
            places = [(array.ctypes.data, len(array)) for array in arrays.values()]
            self.known = _Places(owners_of(self.values), _rebuilder(self.values[0]), list(arrays), places)
        leaves = self.read_leaves(self.block)
        if [leaves[i] for i in self.known.numbers] == self.known.places:
            return self.known.rebuild(leaves)
        return self._read_first(self.known.owners)

    def _read_first(self, owners: dict[int, np.ndarray]) -> Any:
        with deferred_interrupts():
            return with_owners(self.read_first(self.block), owners)


def _arrays_in(value: Any, leaves: Iterator[int]) -> Iterator[tuple[int, np.ndarray]]:
    """The arrays in a value, each with its number among all leaves; `leaves` counts them."""
    if isinstance(value, tuple):
        for item in value:
            yield from _arrays_in(item, leaves)
    else:
        i = next(leaves)
        if isinstance(value, np.ndarray):
            yield i, value


def _rebuilder(value: Any) -> Callable[[Any], Any]:
    """A function that returns this value with other numbers: of the leaves that `read_leaves` returns.

    Where all arrays are still in their places, this is faster than to make new Python objects for them. Like
    `collections.namedtuple`, it writes the source of that function, which runs ten times as fast as a walk
    over the tuples.
    """
    numbers, kinds, others = itertools.count(), [], []  # of the leaves; of the tuples; arrays and strings

    def source(part: Any) -> str:
        if isinstance(part, tuple):
            kinds.append(type(part))
            return f"new(kinds[{len(kinds) - 1}], ({''.join(source(item) + ', ' for item in part)}))"
        number = next(numbers)
        if isinstance(part, np.ndarray | str):
            others.append(part)
            return f"others[{len(others) - 1}]"
        return f"leaves[{number}]"

    make = _evaluated(f"lambda leaves, kinds, others: {source(value)}")
    return lambda leaves: make(leaves, kinds, others)


@functools.lru_cache
def _evaluated(source: str) -> Any:
    return eval(source, {"new": tuple.__new__})


def bind_state(function: AnyFunction, values: Arguments, kind: Any, graph: "CallGraph") -> BoundState:
    """A `NativeState` of these values; `kind` is the type of all arguments, `graph` the call graph."""
    return NativeState(values, _without_last(kind), prepare_state(function, kind, graph))


def prepare_state(function: AnyFunction, kind: Any, graph: "CallGraph") -> list[AnyFunction]:
    """The four compiled functions of a `NativeState`, for arguments of this type."""
    key = function, kind, graph.fingerprint
    with _lock:
        if key not in _compiled:
            _compiled[key] = _compile(*key)
        return _compiled[key]


def is_state_stored(function: AnyFunction, kind: Any, graph: "CallGraph") -> bool:
    """Whether these functions are compiled already, in this process or on disk."""
    key = function, kind, graph.fingerprint
    return key in _compiled or all(store.exists() for store in _stores(kind, key[2]))


def _without_last(kind: Any) -> Any:
    return types.Tuple(list(kind)[:-1])


def _stores(kind: Any, fingerprint: str) -> list[Store]:
    values = _without_last(kind)
    kinds: dict[str, Arguments] = {"step": (_BLOCK, kind[-1]), "write": (_BLOCK, values)}
    kinds |= dict.fromkeys(("read_first", "read_leaves"), (_BLOCK,))
    return [Store(name, some, values, fingerprint) for name, some in kinds.items()]


def _compile(function: AnyFunction, kind: Any, fingerprint: str) -> list[AnyFunction]:
    """Compiled functions: play a step in a block, write values to it, read the first value or its leaves."""
    values = _without_last(kind)
    load, store = _loader(values), _storer(values)
    inner = numba.njit(function, **numba_private.HELPER)

    def step(block: Any, argument: Any) -> Any:
        values = uncounted(load(block))
        first, answer = inner(*values, uncounted(argument))
        store(block, (first, *values[1:]))
        block[-1] = is_counted(first)
        return answer  # not in a tuple: Ctrl-C while Python makes a NamedTuple of it would crash

    def write(block: Any, values: Any) -> None:
        store(block, uncounted(values))

    def read_first(block: Any) -> Any:
        return load(block)[0]

    leaves = _leaves(kind[0])

    def read_leaves(block: Any) -> Any:
        return leaves(load(block)[0])

    functions = zip((step, write, read_first, read_leaves), _stores(kind, fingerprint), strict=True)
    return [compile_entry(numba.njit(each, nogil=True), store.kinds, store) for each, store in functions]


def _loader(kind: Any) -> Any:
    @intrinsic
    def load(typing_context: Any, block: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = builder.load(_place(context, builder, kind, args[0]))
            incref(context, builder, kind, value)
            return value

        return kind(_BLOCK), generate

    return load


def _storer(kind: Any) -> Any:
    @intrinsic
    def store(typing_context: Any, block: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _place(context, builder, kind, args[0])
            old = builder.load(place)  # all zeros at the start: arrays without a counter
            incref(context, builder, kind, args[1])
            builder.store(args[1], place)
            decref(context, builder, kind, old)
            return nothing(context)

        return types.void(_BLOCK, kind), generate

    return store


def _leaves(kind: Any) -> Any:
    """A compiled function: the numbers in a value, and the address and length of each array, in a row."""

    @intrinsic
    def leaves(typing_context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            parts = list(_leaf_values(context, builder, kind, args[0]))
            return tuple_of(context, builder, signature.return_type, parts)

        return types.Tuple(list(_leaf_types(kind)))(kind), generate

    return leaves


def _leaf_types(kind: Any) -> Iterator[Any]:
    if isinstance(kind, types.BaseTuple):
        for item in kind:
            yield from _leaf_types(item)
    else:
        yield _PLACE if isinstance(kind, types.Array) else types.none if kind is types.unicode_type else kind


def _leaf_values(context: Any, builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    if isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            yield from _leaf_values(context, builder, item, builder.extract_value(value, i))
    elif isinstance(kind, types.Array):
        data, length = data_and_length(context, builder, kind, value)
        address = builder.ptrtoint(data, length.type)
        yield tuple_of(context, builder, _PLACE, [address, length])
    else:
        yield nothing(context) if kind is types.unicode_type else value


def _place(context: Any, builder: Any, kind: Any, block: Any) -> Any:
    data, _ = data_and_length(context, builder, _BLOCK, block)
    return builder.bitcast(data, context.get_value_type(kind).as_pointer())
