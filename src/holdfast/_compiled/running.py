"""Run a function as machine code: compiled when the package was built, or else by numba.

numba is not installed with holdfast alone: `pip install 'holdfast[compile]'`.
"""

import functools
import importlib.util
import logging
from types import ModuleType
from typing import Any

from holdfast._compiled import prebuilt
from holdfast._compiled.argument_types import AnyFunction, Arguments, BoundState

_LOG = logging.getLogger("holdfast")


def call(function: AnyFunction, *args: Any) -> Any:
    """Call `function` compiled for arguments of these types."""
    program = prebuilt.find(function, args)
    return _calls().call(function, *args) if program is None else program.call(args)


def prepare(function: AnyFunction, *args: Any) -> None:
    """Compile `function` for arguments of these types, and store it on disk, without calling it."""
    if prebuilt.find(function, args) is None:
        _calls().prepare(function, *args)


def bind_state(function: AnyFunction, *args: Any) -> BoundState:
    """A function of one argument, which calls `function(*values, argument)`: `args` are the values and an
    argument of the type that all arguments will have.

    The values stay in native memory. `function` must return the new first value and an answer. `first()` of
    the result is that value.
    """
    program = prebuilt.find(function, args)
    bound: BoundState = _calls().bind_state(function, *args) if program is None else program.bind(args)
    return bound


def is_stored(form: str, function: AnyFunction, args: Arguments) -> bool:
    """Whether it need not be compiled for these types: it is in this process, on disk or in the package."""
    return prebuilt.find(function, args) is not None or _calls().is_stored(form, function, args)


def can_compile(is_long: bool) -> bool:
    """Whether numba is there. If not, and a long game is about to be slow, the log says so once."""
    if not has_numba() and is_long:
        _say_once()
    return has_numba()


@functools.cache
def has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _say_once() -> None:
    _LOG.warning(
        "this game was not compiled with holdfast, so it runs in Python: the same results, but many times "
        "slower. pip install 'holdfast[compile]' lets holdfast compile it"
    )


def _calls() -> ModuleType:
    from holdfast._compiled import calls

    return calls
