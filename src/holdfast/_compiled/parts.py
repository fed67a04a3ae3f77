"""Parts: functions that only other compiled functions call.

Of everything it compiles numba makes optimised machine code and a door for Python. A game reaches a hundred
methods and helpers, of which Python calls none: the code of each is copied into the game and optimised there.
To leave both out here halves the time that compiling a game takes. What is `seldom` called is not copied, so
that rounds without it need not make room for it.
"""

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _Code(JITCodeLibrary):
    """Code to be linked into other code, and never to be run where it is."""

    def _optimize_final_module(self):
        pass  # later, as a part of what calls it

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "holdfast_part"

    def run_pass(self, state):
        context, flags = state.targetctx, state.flags
        state.library = _Code(context.codegen(), state.func_id.func_qualname)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        apart = getattr(state.func_id.func, "is_seldom_called", False)
        flags.forceinline = flags.forceinline and not apart
        super().run_pass(state)
        found = state["cr"]
        name = found.fndesc.qualname.split(".")[-1]
        if apart:
            code = state.library._final_module.get_function(found.fndesc.llvm_func_name)
            for word in ("noinline", "cold"):
                code.add_function_attribute(word)
        # Nobody calls it: it is the name by which the callers know the code.
        handle = _dynfunc.make_function(
            found.fndesc.lookup_module(), name, "", 0, found.env, (state.library,)
        )
        context.insert_user_function(handle, found.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = found._replace(cfunc=handle)
        return True


class Part(CompilerBase):
    """Numba's compiler, for parts."""

    def define_pipelines(self):
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_Lowering, words) if made is NativeLowering else (made, words) for made, words in passes.passes
        ]
        passes.finalize()
        return [passes]


def settle(compiled):
    """Tell a compiled function where the things are that its parts refer to, such as errors to raise."""
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)
