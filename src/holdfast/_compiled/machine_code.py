"""Compile functions to objects of machine code that `holdfast._compiled.programs` calls."""

import pathlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import types
from numba.extending import intrinsic

from holdfast._compiled import numba_private, object_files
from holdfast._compiled.argument_types import AnyFunction, Arguments
from holdfast._compiled.memory_layout import Kind, layout_of, layout_of_kind
from holdfast._compiled.numba_private import has_counter, incref, without_counters
from holdfast._compiled.object_files import GAME, RELEASE, SPEED, ObjectFile

Form = Literal["call", "state"]  # for `Program.call`, or for `State`

_RUNTIME = pathlib.Path(__file__).with_name("runtime.ll")
_NUMBERS = {types.float64: "float", types.int64: "int", types.boolean: "bool"}
_NUMBERS |= {types.unicode_type: "str", types.none: "none"}
_OTHER_NUMBERS = ("float32", "int32", "uint32", "uint64", "int16", "uint16", "int8", "uint8")


class Entry(NamedTuple):
    """A function to compile for the types of some arguments, and the name of its code."""

    symbol: str
    form: Form
    function: AnyFunction
    args: Arguments


class Compiled(NamedTuple):
    """Code in LLVM's language, and the kind of what each entry writes."""

    bitcode: bytes
    results: list[Kind]
    is_portable: bool


def compile_game(form: Form, function: AnyFunction, args: Arguments, kind: Any) -> ObjectFile:
    """The machine code of a function of arguments of this type, for this processor."""
    compiled = compile_entries([Entry(GAME, form, function, args)], RELEASE, [kind])
    data, declared = machine_code(compiled.bitcode, object_files.target())
    needs = [name for name in declared if name.startswith(("numba", "NRT"))]
    return ObjectFile(data, compiled.results[0], needs, compiled.is_portable)


def compile_entries(entries: Sequence[Entry], release: str, kinds: Sequence[Any] = ()) -> Compiled:
    """Compile functions of arguments of these types together, so that they share the code of what both call.

    What they call is registered with numba already. Without types, arrays may be written to: one game for
    both, as the machine code does not differ.
    """
    kinds = kinds or [_writeable(numba.typeof(entry.args)) for entry in entries]
    wrapped = [_wrapped(entry, kind) for entry, kind in zip(entries, kinds, strict=True)]
    dispatchers = {entry.symbol: dispatcher for entry, (dispatcher, _) in zip(entries, wrapped, strict=True)}
    runtime = _RUNTIME.read_text().replace("@holdfast_release", f"@{release}")
    code, is_portable = numba_private.bitcode(dispatchers, (types.voidptr, types.voidptr), runtime, release)
    results = [kind_of_type(written[0]) for _, written in wrapped]
    for (_, written), result in zip(wrapped, results, strict=True):
        if numba_private.size_of(written[0]) != layout_of_kind(result).size:
            raise AssertionError("memory_layout and numba lay out a result differently")
    return Compiled(code, results, is_portable)


def machine_code(bitcode: bytes, target: Any) -> tuple[bytes, list[str]]:
    """An object file, and the names of all functions that it calls and does not have.

    What is rarely called is made small, which takes less time.
    """
    module = llvm.parse_bitcode(bitcode)
    for each in module.functions:
        if not each.is_declaration and b"cold" in b" ".join(each.attributes):
            each.add_function_attribute("minsize")
            each.add_function_attribute("optsize")
    for speed in (0, SPEED):
        tuning = llvm.create_pipeline_tuning_options(speed_level=speed)
        tuning.loop_vectorization, tuning.slp_vectorization = speed > 0, False
        builder = llvm.create_pass_builder(target, tuning)
        passes = builder.getModulePassManager()
        if speed == 0:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
            # Most arrays have no counter, which is known only when states are no longer in memory. Otherwise
            # the next pass compares thousands of calls that count with each other.
            passes.add_sroa_pass()
            passes.add_instruction_combine_pass()
        passes.add_refprune_pass()
        passes.run(module, builder)
    if any("NumbaEnv" in each.name for each in module.global_variables):
        raise TypeError("it uses Python objects")
    with numba_private.cheap_loops():
        written: bytes = target.emit_object(module)
    return written, [each.name for each in module.functions if each.is_declaration]


