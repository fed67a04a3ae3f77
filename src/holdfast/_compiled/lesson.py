"""Teaching numba what a function reaches.

Numba understands nested NamedTuples, but neither their methods nor plain Python functions. A lesson walks
from a function over everything it can reach and has numba compile, for each method and helper it meets,
the very function Python would run. So rules compose by type, and a user's own `@rule` compiles without
being registered anywhere.
"""

import dis
import hashlib
import inspect
import pathlib
import sys
from types import FunctionType, ModuleType

import numba
import numpy as np
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global
from numba.extending import infer_getattr, lower_builtin

from holdfast._compiled import stowing  # noqa: F401  (importing it teaches numba holdfast.stowing)
from holdfast._compiled.loops import TAUGHT
from holdfast._compiled.parts import Part

OPTIONS = {"nogil": True}
PART = {"forceinline": True, "pipeline_class": Part, **OPTIONS}
_LIBRARIES = {*sys.stdlib_module_names, "numpy", "numba"}
_NAMED_TUPLE = {"_asdict", "_replace", "_make", "_raw"}


class Lesson:
    """All that a function and its arguments can reach, taught to numba on the way, and a digest of it."""

    def __init__(self, function, args):
        self.functions: set = set()
        self.classes: set = set()
        self.names: set = set()  # all names and attributes in the code reached
        self.facts: set = {numba.__version__, _own_source()}
        self.bindings: list = []  # what each name stands for, and in which scope
        self._members: dict = {}
        self.is_news = False  # whether a name stood for something else when its function was taught before
        self.argument(args)
        self.function(function)
        known = -1
        while known != len(self.functions):  # a new function may call methods nobody called before
            known = len(self.functions)
            for cls in list(self.classes):
                for name in sorted(self.names & self.members(cls).keys()):
                    self.method(cls, name)

    def fingerprint(self):
        """A digest of all code and constants reached: if it is the same, so is the machine code."""
        return hashlib.sha256("\n".join(sorted(self.facts)).encode()).hexdigest()

    def is_current(self):
        """Whether every name still stands for what it did: the compiler looks it up only once."""
        return all(scope.get(name) is value for scope, name, value in self.bindings)

    def argument(self, value):
        """An argument is known to the compiler by its type only."""
        if isinstance(value, tuple):
            self.named_tuple(type(value))
            for item in value:
                self.argument(item)
        elif hasattr(value, "py_func"):
            self.function(value.py_func)

    def named_tuple(self, cls):
        if hasattr(cls, "_fields") and cls not in self.classes:
            self.classes.add(cls)
            self.facts.add(f"class {_address(cls)} {cls._fields}")

    def members(self, cls):
        """All that a class and its bases define, looked up once a lesson."""
        if cls not in self._members:
            self._members[cls] = {name: None for base in cls.__mro__ for name in vars(base)}
        return self._members[cls]

    def method(self, cls, name):
        found = _method(cls, name)
        if found is not None:
            self.facts.add(f"{_address(cls)}.{name} is {_address(found)}")
            _teach_method(found)
            self.function(found)

    def function(self, function):
        if function in self.functions:
            return
        self.functions.add(function)
        code = function.__code__
        names = _names(code)
        self.names.update(names)
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        closure = {name: cell.cell_contents for name, cell in cells}
        known = dict(self.found(function.__globals__, _globals(code), names, set()))
        known |= self.found(closure, closure, names, set())
        known |= {f"default {i}": value for i, value in enumerate(function.__defaults__ or ())}
        known |= {f"default {name}": value for name, value in (function.__kwdefaults__ or {}).items()}
        words = {name: self.constant(value) for name, value in sorted(known.items())}
        self.facts.add(f"{_address(function)} {_text(code)} {words}")
        meaning = {name: value if callable(value) else words[name] for name, value in known.items()}
        self.is_news |= _meanings.setdefault(function, meaning) != meaning
        _meanings[function] = meaning

    def found(self, scope, wanted, names, seen):
        """What the names wanted stand for in a scope; of a module there, all names of the code."""
        for name in wanted:
            if name in scope:
                value = scope[name]
                self.bindings.append((scope, name, value))
                if not isinstance(value, ModuleType) or _is_library(value.__name__):
                    yield name, value
                elif value not in seen:
                    inside = self.found(vars(value), names, names, {value, *seen})
                    yield from ((f"{name}.{inner}", item) for inner, item in inside)

    def constant(self, value):
        """What tells this value from all others that a name could stand for, in words."""
        if isinstance(value, FunctionType):
            if not _is_library(value.__module__):
                _teach(value)
                self.function(value)
            return _address(value)
        if hasattr(value, "py_func"):
            self.function(value.py_func)
            return _address(value.py_func)
        if isinstance(value, type):
            if issubclass(value, tuple):
                self.named_tuple(value)
            return _address(value)
        if isinstance(value, tuple):
            self.named_tuple(type(value))
            return _address(type(value)), [self.constant(item) for item in value]
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()
        if isinstance(value, int | float | complex | str | bytes | np.generic | None):
            return repr(value)
        return _address(value)


