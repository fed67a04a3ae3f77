"""The kernels (`holdfast.kernels`) as numba compiles them.

On the private path dense rows are left to the vector instructions of `llvm_kernels`. Everything else is a
loop over the entries, with the same bits: sparse rows, and on the public path all rows. Like the NumPy form,
it is made from source, because every kernel has its own parameters.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from holdfast import flatten, kernels, vectors
from holdfast._compiled.argument_types import AnyFunction
from holdfast._compiled.by_type import OVERLOAD, chooser, is_instance
from holdfast._compiled.numba_path import private
from holdfast.kernels import UNEQUAL, Kernel, Sparse, defined, first_row
from holdfast.vectors import LazyWeights

if private is not None:
    from holdfast._compiled import llvm_kernels

_registered: set[AnyFunction] = set()


def register_kernel(function: AnyFunction) -> None:
    """Let compiled code call a kernel."""
    if function in _registered:
        return
    _registered.add(function)
    kernel: Kernel = function.kernel  # type: ignore[attr-defined]
    names = tuple(inspect.signature(function).parameters)

    def chosen(kinds: tuple[Any, ...]) -> AnyFunction:
        given = dict(zip(names, kinds, strict=True))
        scope = {**_SCOPE, "entry": kernel.entry, "of_row": kernel.of_row}
        sparse = is_instance(given[kernel.names[-1]], Sparse)
        lines = _raise_if(*_unequal(kernel, sparse))
        if private is not None and kernel.kind in llvm_kernels.WRITERS and _is_native(kernel, given, sparse):
            arguments = {name: _native_argument(name, given[name]) for name in names}
            if sparse:
                x = kernel.names[-1]
                del arguments[x]
                arguments |= {"places": f"{x}.places", "values": f"{x}.values"}
            scope["native"] = llvm_kernels.native(kernel, tuple(arguments))
            call = f"native({', '.join(arguments.values())})"
            lines.append(f"return {call} == 0" if kernel.reports else f"return {call}")
        else:
            lines += _LOOPS[kernel.kind](kernel, sparse)
        return defined("loop", names, lines, scope)

    overload(function, jit_options=OVERLOAD)(chooser(names, chosen))


def _is_native(kernel: Kernel, given: dict[str, Any], sparse: bool) -> bool:
    """Whether all rows are arrays of floats, and those that are written of float64 in C order.

    Of a sparse row, only sums. A kernel has one result, unless it writes them to rows.
    """
    last, is_sum = kernel.names[-1], kernel.kind == "sum_of_entries"
    arrays = {name: kind for name, kind in given.items() if name not in kernel.numbers or name == kernel.each}
    if sparse:
        del arrays[last]
    if kernel.results > 1 or (sparse and not is_sum):
        return False
    return all(
        isinstance(kind, types.Array)
        and isinstance(kind.dtype, types.Float)
        and (name == last or (is_sum and not sparse) or (kind.layout == "C" and kind.dtype == types.float64))
        for name, kind in arrays.items()
    )


def _native_argument(name: str, kind: Any) -> str:
    if isinstance(kind, types.Array):
        return name if kind.layout == "C" else f"ascontiguousarray({name})"
    return f"float64({name})"


def _unequal(kernel: Kernel, sparse: bool) -> list[str]:
    """The conditions under which rows have not the same length."""
    first, x = first_row(kernel), kernel.names[-1]
    length = f"{x}.dim" if sparse else f"len({x})"
    if kernel.kind == "sum_in_each_row":
        return [f"len(matrix) != len(sums) or matrix.shape[1] != {length}"]
    if kernel.kind == "change_each_row":
        return [f"len({first}) != len({kernel.each}) or {first}.shape[1] != {length}"]
    if kernel.kind == "sum_of_all_rows":
        return [f"len({first}) != {length} or {first}.shape[1] != len(total)"]
    return [f"len({first}) != {length}"] if first != x else []


def _raise_if(*conditions: str) -> list[str]:
    return [line for each in conditions for line in (f"if {each}:", "    raise ValueError(UNEQUAL)")]


def _entry_at(kernel: Kernel, sparse: bool) -> str:
    """The entry with the numbers of the i-th places; of a sparse row, of the k-th of its values."""
    x = kernel.names[-1]
    others = [
        name if name in kernel.numbers else f"float64({name}[{_index(kernel, name, sparse)}])"
        for name in kernel.names[:-1]
    ]
    return f"entry({', '.join([*others, f'float64({x}.values[k])' if sparse else f'float64({x}[i])'])})"


def _index(kernel: Kernel, name: str, sparse: bool) -> str:
    return "k" if sparse and name in kernel.packed else "i"


def _over_entries(kernel: Kernel, sparse: bool, body: list[str]) -> list[str]:
    x = kernel.names[-1]
    if sparse:
        head = [f"for k in range(len({x}.places)):", f"    i = uint64({x}.places[k])"]
    else:
        head = [f"for i in range(len({x})):"]
    return head + ["    " + line for line in body]


def _each_entry(kernel: Kernel, sparse: bool) -> list[str]:
    new = [f"new_{name}" for name in kernel.changed] + ["fine"] * kernel.reports
    body = [f"{', '.join(new)} = {_entry_at(kernel, sparse)}"]
    body += [f"{name}[{_index(kernel, name, sparse)}] = new_{name}" for name in kernel.changed]
    if not kernel.reports:
        return _over_entries(kernel, sparse, body)
    body.append("all_fine &= fine")
    return ["all_fine = True", *_over_entries(kernel, sparse, body), "return all_fine"]


def _sum_of_entries(kernel: Kernel, sparse: bool) -> list[str]:
    x, at = kernel.names[-1], "k" if sparse else "i"
    count = f"len({x}.values)" if sparse else f"len({x})"
    loop = _over_entries(kernel, sparse, [f"terms[{at}] = {_entry_at(kernel, sparse)}"])
    return [f"terms = empty({count})", *loop, f"return sum_in_order(terms, 0, {count})"]


def _most_of_entries(kernel: Kernel, sparse: bool) -> list[str]:
    results = range(kernel.results)
    body = [f"{', '.join(f'value{j}' for j in results)} = {_entry_at(kernel, sparse)}"]
    for j in results:
        body += [f"if value{j} != value{j}:", f"    return {', '.join(f'value{k}' for k in results)}"]
        body += [f"if value{j} > most{j}:", f"    most{j} = value{j}"]
    start = [f"most{j} = least" for j in results]
    return [*start, *_over_entries(kernel, sparse, body), f"return {', '.join(f'most{j}' for j in results)}"]


def _place_of_most(kernel: Kernel, sparse: bool) -> list[str]:
    body = [
        f"value = {_entry_at(kernel, sparse)}",
        "if found < 0 or value > most:",
        "    most, found = value, i",
    ]
    return ["most, found = 0.0, -1", *_over_entries(kernel, sparse, body), "return found"]


def _sum_in_each_row(kernel: Kernel, sparse: bool) -> list[str]:
    return ["for i in range(len(matrix)):", "    sums[i] = of_row(matrix[i], x)"]


def _change_each_row(kernel: Kernel, sparse: bool) -> list[str]:
    matrix = kernel.names[0]
    given = [f"{name}[i]" if name in (matrix, kernel.each) else name for name in kernel.names]
    return [f"for i in range(len({matrix})):", f"    of_row({', '.join(given)})"]


def _sum_of_all_rows(kernel: Kernel, sparse: bool) -> list[str]:
    matrix, x = kernel.names
    number = f"float64({x}.values[k])" if sparse else f"float64({x}[i])"
    body = ["for j in range(len(total)):", f"    total[j] += entry({matrix}[i, j], {number})"]
    return ["total[:] = 0.0", *_over_entries(kernel, sparse, body)]


_LOOPS = {
    "each_entry": _each_entry,
    "sum_of_entries": _sum_of_entries,
    "most_of_entries": _most_of_entries,
    "place_of_most": _place_of_most,
    "sum_in_each_row": _sum_in_each_row,
    "change_each_row": _change_each_row,
    "sum_of_all_rows": _sum_of_all_rows,
}


@njit(**OVERLOAD)
def _sum_in_order(terms: Any, start: Any, n: Any) -> Any:
    """The sum of n terms: long rows in halves, eight running sums, and a sum of the last up to seven."""
    whole, rest, total = n & -8, 0.0, 0.0
    for i in range(start + whole, start + n):
        rest += terms[i]
    if n >= 136:
        half = (whole >> 1) & -8
        return _sum_in_order(terms, start, half) + _sum_in_order(terms, start + half, whole - half) + rest
    if whole > 0:
        s = terms[start : start + 8].copy()
        for i in range(start + 8, start + whole, 8):
            for lane in range(8):
                s[lane] += terms[i + lane]
        total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
    return total + rest


_SCOPE: dict[str, Any] = {
    "UNEQUAL": UNEQUAL,
    "ascontiguousarray": np.ascontiguousarray,
    "empty": np.empty,
    "float64": np.float64,
    "sum_in_order": _sum_in_order,
    "uint64": np.uint64,
    "__name__": __name__,
}


# -- functions of which compiled code has another body

OTHER_BODIES: set[AnyFunction] = set()


def _other_body(function: AnyFunction) -> Callable[[AnyFunction], AnyFunction]:
    """Register what returns the body of a function, for arguments of given types."""
    OTHER_BODIES.add(function)
    names = tuple(inspect.signature(function).parameters)

    def register(body_for: AnyFunction) -> AnyFunction:
        overload(function, jit_options=OVERLOAD)(chooser(names, lambda kinds: body_for(*kinds)))
        return body_for

    return register


@_other_body(vectors.prefetch_row)
def _prefetch_row(rows: Any, t: Any) -> Callable[..., None]:
    if private is None:
        return lambda rows, t: None
    prefetch = llvm_kernels.prefetch
    return lambda rows, t: prefetch(rows, t * rows.strides[0], rows.strides[0])


@_other_body(vectors.prefetch_at)
def _prefetch_at(w: Any, places: Any) -> Callable[..., None]:
    if is_instance(w, LazyWeights):
        return lambda w, places: vectors.prefetch_at(w.v, places)
    if private is None or not isinstance(w, types.Array):
        return lambda w, places: None
    prefetch = llvm_kernels.prefetch

    def each(w, places):  # type: ignore[no-untyped-def]  # numba compares it with a lambda
        for i in range(len(places)):
            prefetch(w, 8 * np.int64(places[i]), 8)

    return each


@_other_body(flatten.write_array)
def _write_array(array: Any, buffer: Any, start: Any) -> AnyFunction:
    lines = ["for value in array.flat:", "    buffer[start] = value", "    start += 1"]
    return defined("write", ("array", "buffer", "start"), lines, {})


@_other_body(flatten.read_array)
def _read_array(array: Any, buffer: Any, start: Any) -> AnyFunction:
    lines = ["flat = array.reshape(array.size)"]
    lines += ["for i in range(len(flat)):", "    flat[i] = buffer[start + i]", "return array"]
    return defined("read", ("array", "buffer", "start"), lines, {})


@_other_body(kernels.holds_floats)
def _holds_floats(array: Any) -> Callable[..., bool]:
    answer = isinstance(array.dtype, types.Float)
    return lambda array: answer
