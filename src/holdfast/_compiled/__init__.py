"""Everything that knows of machine code. No other package imports numba.

All machine code is called through pointers (`programs`), with values laid out by `memory_layout`. `calls`
takes what is there: a game that was compiled when the package was built (`prebuilt`; made by `prebuild`,
linked by `linking`), one from the disk (`disk_cache`, `object_files`), or one that is compiled now.
`compiling` says when that pays. None of these imports numba before it compiles.

`compiler` compiles. `call_graph` finds the methods and helpers that a game calls; `by_type` and
`kernel_forms` make the functions of rows among them. `error_messages` explains in one sentence what cannot
be compiled. `numba_path` chooses one of two paths, with the same results:

- the private path is fast: `numba_private`, `machine_code`, `llvm_kernels`;
- the public path uses only the documented API of numba: `numba_public`.
"""

from holdfast.lazy_imports import lazy_names

_NAMES = ("bind_state", "call", "is_stored", "prepare")

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(_NAMES, "calls"))
