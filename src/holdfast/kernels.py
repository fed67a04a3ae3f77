"""Kernels, the inner loops of all rules: each is written once, as a function of one entry of a row.

The expression of an entry may use + - * /, abs, comparisons, & and |, np.sqrt and `where`. A decorator makes
a function of whole rows from it. In Python that function computes the expression with NumPy, on all entries
at once. `holdfast._compiled` makes a loop or vector instructions of the same expression. The bits are the
same, because no entry depends on another one, and sums are added in one order.

That order is NumPy's pairwise summation (eight running sums, blocks of 128), which is also more accurate than
adding from left to right; the last up to seven entries are summed by themselves.

Parameters that are annotated `float` are numbers. The others are rows of the same length, the last of which
may be sparse, strided or of float32: it is widened before anything is computed, and if it is sparse, the
other rows are read and written at its places.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

UNEQUAL = (
    "two vectors must have the same number of entries: check that every x has as many as there are weights"
)

Entry = Any  # one entry of a row: with NumPy the whole row, in LLVM code some entries
Function = TypeVar("Function", bound=Callable[..., Any])


class Sparse(NamedTuple):
    """A row of mostly zeros: the entries that are not, and their places, each at most once."""

    places: np.ndarray
    values: np.ndarray
    dim: int


class Kernel(NamedTuple):
    """What a function of rows was made from; it is the attribute `kernel` of that function."""

    kind: str  # the name of the decorator
    entry: FunctionType
    names: tuple[str, ...]  # of the parameters of the entry
    numbers: tuple[str, ...]  # those that are numbers
    changed: tuple[str, ...] = ()  # the rows that get new values
    packed: tuple[str, ...] = ()  # rows that have only the entries of a sparse row
    reports: bool = False  # whether the last result of the entry is a condition
    results: int = 1  # how many the entry has, for `most_of_entries`
    of_row: Any = None  # the kernel of one row, for kernels of matrices
    each: str = ""  # the number that each row of a matrix has for itself


def by_type(function: Function) -> Function:
    """Mark a function that asks for the types of its parameters: `isinstance(x, Sparse)`.

    Compiled code has a copy for each list of types, with only the branches for these types. A loop over a
    parameter that is a tuple is unrolled; what it appends to a list may become a tuple again (`like`).
    """
    function.is_by_type = True  # type: ignore[attr-defined]
    return function


_CONDITION = (bool, np.bool_)


@by_type
def where(condition: Any, a: Any, b: Any) -> Any:
    """a if the condition is true, else b, for each entry."""
    if isinstance(condition, _CONDITION):
        return a if condition else b
    return np.where(condition, a, b)


def like(state: tuple[Any, ...], items: list[Any]) -> Any:
    """A tuple of the class of `state` with these items, which a loop over `state` has appended."""
    return tuple.__new__(type(state), items)


def holds_floats(array: np.ndarray) -> bool:
    return array.dtype.kind == "f"


# -- the decorators


def each_entry(
    *changed: str, reports: bool = False, packed: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """New values for the rows named, in this order. If it `reports`, one more result of the entry is a
    condition: the function returns whether it is true for all entries. Rows that are `packed` have one entry
    for each value of a sparse row, not for each place.
    """

    def decorate(entry: Callable[..., Any]) -> Callable[..., Any]:
        kernel = _kernel("each_entry", entry)._replace(changed=changed, reports=reports, packed=packed)
        new = ", ".join([f"new_{name}" for name in changed] + ["fine"] * reports)
        x = kernel.names[-1]

        def steps(at: str, last: str) -> list[str]:
            whole = {name: "[:]" if name in packed or not at else at for name in changed}
            given = [name if name in (*kernel.numbers, *packed) else name + at for name in kernel.names[:-1]]
            return [
                f"{new} = entry({', '.join([*given, last])})",
                *(f"{name}{whole[name]} = new_{name}" for name in changed),
            ]

        lines = _for_both(
            kernel,
            steps(f"[{x}.places]", _widened(f"{x}.values")),
            steps("", _widened(x)),
        )
        if reports:
            lines.append("return bool(fine.all())")
        return _made(kernel, kernel.names, lines)

    return decorate


def sum_of_entries(entry: Callable[..., Any]) -> Callable[..., float]:
    """The sum of the entry over all of them."""
    kernel = _kernel("sum_of_entries", entry)
    *others, x = kernel.names
    sparse = [f"asarray({name}[{x}.places], float64)" for name in others] + [_widened(f"{x}.values")]
    dense = [_widened(name) for name in kernel.names]
    lines = _for_both(
        kernel,
        [f"return in_order(entry({', '.join(sparse)}))"],
        [f"return in_order(entry({', '.join(dense)}))"],
    )
    return _made(kernel, kernel.names, lines)


def most_of_entries(count: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The largest value of each of the `count` results of an entry, and not less than `least`.

    All are NaN if those of an entry are: an entry has NaN in all of its results or in none.
    """

    def decorate(entry: Callable[..., Any]) -> Callable[..., Any]:
        kernel = _kernel("most_of_entries", entry)._replace(results=count)
        (x,) = kernel.names
        values = f"entry(asarray({x}, float64))"
        if count == 1:
            line = f"return float({values}.max(initial=least))"
        else:
            line = f"return tuple([float(values.max(initial=least)) for values in {values}])"
        return _made(kernel, (x, "least"), [line])

    return decorate


