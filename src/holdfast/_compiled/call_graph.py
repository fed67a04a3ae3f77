"""Find all code that a function can call. This does not import numba.

A `CallGraph` starts at a function and follows all names in its code. Its fingerprint is a digest of what it
found: with the same fingerprint, the machine code is the same. `compiler` tells numba of the methods and
helpers in it. A user's own `@rule` needs no other preparation.
"""

import dis
import functools
import hashlib
import inspect
import pathlib
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from holdfast._compiled.argument_types import Arguments, is_function

_LIBRARIES = {*sys.stdlib_module_names, "numpy", "numba"}
_NAMED_TUPLE = {"_asdict", "_replace", "_make", "_raw"}
# Function -> the values of its global names: functions themselves, the others as text.
_last_seen: dict[FunctionType, dict[str, Any]] = {}


class CallGraph:
    """All functions, classes and constants that a function and its arguments can use.

    `changed` says whether a global name has another value than in the graph before. Numba looks up each name
    only once.
    """

    def __init__(self, function: Any, args: Arguments) -> None:
        self.functions: set[FunctionType] = set()
        self.classes: set[type] = set()
        self.names: set[str] = set()  # all names and attributes in the code
        self.facts: set[str] = {_own_source()}
        self.methods: list[tuple[type, str, FunctionType]] = []  # class, name, method
        self.helpers: list[FunctionType] = []  # functions that are called by their names
        self.bindings: list[tuple[dict[str, Any], str, Any]] = []  # scope, name, value of all globals in use
        self.changed = False
        self._seen: dict[FunctionType, dict[str, Any]] = {}
        self._members: dict[type, dict[str, None]] = {}
        self._add_argument(args)
        self._add_function(function)
        count = -1
        while count != len(self.functions):  # a new function may call methods that no other function calls
            count = len(self.functions)
            for cls in list(self.classes):
                for name in sorted(self.names & self._members_of(cls).keys()):
                    self._add_method(cls, name)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A digest of all code and constants. The same digest means the same machine code."""
        return hashlib.sha256("\n".join(sorted(self.facts)).encode()).hexdigest()

    def accept_changes(self) -> None:
        """Compare later graphs with the values of now: what was compiled before is forgotten."""
        _last_seen.update(self._seen)

    def is_current(self) -> bool:
        """Whether every global name still refers to the same object."""
        return all(scope.get(name) is value for scope, name, value in self.bindings)

    def _add_argument(self, value: Any) -> None:
        """Only the type of an argument matters to the compiler, so its value is not part of the digest."""
        if isinstance(value, tuple):
            self._add_class(type(value))
            for item in value:
                self._add_argument(item)
        elif is_function(value):
            self._add_function(getattr(value, "py_func", value))

    def _add_class(self, cls: Any) -> None:
        if hasattr(cls, "_fields") and cls not in self.classes:
            self.classes.add(cls)
            self.facts.add(f"class {_qualified_name(cls)} {cls._fields}")

    def _members_of(self, cls: type) -> dict[str, None]:
        """The names that a class and its bases define."""
        if cls not in self._members:
            self._members[cls] = {name: None for base in cls.__mro__ for name in vars(base)}
        return self._members[cls]

    def _add_method(self, cls: type, name: str) -> None:
        method = _method(cls, name)
        if method is not None:
            self.facts.add(f"{_qualified_name(cls)}.{name} is {_qualified_name(method)}")
            self.methods.append((cls, name, method))
            self._add_function(method)

    def _add_function(self, function: FunctionType) -> None:
        if function in self.functions:
            return
        self.functions.add(function)
        code = function.__code__
        names = _names(code)
        self.names.update(names)
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        closure = {name: cell.cell_contents for name, cell in cells}
        values = dict(self._look_up(function.__globals__, _globals(code), names, set()))
        values |= self._look_up(closure, closure, names, set())
        values |= {f"default {i}": value for i, value in enumerate(function.__defaults__ or ())}
        values |= {f"default {name}": value for name, value in (function.__kwdefaults__ or {}).items()}
        text = {name: self._describe(value) for name, value in sorted(values.items())}
        self.facts.add(f"{_qualified_name(function)} {_code_text(code)} {text}")
        seen = {name: value if callable(value) else text[name] for name, value in values.items()}
        self._seen[function] = seen
        self.changed |= _last_seen.setdefault(function, seen) != seen

    def _look_up(
        self, scope: dict[str, Any], wanted: Iterable[str], names: list[str], seen: set[ModuleType]
    ) -> Iterator[tuple[str, Any]]:
        """The values in a scope of the names wanted. If a value is a module, look up `names` in it."""
        for name in wanted:
            if name in scope:
                value = scope[name]
                self.bindings.append((scope, name, value))
                if not isinstance(value, ModuleType) or _is_library(value.__name__):
                    yield name, value
                elif value not in seen:
                    inside = self._look_up(vars(value), names, names, {value, *seen})
                    yield from ((f"{name}.{inner}", item) for inner, item in inside)

    def _describe(self, value: Any) -> Any:
        """Text that differs for different values. Functions and classes are added to the graph."""
        if isinstance(value, FunctionType):
            if not _is_library(value.__module__):
                self._add_helper(value)
            return _qualified_name(value)
        if hasattr(value, "py_func"):
            self._add_function(value.py_func)
            return _qualified_name(value.py_func)
        if isinstance(value, type):
            if issubclass(value, tuple):
                self._add_class(value)
            return _qualified_name(value)
        if isinstance(value, tuple):
            self._add_class(type(value))
            return _qualified_name(type(value)), [self._describe(item) for item in value]
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()
        if isinstance(value, int | float | complex | str | bytes | np.generic | None):
            return repr(value)
        return _qualified_name(value)

    def _add_helper(self, function: Any) -> None:
        """A function that is called by its name: a kernel, one with a copy for each type, or any other."""
        self.helpers.append(function)
        kernel = getattr(function, "kernel", None)
        if kernel is not None:
            self._describe(kernel.entry)
            if kernel.of_row is not None:
                self._describe(kernel.of_row)
            self.facts.add(f"{_qualified_name(function)} {kernel._replace(entry=None, of_row=None)}")
        elif getattr(function, "is_by_type", False):
            self._add_function(inspect.unwrap(function))
        else:
            self._add_function(function)


def _method(cls: type, name: str) -> FunctionType | None:
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return found if isinstance(found, FunctionType) and name not in _NAMED_TUPLE else None


def _names(code: CodeType) -> list[str]:
    inner = [_names(constant) for constant in code.co_consts if inspect.iscode(constant)]
    return sorted({*code.co_names}.union(*inner))


def _globals(code: CodeType) -> list[str]:
    """The names that they look up as globals, without the names of attributes."""
    inner = [_globals(constant) for constant in code.co_consts if inspect.iscode(constant)]
    return sorted({i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}.union(*inner))


def _code_text(code: CodeType) -> Arguments:
    """A code object as text that is the same in every process."""
    constants = [_code_text(c) if inspect.iscode(c) else _constant_text(c) for c in code.co_consts]
    return code.co_code.hex(), code.co_names, code.co_varnames, constants


def _constant_text(constant: Any) -> Any:
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)


def _qualified_name(thing: Any) -> str:
    """The module and name of a class or function; for anything else, those of its class."""
    owner = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{owner.__module__}.{owner.__qualname__}"


def _is_library(module: str | None) -> bool:
    return (module or "").split(".")[0] in _LIBRARIES


@functools.cache
def _own_source() -> str:
    """A digest of this package: a change in it can change the machine code of everything else."""
    here = pathlib.Path(__file__).parent
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))).hexdigest()
