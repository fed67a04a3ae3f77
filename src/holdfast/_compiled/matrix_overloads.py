"""The functions of holdfast.matrices as numba compiles them."""

import numpy as np

from holdfast import matrices, vectors
from holdfast._compiled import kernels
from holdfast._compiled.overloads import is_instance, overloads
from holdfast.vectors import UNEQUAL, Sparse


@overloads(matrices.sum_of_rows)
def sum_of_rows(matrix, x, total):
    if is_instance(x, Sparse):

        def some_rows(matrix, x, total):
            vectors.assign(total, np.zeros(len(total)))
            for j in range(len(x.places)):
                vectors.add(total, np.float64(x.values[j]), matrix[np.uint64(x.places[j])])

        return some_rows
    if x.layout != "C":
        return lambda matrix, x, total: matrices.sum_of_rows(matrix, np.ascontiguousarray(x), total)

    def all_rows(matrix, x, total):
        if len(matrix) != len(x) or matrix.shape[1] != len(total):
            raise ValueError(UNEQUAL)
        kernels.sum_rows(matrix, x, total)

    return all_rows


@overloads(matrices.shrink_rows)
def shrink_rows(matrix, a, factor, along):
    def shrunk(matrix, a, factor, along):
        if len(matrix) != len(along) or matrix.shape[1] != len(a):
            raise ValueError(UNEQUAL)
        kernels.shrink_rows(matrix, a, along, np.float64(factor))

    return shrunk
