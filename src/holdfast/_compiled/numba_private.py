"""All uses of undocumented parts of numba. No other file of holdfast uses them.

Each section gives its reason and what it gains. The figures are for the guarded game of 20 features with
logistic loss, each measured by leaving out this one use (docs/benchmarks.md). `HOLDFAST_PUBLIC_NUMBA=1`
leaves out all of them (`numba_public`).
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import numba
from llvmlite import binding as llvm
from llvmlite import ir
from llvmlite.binding import Linkage, parse_assembly
from numba import _dynfunc, types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global
from numba.extending import infer_getattr, lower_builtin

from holdfast._compiled.argument_types import AnyFunction

TESTED = ("0.68",)  # the releases that the tests have run with; pyproject.toml allows the same

# Attributes in use. `check` looks for them when holdfast loads; otherwise a game would fail in the middle.
_ATTRIBUTES: dict[Any, tuple[str, ...]] = {
    CPUContext: (
        *("add_linking_libs", "codegen", "get_abi_sizeof", "get_dummy_value", "get_function"),
        *("get_value_type", "insert_user_function", "make_array", "make_helper", "nrt"),
        "refresh",
    ),
    JITCPUCodegen: ("_function_pass_manager",),
    Dispatcher: ("_reset_overloads", "compile"),
    JITCodeLibrary: (
        *("_finalize_dynamic_globals", "_get_module_for_linking", "_optimize_functions", "finalize"),
        "has_dynamic_globals",
    ),
    NRTContext: ("incref",),
    _dynfunc: ("make_function",),
}


def check() -> None:
    """Raise AttributeError if this numba lacks an attribute that is used here."""
    for owner, names in _ATTRIBUTES.items():
        for name in names:
            getattr(owner, name)


# -- jump threading
#
# Reason: an error inside of a round leaves it with a state of nulls. LLVM joins these exits with the usual
# one, and asks behind them which one it was. As long as it does, the addresses of all arrays of a state may
# differ from round to round, and each round copies them from one place of the stack to another. LLVM can let
# each exit go its own way instead ("jump threading"), but by default not where more than 76 values meet, or
# with more than 6 instructions before the question. A state of the defaults has 300 values. The options are
# those of the whole process, so they also hold for other functions that numba compiles in it.
# Gain: a round of the estimators' games, d = 20, takes 0.51 us for numbers instead of 1.13, and 0.77 for
# labels instead of 1.20; their machine code is half as long.

_KNOWS_OPTIONS = numba.__version__.rsplit(".", 1)[0] in TESTED  # LLVM ends the process at an unknown option
if _KNOWS_OPTIONS:
    for _option in ("jump-threading-threshold=30", "jump-threading-phi-threshold=100000"):
        llvm.set_option("holdfast", f"--{_option}")


# -- no loop strength reduction
#
# Reason: this pass looks for cheaper addresses in each loop, and takes most of the time of making machine
# code from a game whose state has 300 values. Off only while holdfast makes code: other functions keep it.
# Gain: the machine code of the default game for labels takes 1.9 s of CPU instead of 12.6. A round takes the
# same time, 0.45, 0.82 and 4.25 us with 5, 20 and 100 columns, before 0.45, 0.81 and 4.24.


@contextlib.contextmanager
def cheap_loops() -> Iterator[None]:
    """Make machine code without loop strength reduction."""
    if _KNOWS_OPTIONS:
        llvm.set_option("holdfast", "--disable-lsr=true")
    try:
        yield
    finally:
        if _KNOWS_OPTIONS:
            llvm.set_option("holdfast", "--disable-lsr=false")


# -- lean compilation
#
# Reason: numba optimises each function separately and makes a wrapper for Python. A game calls a hundred
# methods and helpers that Python never calls, and LLVM optimises them again as parts of the game. Here they
# are not optimised separately and get no wrapper. The option forceinline makes LLVM inline them; without it,
# LLVM inlines only a part of a game. A function marked `holdfast.rule.rarely_called` is not inlined, so that
# its callers need fewer registers. LLVM cannot see that the arrays it returns have no reference counter, and
# would count them in every round. So their counters are removed: it must not return new arrays.
# Gain: compiling takes 14 s instead of 36, a round the same time. forceinline: 107 ns a round instead of
# 2,206.


class _UncompiledLibrary(JITCodeLibrary):
    """LLVM code of one function. It is not optimised or compiled, and has no code of other functions.

    The library that is compiled links it together with all functions that it calls, each once.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        # As in numba, but not for declarations. Most functions of a module are declarations, and to make
        # passes for one of them takes as long as for another function.
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def finalize(self) -> None:
        self._finalize_dynamic_globals()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        # First functions that LLVM keeps even if nothing linked so far calls them.
        whole, others = self._final_module.clone(), []
        linked, waiting = {self}, [*self._linking_libraries]
        while waiting:
            library = waiting.pop()
            if library not in linked:
                linked.add(library)
                if isinstance(library, _UncompiledLibrary):
                    whole.link_in(library._final_module, preserve=True)
                    waiting += library._linking_libraries
                else:
                    others.append(library)
        for library in others:
            whole.link_in(library._get_module_for_linking(), preserve=True)
        for function in whole.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"
        return whole