_meanings: dict = {}  # what the names in each function stood for: functions themselves, the rest in words


def _names(code):
    """The names and attributes that a code object uses, and those inside it."""
    inner = [_names(constant) for constant in code.co_consts if inspect.iscode(constant)]
    return sorted({*code.co_names}.union(*inner))


def _globals(code):
    """The names that it looks up in its module, which attributes of the same name do not concern."""
    inner = [_globals(constant) for constant in code.co_consts if inspect.iscode(constant)]
    return sorted({i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}.union(*inner))


def _text(code):
    """What a code object does, in words that are the same in every process."""
    constants = [_text(c) if inspect.iscode(c) else _ordered(c) for c in code.co_consts]
    return code.co_code.hex(), code.co_names, code.co_varnames, constants


def _ordered(constant):
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)


def _address(thing):
    """Where a class or function is found; of anything else, where its class is."""
    owner = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{owner.__module__}.{owner.__qualname__}"


def _is_library(module):
    return (module or "").split(".")[0] in _LIBRARIES


def _own_source():
    """The source of this room, which decides what becomes of everybody else's."""
    here = pathlib.Path(__file__).parent
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))).hexdigest()


# -- teaching

_dispatchers: dict = {}  # of functions, those numba knows
_helpers = set(TAUGHT)
_calls: dict = {}  # of methods
open_calls: list = []  # the methods that numba is compiling, the innermost last; those that fail stay


def dispatcher(function):
    """The function as numba compiles it, when someone calls it."""
    if function not in _dispatchers:
        _dispatchers[function] = numba.njit(function, **PART)
    return _dispatchers[function]


def forget():
    """Let numba compile everything anew: a name that it looked up has come to stand for something else."""
    for known in _dispatchers.values():
        known._reset_overloads()


def _teach(function):
    if function not in _helpers:
        _helpers.add(function)
        infer_global(function, types.Dispatcher(dispatcher(function)))


@infer_getattr
class _Methods(AttributeTemplate):
    """state.push(size) is Largest.push(state, size), for every NamedTuple."""

    key = types.BaseNamedTuple  # type: ignore[attr-defined]

    def generic_resolve(self, kind, name):
        method = None if name in kind.fields else _method(kind.instance_class, name)
        return types.BoundFunction(_calls[method], kind) if method in _calls else None


def _method(cls, name):
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return found if isinstance(found, FunctionType) and name not in _NAMED_TUPLE else None


def _teach_method(method):
    """Tell numba the type of a call of this method, and its code."""
    if method in _calls:
        return

    class Call(AbstractTemplate):
        key = method

        def generic(self, args, kws):
            depth = len(open_calls)
            open_calls.append(method)
            kind = types.Dispatcher(dispatcher(method))
            found = kind.get_call_type(self.context, (self.this, *args), kws)
            del open_calls[depth:]
            return found.as_method()

    @lower_builtin(method, types.VarArg(types.Any))
    def generate(context, builder, signature, args):
        call = context.get_function(types.Dispatcher(dispatcher(method)), signature)
        context.add_linking_libs(getattr(call, "libs", ()))
        return call(builder, args)

    _calls[method] = Call