def place_of_most(entry: Callable[..., Any]) -> Callable[..., int]:
    """The index of the largest value, the first of several; -1 if there are no entries."""
    kernel = _kernel("place_of_most", entry)
    (x,) = kernel.names
    line = f"return int(argmax(entry(asarray({x}, float64)))) if len({x}) > 0 else -1"
    return _made(kernel, (x,), [line])


def sum_in_each_row(function: Callable[..., float], name: str) -> Callable[..., None]:
    """A `sum_of_entries` of every row of a matrix and of x: function(matrix, x, sums)."""
    row: Kernel = function.kernel  # type: ignore[attr-defined]
    kernel = row._replace(kind="sum_in_each_row", of_row=function)
    lines = [
        "if len(matrix) != len(sums) or matrix.shape[1] != len(x):",
        "    raise ValueError(UNEQUAL)",
        "terms = entry(matrix, x)",
        "whole = terms.shape[1] & -8",
        "sums[:] = reduce(terms[:, :whole], axis=1) + reduce(terms[:, whole:], axis=1)",
    ]
    return _made(kernel, ("matrix", "x", "sums"), lines, name)


def change_each_row(function: Callable[..., Any], each: str, name: str) -> Callable[..., None]:
    """An `each_entry` that changes its first row, for every row of a matrix in its place.

    The number `each` is a row itself: one number for each row of the matrix.
    """
    row: Kernel = function.kernel  # type: ignore[attr-defined]
    kernel = row._replace(kind="change_each_row", of_row=function, each=each)
    matrix, x = row.names[0], row.names[-1]
    given = [f"{name}[:, None]" if name == each else name for name in row.names]
    lines = [
        f"if len({matrix}) != len({each}) or {matrix}.shape[1] != len({x}):",
        "    raise ValueError(UNEQUAL)",
        f"{matrix}[:] = entry({', '.join(given)})",
    ]
    return _made(kernel, row.names, lines, name)


def sum_of_all_rows(entry: Callable[..., Any]) -> Callable[..., None]:
    """Add up an entry of each row of a matrix and its number, from the first row to the last.

    The function has the matrix, the row of numbers and the row of sums that it writes.
    """
    kernel = _kernel("sum_of_all_rows", entry)
    matrix, x = kernel.names
    lines = [
        f"if len({matrix}) != ({x}.dim if isinstance({x}, Sparse) else len({x})):",
        "    raise ValueError(UNEQUAL)",
        f"if isinstance({x}, Sparse):",
        f"    {matrix}, {x} = {matrix}[{x}.places], {x}.values",
        f"terms = entry({matrix}, asarray({x}, float64)[:, None])",
        "total[:] = accumulate(terms)[-1] if len(terms) else 0.0",
    ]
    return _made(kernel, (matrix, x, "total"), lines)


def in_order(terms: np.ndarray) -> float:
    """Their sum: first of those that fill all eight running sums, then of the up to seven others."""
    whole = len(terms) & -8
    return float(np.add.reduce(terms[:whole])) + float(np.add.reduce(terms[whole:]))


def _kernel(kind: str, entry: Any) -> Kernel:
    entry.is_entry = True  # compiled, x / 0 is infinite or NaN, as in NumPy
    notes, code = entry.__annotations__, entry.__code__
    names = code.co_varnames[: code.co_argcount]
    return Kernel(kind, entry, names, tuple(name for name in names if notes.get(name) is float))


def _for_both(kernel: Kernel, sparse: list[str], dense: list[str]) -> list[str]:
    """Lines for a sparse and for a dense last row. They raise an error if rows have not the same length."""
    first, x = first_row(kernel), kernel.names[-1]
    if first != x:
        sparse = [f"if len({first}) != {x}.dim:", "    raise ValueError(UNEQUAL)", *sparse]
        dense = [f"if len({first}) != len({x}):", "    raise ValueError(UNEQUAL)", *dense]
    return [f"if isinstance({x}, Sparse):", *_indented(sparse), "else:", *_indented(dense)]


def first_row(kernel: Kernel) -> str:
    """The name of the first parameter that is a row."""
    return next(name for name in kernel.names if name not in kernel.numbers)


def _widened(array: str) -> str:
    """An array, or a list, as float64. Asking for its type first is faster than `asarray`."""
    return f"{array} if getattr({array}, 'dtype', None) is float64 else asarray({array}, float64)"


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


_NUMPY = {
    "Sparse": Sparse,
    "UNEQUAL": UNEQUAL,
    "accumulate": np.add.accumulate,
    "argmax": np.argmax,
    "asarray": np.asarray,
    "float64": np.dtype(np.float64),
    "in_order": in_order,
    "reduce": np.add.reduce,
}


def _made(kernel: Kernel, names: tuple[str, ...], lines: list[str], name: str = "") -> Callable[..., Any]:
    """The function of these lines. Like `collections.namedtuple`, it is made from source."""
    entry, name = kernel.entry, name or kernel.entry.__name__
    function = defined(name, names, lines, {**_NUMPY, "entry": entry, "__name__": entry.__module__})
    function.__doc__ = entry.__doc__
    function.kernel = kernel  # type: ignore[attr-defined]
    return function


def defined(name: str, names: tuple[str, ...], lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    """A function of this name, with these parameters and lines."""
    exec("\n    ".join([f"def {name}({', '.join(names)}):", *lines]), scope)
    made: Callable[..., Any] = scope[name]
    return made
