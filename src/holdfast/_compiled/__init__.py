"""Everything that knows of machine code. No other package imports numba.

Most games are compiled when the package is built, by `prebuild` and `machine_code`, and linked by `linking`.
`prebuilt` finds them, `programs` calls them, and `memory_layout` writes their arguments. All others need
numba at run time: `compiling` decides when. `running` takes what is there. Of these, only `prebuild` and
`machine_code` import numba; nor do `argument_types`, `cache_folder` and `long_calls`.

`calls` compiles and calls. `method_registration` finds the methods and helpers that a game calls; `by_type`
and `kernel_forms` make the functions of rows among them. `error_messages` explains in one sentence what
cannot be compiled. `numba_path` chooses one of two paths, with the same results:

- the private path is fast: `numba_private`, `native_calls`, `native_state`, `disk_cache`, `llvm_kernels`;
- the public path uses only the documented API of numba: `numba_public`.
"""

from holdfast.lazy_imports import lazy_names

_NAMES = ("bind_state", "call", "is_stored", "prepare")

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(_NAMES, "running"))
