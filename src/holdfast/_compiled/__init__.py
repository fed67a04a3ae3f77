"""Everything that knows of machine code. No other package imports numba.

`compiling` decides when a game is compiled, and `background` compiles in another process; with
`argument_types`, `cache_folder` and `long_calls` they do not import numba. `calls` compiles and calls.
`method_registration` finds the methods and helpers that a game calls; `by_type` and `kernel_forms` make the
functions of rows among them. `error_messages` explains in one sentence what cannot be compiled. `numba_path`
chooses one of two paths, with the same results:

- the private path is fast: `numba_private`, `native_calls`, `native_state`, `disk_cache`, `llvm_kernels`;
- the public path uses only the documented API of numba: `numba_public`.
"""

from holdfast.lazy_imports import lazy_names

_NAMES = ("bind_state", "call", "is_ready", "is_state_stored", "is_stored", "prepare")

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(_NAMES, "calls"))  # which imports numba