@register_pass(mutates_CFG=True, analysis_only=False)
class _LeanLowering(NativeLowering):
    _name = "holdfast_lean_lowering"

    def run_pass(self, state: Any) -> bool:
        context, flags = state.targetctx, state.flags
        state.library = _UncompiledLibrary(context.codegen(), state.func_id.func_qualname)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        out_of_line = getattr(state.func_id.func, "is_rarely_called", False)
        flags.forceinline = flags.forceinline and not out_of_line
        super().run_pass(state)
        result = state["cr"]
        if out_of_line:
            code = state.library._final_module.get_function(result.fndesc.llvm_func_name)
            for attribute in ("noinline", "cold"):
                code.add_function_attribute(attribute)
        # Callers find the code through this object. It is never called itself.
        name = result.fndesc.qualname.split(".")[-1]
        handle = _dynfunc.make_function(
            result.fndesc.lookup_module(), name, "", 0, result.env, (state.library,)
        )
        context.insert_user_function(handle, result.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = result._replace(cfunc=handle)
        return True


class _LeanCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (_LeanLowering if step is NativeLowering else step, text) for step, text in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]


# Options of numba.extending.overload, and of njit for functions that only compiled code calls.
OVERLOAD: dict[str, Any] = {"nogil": True, "pipeline_class": _LeanCompiler}
HELPER: dict[str, Any] = {"forceinline": True, **OVERLOAD}


# -- methods and helpers
#
# Reason: `overload_method` has one entry for each method name, with one list of parameters for all classes,
# and cannot compile a method again. Here each class has its own method, keywords and defaults work, and
# `reset` compiles again when a name in a notebook gets another value.
# Gain: compiling takes 14 s instead of 33, because `overload_method` compiles each call of a method again.

_dispatchers: dict[AnyFunction, Any] = {}  # function -> its dispatcher
_registered: set[AnyFunction] = set()
_methods: dict[tuple[type, str], AnyFunction] = {}  # (class, name) -> method
_templates: dict[AnyFunction, Any] = {}  # method -> the class by which numba finds the type of a call
open_calls: list[
    Any
] = []  # the methods that numba is compiling, the innermost last; failed ones stay in the list


def dispatcher(function: AnyFunction) -> Any:
    """The numba function that other compiled code calls."""
    if function not in _dispatchers:
        errors = {"error_model": "numpy"} if getattr(function, "is_entry", False) else {}
        _dispatchers[function] = numba.njit(function, **HELPER, **errors)
    return _dispatchers[function]


def reset() -> None:
    for each in _dispatchers.values():
        each._reset_overloads()


def register_function(function: AnyFunction) -> None:
    """Let compiled code call a plain Python function by its name."""
    if function not in _registered:
        _registered.add(function)
        infer_global(function, types.Dispatcher(dispatcher(function)))


def register_method(cls: type, name: str, method: AnyFunction) -> None:
    """Let compiled code call this method of a NamedTuple."""
    _methods[cls, name] = method
    if method not in _templates:
        _templates[method] = _template(method)


@infer_getattr
class _MethodLookup(AttributeTemplate):
    """state.push(size) is Largest.push(state, size)."""

    key = types.BaseNamedTuple

    def generic_resolve(self, kind: Any, name: str) -> Any:
        method = _methods.get((kind.instance_class, name))
        return None if method is None else types.BoundFunction(_templates[method], kind)


