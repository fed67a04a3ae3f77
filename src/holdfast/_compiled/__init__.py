"""The only room that imports numba: compiles the game as it stands.

`lesson` teaches numba the methods and helpers a function reaches, `loops` the functions of
`holdfast.vectors` (with `kernels` for sums and `entrywise` for steps), `stowing` those of `holdfast.stowing`,
`borrowing` not to count references, and `parts` not to make doors that nobody uses; `holding` keeps a state
there between calls, `storing` what was compiled on disk, and `sentence` says what could not be.
"""

import contextlib
import inspect
import threading
from types import FunctionType

import numba

from holdfast._compiled import loops  # noqa: F401  (importing it teaches numba holdfast.vectors)
from holdfast._compiled.borrowing import borrowed, returned
from holdfast._compiled.holding import Held, functions_for
from holdfast._compiled.lesson import OPTIONS, PART, Lesson, dispatcher, forget, open_calls
from holdfast._compiled.parts import settle
from holdfast._compiled.sentence import sentence, untyped
from holdfast._compiled.storing import Cache

_entries: dict = {}  # the functions called, as compiled
_lessons: dict = {}  # of each function called and the types it was compiled for
_next: dict = {}  # lessons of what is likely to be called next
_one_at_a_time = threading.RLock()


def call(function, *args):
    """Compile `function` for arguments of these types, unless that was done before, and call it."""
    args = _prepared(args)
    return returned(_compiled(function, args)(args), args)


def hold(function, *values):
    """The function with all but its last argument, a number, in the compiled world: see `holding`."""
    values = _prepared(values)
    with _one_at_a_time:
        lesson = Lesson(function, values)
        if lesson.is_news:
            _start_anew()
        kind = numba.types.Tuple(_kinds(function, (*values, 0.0)).types[:-1])
        functions = functions_for(function, kind, lesson.fingerprint())
        step = functions[0]
        _in_words(lesson, step.compile, (numba.intp, numba.float64))
        settle(step.overloads[numba.intp, numba.float64])
        return _in_words(lesson, Held, values, kind, functions)


def is_ready(function, *args):
    """Whether `call` would find these types compiled already in this process."""
    lesson = _lessons.get((function, _kinds(function, _prepared(args))))
    return lesson is not None and lesson.is_current()


def is_stored(function, *args):
    """Whether `call` would find these types compiled already, in this process or on disk."""
    args = _prepared(args)
    if is_ready(function, *args):
        return True
    with _one_at_a_time:
        entry, kinds = _entry(function), _kinds(function, args)
        lesson = _next[function, kinds] = Lesson(function, args)
        return isinstance(entry._cache, Cache) and entry._cache.holds(
            (kinds,), entry.targetctx.codegen(), lesson.fingerprint()
        )


def _compiled(function, args):
    kinds = _kinds(function, args)
    with _one_at_a_time:
        if (function, kinds) not in _lessons or not _lessons[function, kinds].is_current():
            lesson = _next.pop((function, kinds), None) or Lesson(function, args)
            if lesson.is_news:
                _start_anew()
            if (function, kinds) not in _lessons:
                _compile(_entry(function), kinds, lesson)
            _lessons[function, kinds] = lesson
        return _entries[function].overloads[(kinds,)].entry_point  # numba would look up the types once more


def _entry(function):
    """The function without reference counts for its arguments, and with a place on disk."""
    if function not in _entries:
        inner = numba.njit(function, **PART)

        def entry(args):
            return inner(*borrowed(args))

        _entries[function] = numba.njit(entry, **OPTIONS)
        with contextlib.suppress(RuntimeError):  # no folder to write to: every process compiles for itself
            _entries[function]._cache = Cache(entry)
    return _entries[function]


def _compile(entry, kinds, lesson):
    entry._cache.fingerprint = lesson.fingerprint()
    _in_words(lesson, entry.compile, (kinds,))
    settle(entry.overloads[(kinds,)])


def _in_words(lesson, compiling, *args):
    """What `compiling` makes of these; if numba cannot, say why in one sentence instead of pages."""
    open_calls.clear()
    try:
        return compiling(*args)
    except Exception as problem:
        text = str(problem) or repr(problem)
    raise TypeError(sentence(text, open_calls[-1] if open_calls else None, lesson.functions))


def _start_anew():
    """A name has come to stand for something else."""
    forget()
    _lessons.clear()
    _entries.clear()


def _kinds(function, args):
    """The type of the arguments, to numba."""
    try:
        return numba.typeof(args)
    except (TypeError, ValueError):
        pass
    for name, value in zip(inspect.signature(function).parameters, args, strict=True):
        _find_untyped(name, value)
    raise AssertionError("all arguments have a type, but not together")


def _find_untyped(path, value):
    if isinstance(value, tuple):
        for name, item in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            _find_untyped(f"{path}.{name}", item)
        return
    try:
        numba.typeof(value)
    except (TypeError, ValueError):
        raise TypeError(untyped(path, value)) from None


def _prepared(value):
    """A value as the compiler takes it: plain functions, as in `Functions`, become compiled ones."""
    if isinstance(value, FunctionType):
        return dispatcher(value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_prepared(item) for item in value])
    return value
