"""Compile functions to objects of machine code that `holdfast._compiled.programs` calls."""

import pathlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import types
from numba.extending import intrinsic

from holdfast._compiled import numba_private
from holdfast._compiled.argument_types import AnyFunction, Arguments
from holdfast._compiled.memory_layout import layout_of, layout_of_text
from holdfast._compiled.method_registration import CallGraph
from holdfast._compiled.native_calls import is_counted, uncounted
from holdfast._compiled.numba_private import incref

Form = Literal["call", "state"]  # for `Program.call`, or for `State`

_RUNTIME = pathlib.Path(__file__).with_name("runtime.ll")
_SPEED = 2  # the level of LLVM's optimisation
_NUMBERS = {types.float64: "float", types.int64: "int", types.boolean: "bool"}
_NUMBERS |= {types.unicode_type: "str", types.none: "none"}


class Entry(NamedTuple):
    """A function to compile for the types of some arguments, and the name of its code."""

    symbol: str
    form: Form
    function: AnyFunction
    args: Arguments


class Compiled(NamedTuple):
    """Code in LLVM's language, the type of what each entry writes, and all Python code that it is made of."""

    bitcode: bytes
    results: list[Any]
    graphs: list[CallGraph]


def compile_entries(entries: Sequence[Entry], release: str) -> Compiled:
    """Compile functions together, so that they share the code of what both call."""
    graphs = [CallGraph(entry.function, entry.args) for entry in entries]
    wrapped = [_wrapped(entry) for entry in entries]
    dispatchers = {entry.symbol: dispatcher for entry, (dispatcher, _) in zip(entries, wrapped, strict=True)}
    runtime = _RUNTIME.read_text().replace("@holdfast_release", f"@{release}")
    code = numba_private.bitcode(dispatchers, (types.voidptr, types.voidptr), runtime, release)
    results = [text_of(written[0]) for _, written in wrapped]
    for (_, written), result in zip(wrapped, results, strict=True):
        if numba_private.size_of(written[0]) != layout_of_text(result).size:
            raise AssertionError("memory_layout and numba lay out a result differently")
    return Compiled(code, results, graphs)


def machine_code(bitcode: bytes, processor: str, features: str = "") -> bytes:
    """An object file. What is rarely called is made small, which takes less time."""
    module = llvm.parse_bitcode(bitcode)
    target = llvm.Target.from_triple(module.triple)
    machine = target.create_target_machine(
        cpu=processor, features=features, opt=_SPEED, reloc="pic", codemodel="default"
    )
    for each in module.functions:
        if not each.is_declaration and b"cold" in b" ".join(each.attributes):
            each.add_function_attribute("minsize")
            each.add_function_attribute("optsize")
    for speed in (0, _SPEED):
        tuning = llvm.create_pipeline_tuning_options(speed_level=speed)
        tuning.loop_vectorization, tuning.slp_vectorization = speed > 0, False
        builder = llvm.create_pass_builder(machine, tuning)
        passes = builder.getModulePassManager()
        if speed == 0:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        passes.add_refprune_pass()
        passes.run(module, builder)
    written: bytes = machine.emit_object(module)
    return written


def _wrapped(entry: Entry) -> tuple[Any, list[Any]]:
    """A numba function of two pointers, and a list that gets the type of what it writes."""
    kind = _writeable(numba.typeof(entry.args))
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


def text_of(kind: Any) -> Any:
    """`memory_layout.type_text` of the values of a type."""
    kind = types.unliteral(kind)
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    if isinstance(kind, types.Array):
        dtype = np.dtype(str(kind.dtype)).str
        return ["array", dtype, kind.ndim, kind.layout, kind.aligned]
    if isinstance(kind, types.BaseTuple):
        cls = getattr(kind, "instance_class", tuple)
        return [cls.__module__, cls.__qualname__, [text_of(item) for item in kind]]
    raise TypeError(f"machine code has no layout for {kind}")


def _writeable(kind: Any) -> Any:
    """The type with arrays that can be written to: one game for both, as machine code does not differ."""
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