def _template(method: AnyFunction) -> Any:
    class MethodCall(AbstractTemplate):
        key = method

        def generic(self, args: Any, kws: Any) -> Any:
            depth = len(open_calls)
            open_calls.append(method)
            kind = types.Dispatcher(dispatcher(method))
            found = kind.get_call_type(self.context, (self.this, *args), kws)
            del open_calls[depth:]
            return found.as_method()

    @lower_builtin(method, types.VarArg(types.Any))
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        call = context.get_function(types.Dispatcher(dispatcher(method)), signature)
        context.add_linking_libs(getattr(call, "libs", ()))
        result = call(builder, args)
        if getattr(method, "is_rarely_called", False):
            result = without_counters(context, builder, signature.return_type, result)
        return result

    return MethodCall


# -- machine code that is called through pointers
#
# Reason: a dispatcher finds the types of all arguments at each call, and makes Python objects of all results,
# which takes a hundred times as long as a round. Its disk cache looks only at the file of the outermost
# function, so it would run old code after a change in another file, and numba must be imported to load it.
# `machine_code` makes object files of the code that comes from here.
# Gain: a round of `Player` takes 5 us instead of 98, and the first game of a process 0.1 s instead of 14.


def start() -> None:
    """Make the functions of numba that machine code may call known to LLVM."""
    cpu_target.target_context.refresh()


def bitcode(
    dispatchers: dict[str, Any], kinds: tuple[Any, ...], runtime: str, release: str
) -> tuple[bytes, bool]:
    """Functions of arguments of these types, and a runtime, in LLVM's language, not yet optimised; and
    whether other processes could run it.

    `dispatchers` are the functions by name. Only these names and `release` are visible outside.
    """
    whole, visible, is_portable = parse_assembly(runtime), {release, *dispatchers}, True
    for symbol, dispatcher in dispatchers.items():
        dispatcher.compile(kinds)
        compiled = dispatcher.overloads[kinds]
        is_portable &= not any(each.has_dynamic_globals for each in _linked(compiled.library))
        module = compiled.library._get_module_for_linking()
        own = module.get_function(compiled.fndesc.llvm_func_name)
        own.linkage, own.name = "external", symbol
        whole.triple, whole.data_layout = module.triple, module.data_layout
        whole.link_in(module)
    for each in (*whole.functions, *whole.global_variables):
        if not each.is_declaration and each.name not in visible:
            each.linkage = "internal"
    written: bytes = whole.as_bitcode()
    return written, is_portable


def _linked(library: Any) -> set[Any]:
    found, waiting = {library}, [library]
    while waiting:
        more = set(waiting.pop()._linking_libraries) - found
        found |= more
        waiting += more
    return found


# -- values in LLVM code
#
# Reason: the LLVM code of `llvm_kernels` and `machine_code` must read arrays in numba's layout, and must
# update or leave out its reference counts.
# Gain: 107 ns a round instead of 994 with reference counts, or 239 with loops of one entry at a time.


def data_and_length(context: Any, builder: Any, kind: Any, array: Any) -> tuple[Any, Any]:
    """The pointer to the entries of an array, and the number of its rows."""
    struct = context.make_array(kind)(context, builder, array)
    return struct.data, builder.extract_value(struct.shape, 0)


def without_counters(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value with arrays and strings that have no reference counter: numba then counts nothing."""
    if isinstance(kind, types.Array | types.UnicodeType):
        struct = context.make_helper(builder, kind, value)
        for name in ("meminfo", "parent"):
            setattr(struct, name, getattr(struct, name).type(None))
        return struct._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            changed = without_counters(context, builder, item, builder.extract_value(value, i))
            value = builder.insert_value(value, changed, i)
    return value


def has_counter(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Whether an array in the value has a reference counter, as one bit."""
    found = ir.Constant(ir.IntType(1), 0)
    if isinstance(kind, types.Array):
        counter = context.make_helper(builder, kind, value).meminfo
        found = builder.icmp_unsigned("!=", counter, counter.type(None))
    elif isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            part = builder.extract_value(value, i)
            found = builder.or_(found, has_counter(context, builder, item, part))
    return found


def incref(context: Any, builder: Any, kind: Any, value: Any) -> None:
    context.nrt.incref(builder, kind, value)


def nothing(context: Any) -> Any:
    """The value that an intrinsic without a result returns."""
    return context.get_dummy_value()


@functools.cache
def size_of(kind: Any) -> int:
    """How many bytes a value of this type takes. LLVM takes a millisecond to say so."""
    context = cpu_target.target_context
    context.refresh()  # so that it knows strings
    return context.get_abi_sizeof(context.get_value_type(kind))
