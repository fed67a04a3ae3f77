"""The kernels and the compiler options of the path that `numba_path` has chosen."""

# ruff: noqa: F401  (imported from here)
from holdfast._compiled.numba_path import private

if private is None:
    from holdfast._compiled.numba_public import HELPER, OVERLOAD
    from holdfast._compiled.plain_kernels import (
        adagrad_entries,
        add_entries,
        add_exactly_entries,
        gathered_product,
        inner_product,
        moments_entries,
        prefetch,
        shrink_rows,
        standardise_entries,
        sum_of_squares,
        sum_rows,
    )
else:
    from holdfast._compiled.llvm_entrywise import (
        adagrad_entries,
        add_entries,
        add_exactly_entries,
        moments_entries,
        standardise_entries,
    )
    from holdfast._compiled.llvm_kernels import (
        gathered_product,
        inner_product,
        prefetch,
        sum_of_squares,
    )
    from holdfast._compiled.llvm_matrices import shrink_rows, sum_rows
    from holdfast._compiled.numba_private import HELPER, OVERLOAD
