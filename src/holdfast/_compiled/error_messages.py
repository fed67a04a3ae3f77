"""Explain in one sentence why numba cannot compile a rule, where, and what to do."""

import inspect
import linecache
import os
import re
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any

from holdfast._compiled.argument_types import AnyFunction, Arguments

_HEADING = re.compile(
    r"Failed in nopython|During:|Rejected|- Resolution|There are|Known signatures|raised from|File |Return of"
)
_PLACE = re.compile(r'File "([^"]+)", line (\d+)|(?:Raised from|at) (\S+\.py) \((\d+)\)')

# Numba's notation, and what we write instead.
_PLAIN_TEXT = [
    (r"\x1b\[[0-9;]*m", ""),
    (r"type\(CPUDispatcher\(<function (\S+) at 0x\w+>\)\)", r"\1"),
    (r"Function\(<(?:built-in )?function (\S+?)(?: at 0x\w+)?>\)", r"\1"),
    (r"BoundFunction\((\S+) for .*?\)(?= with)", r"\1"),
    (r"(readonly )?array\((\w+), (\d)d, \w\)", r"\1\3d array of \2"),
    (r"Literal\[(\w+)\]\(.*?\)", r"\1"),
    (r"<iv=.*?>", ""),
    (r"unicode_type", "str"),
    (r"<class '(.*?)'>", r"\1"),
    (r"\.*\s*(Raised from|, defined at) .*", ""),
]

# Common reasons: numba's text, our text, and the remedy.
_PYTHON_CAN = "write it another way, or pass compiled=False to run it in Python"
_REASONS = [
    (r"NameError: (.*)", r"\1", "define it, or correct the spelling"),
    (
        r"Unknown attribute '(\w+)' of type (\w+).*",
        r"\2 has no '\1' that numba can read",
        "it reads fields and plain methods, not properties, class attributes or static methods",
    ),
    (
        r"No definition for lowering (\w+)\(.*\)\.(\w+) = .*",
        r"it assigns to '\2' of \1, which cannot change",
        "return a new state instead",
    ),
    (
        r"Can't unify return type from the following types: (.*)",
        r"it returns values of different types, \1",
        "a state must keep its types; a number that becomes a float must start as one",
    ),
    (
        r"Cannot unify (.*) and (.*) for '(\w+).*",
        r"'\3' is \1 at first and \2 later",
        "a variable must keep its type; a number that becomes a float must start as one",
    ),
    (
        r"Can't index at.*|tuple index out of range",
        "a rule or state is made with too few values",
        "write all of them, because numba does not fill in defaults",
    ),
    (
        r"\('wrong tuple length.*expected (\d+), got (\d+)'\)",
        r"expected \1 values, got \2",
        "return that many",
    ),
    (r"In '(?:.*\.)?(\w+)': (.*)", r"wrong arguments for \1, \2", "pass its parameters"),
    (r"Cannot bind .* due to \"TypeError: (.*)\"", r"wrong arguments in a call, \1", "pass its parameters"),
    (
        r"Untyped global name '(\w+)':.* Numba type of (.*)",
        r"'\1' is a \2, which numba does not support",
        _PYTHON_CAN,
    ),
    (r"No implementation of function \S+ found for signature: >>> (.*)", r"numba has no \1", _PYTHON_CAN),
    (r"(.*)", r"\1", _PYTHON_CAN),
]


def explain(problem: str, inside: FunctionType | None, functions: Iterable[FunctionType]) -> str:
    """The innermost reason that numba gives, and the place in the code.

    Numba's text fills a page. The innermost reason is on its first line that is not a heading. `inside` is
    the method whose compilation failed first, or None; `functions` are all functions of the game.
    """
    lines = [line.strip() for line in problem.splitlines() if line.strip()]
    content = [line for line in lines if not _HEADING.match(line)] or lines
    reason = " ".join(content[:2]) if content[1:] and content[1].startswith(">>>") else content[0]
    reason = reason.rstrip(".")
    for pattern, text in _PLAIN_TEXT:
        reason = re.sub(pattern, text, reason)
    for pattern, meaning, remedy in _REASONS:
        match = re.fullmatch(pattern, reason)
        if match:
            place, text = _place(lines, inside, functions), _short(match.expand(meaning))
            return f"numba cannot compile {place}: {text}; {remedy}"
    raise AssertionError("the last pattern matches everything")


def raise_untyped(function: AnyFunction, args: Arguments, is_known: Callable[[Any], bool]) -> None:
    """Raise TypeError with the name of the part of the arguments that has no type that numba knows."""
    parts = list(zip(inspect.signature(function).parameters, args, strict=True))
    for path, value in parts:
        if isinstance(value, tuple):
            names = getattr(value, "_fields", range(len(value)))
            parts += [(f"{path}.{name}", item) for name, item in zip(names, value, strict=True)]
        elif not is_known(value):
            kind = type(value).__name__
            raise TypeError(
                f"numba cannot compile {path}, which is of type {kind}: rules are classes with @rule above "
                "them, states are NamedTuples of numbers and arrays; or pass compiled=False to run it in "
                "Python"
            )


def _place(lines: list[str], inside: FunctionType | None, functions: Iterable[FunctionType]) -> str:
    """The method or function that fails, and the line if numba gives it."""
    called = f"<function {inside.__qualname__} at" if inside else None
    for line in lines:
        if called and line.startswith("During: resolving callee") and called in line:
            break  # the following lines are about the caller
        match = _PLACE.search(line)
        if match:
            path, number = [group for group in match.groups() if group]
            for function in functions:
                if _contains(function.__code__, os.path.abspath(path), int(number)):
                    source = _short(linecache.getline(path, int(number)).strip(), 80)
                    return f"{_name(function)} ({os.path.basename(path)}, line {number}: {source})"
    return _name(inside) if inside else "this"


def _contains(code: CodeType, path: str, line: int) -> bool:
    lines = [number for _, _, number in code.co_lines() if number is not None]
    return os.path.abspath(code.co_filename) == path and min(lines) <= line <= max(lines)


def _name(function: FunctionType) -> str:
    return function.__qualname__.rpartition("<locals>.")[2]


def _short(text: str, limit: int = 140) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
