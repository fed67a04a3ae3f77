"""The same games through numba's public API: for `HOLDFAST_PUBLIC_NUMBA=1`, and where `numba_private` fails.

The results have the same bits. Compiling takes longer and is done again by every process, references are
counted, and a `Player` converts its state in every round. In compiled code a method is called by position,
not by keyword.
"""

import warnings

import numba
import numpy as np
from numba import types
from numba.extending import overload_method, register_jitable

OVERLOAD: dict = {"nogil": True}  # options for numba.extending.overload
HELPER: dict = {"nogil": True}  # options of njit for what only compiled code calls
open_calls: list = []  # see numba_private; not known here
_functions: set = set()
_methods: dict = {}  # (class, name) -> method
_names: set = set()
_dispatchers: dict = {}
_warned: list = []


def register_function(function):
    """Let compiled code call a plain Python function by its name."""
    if function not in _functions:
        _functions.add(function)
        register_jitable(function)


def register_method(cls, name, method):
    """Let compiled code call this method of a NamedTuple."""
    _methods[cls, name] = method
    if name not in _names:
        _names.add(name)
        _register_name(name)


def _register_name(name):
    """Numba has one entry for each method name, with one list of parameters for all classes: any number."""

    @overload_method(types.BaseTuple, name)
    def method(self, *args):
        found = _methods.get((self.instance_class, name))
        if found is None:
            return None
        call = dispatcher(found, self, args)
        return lambda self, *args: call(self, *args)


def dispatcher(function, *types):
    """One for each tuple of types: a method that calls itself with other types is no recursion to numba."""
    if (function, types) not in _dispatchers:
        _dispatchers[function, types] = numba.njit(function, **HELPER)
    return _dispatchers[function, types]


def compile_call(function, kind, graph):
    """Compile `function` for arguments whose tuple is of this type; a Python function of that tuple."""
    compiled = _compile(function, tuple(kind), graph)
    return lambda args: compiled(*args)


def is_stored(function, kind, graph):
    return False


class PythonState:
    """What `native_state.NativeState` does, with a state that Python keeps."""

    def __init__(self, step, values):
        self.step, self.values = step, values

    def __call__(self, number):
        first, answer = self.step(*self.values, number)
        self.values = (first, *self.values[1:])
        return answer

    def first(self):
        return self.values[0]


def hold(function, values, graph):
    kinds = [numba.typeof(value) for value in values]
    return PythonState(_compile(function, (*kinds, types.float64), graph), values)


def _compile(function, kinds, graph):
    return _interpreted(function) if graph.changed else numba.njit(kinds, nogil=True)(function)


def _interpreted(function):
    """Python runs it: numba would use what a name stood for when it first compiled, and cannot be told."""
    if not _warned:
        _warned.append(function)
        warnings.warn(
            "a name that a compiled function uses has a new meaning, so Python runs the function "
            "from now on: the same results, but slower. Restart Python to compile it",
            RuntimeWarning,
            stacklevel=2,
        )

    def run(*args):
        with np.errstate(all="ignore"):
            return function(*args)

    return run