def _wrapped(entry: Entry, kind: Any) -> tuple[Any, list[Any]]:
    """A numba function of two pointers, and a list that gets the type of what it writes."""
    if numba_private.size_of(kind) != layout_of(entry.args).size:
        raise AssertionError("memory_layout and numba lay out a value differently")
    load, written = _loader(kind), list[Any]()
    inner = numba.njit(entry.function, **numba_private.HELPER)
    if entry.form == "call":
        store = _storer(written, None)

        def wrapped(arguments: Any, result: Any) -> None:
            value = inner(*uncounted(load(arguments)))
            store(result, (1 if is_counted(value) else 0, value))

    else:
        store = _storer(written, kind[0])

        def wrapped(arguments: Any, result: Any) -> None:
            first, answer = inner(*uncounted(load(arguments)))
            store(result, (1 if is_counted((first, answer)) else 0, answer, 0, first))

    return numba.njit(wrapped, **numba_private.OVERLOAD), written


def kind_of_type(kind: Any) -> Kind:
    """`memory_layout.kind_of` of the values of a type."""
    kind = types.unliteral(kind)
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    if str(kind) in _OTHER_NUMBERS:
        return str(kind)
    if isinstance(kind, types.Array):
        return "array", np.dtype(str(kind.dtype)).str, kind.ndim, kind.layout, kind.aligned
    if isinstance(kind, types.BaseTuple):
        return getattr(kind, "instance_class", tuple), tuple([kind_of_type(item) for item in kind])
    raise TypeError(f"machine code has no layout for {kind}")


def _writeable(kind: Any) -> Any:
    if isinstance(kind, types.Array):
        return kind.copy(readonly=False)
    if not isinstance(kind, types.BaseTuple):
        return kind
    items = [_writeable(item) for item in kind]
    if not isinstance(kind, types.BaseNamedTuple):
        return types.Tuple(items)
    if items and len(set(items)) == 1:
        return types.NamedUniTuple(items[0], len(items), kind.instance_class)
    return types.NamedTuple(items, kind.instance_class) if items else kind


# -- in machine code: read arguments, write results
#
# Numba counts references to every array and string in a NamedTuple, with an atomic operation each: a filter
# that takes 5 ns a round then takes 50. The caller of a game keeps its arguments alive until the game
# returns, so they are passed without a counter. References to new arrays are counted as usual.


@intrinsic
def uncounted(typing_context: Any, value: Any) -> Any:
    """The same value, with arrays and strings that have no reference counter."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return without_counters(context, builder, signature.args[0], args[0])

    return value(value), generate


@intrinsic
def is_counted(typing_context: Any, value: Any) -> Any:
    """Whether an array in the value has a reference counter: whether it is a new array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return has_counter(context, builder, signature.args[0], args[0])

    return types.boolean(value), generate


def _loader(kind: Any) -> Any:
    @intrinsic
    def load(typing_context: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(builder.bitcast(args[0], context.get_value_type(kind).as_pointer()))

        return kind(types.voidptr), generate

    return load


def _storer(written: list[Any], first: Any) -> Any:
    """A function that writes a value to a pointer, and adds its type to a list; a state with this type."""

    @intrinsic
    def store(typing_context: Any, place: Any, value: Any) -> Any:
        items = [types.unliteral(item) for item in value]
        kind = types.Tuple(items if first is None else [*items[:-1], first])
        written[:] = [kind]

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            incref(context, builder, kind, args[1])  # of new arrays; `programs` releases them
            builder.store(args[1], builder.bitcast(args[0], args[1].type.as_pointer()))
            return numba_private.nothing(context)

        return types.void(types.voidptr, kind), generate

    return store
