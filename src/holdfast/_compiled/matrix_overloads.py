"""The functions of holdfast.matrices as numba compiles them."""

import numpy as np

from holdfast import matrices, vectors
from holdfast._compiled import kernels
from holdfast._compiled.overloads import is_instance, overloads
from holdfast.vectors import UNEQUAL, Sparse


@overloads(matrices.sum_of_rows)
def sum_of_rows(matrix, x):
    if is_instance(x, Sparse):

        def some_rows(matrix, x):
            total = np.zeros(matrix.shape[1])
            for j in range(len(x.places)):
                vectors.add(total, np.float64(x.values[j]), matrix[np.uint64(x.places[j])])
            return total

        return some_rows
    if x.layout != "C":
        return lambda matrix, x: matrices.sum_of_rows(matrix, np.ascontiguousarray(x))

    def all_rows(matrix, x):
        if len(matrix) != len(x):
            raise ValueError(UNEQUAL)
        total = np.empty(matrix.shape[1])
        kernels.sum_rows(matrix, x, total)
        return total

    return all_rows


@overloads(matrices.shrink_rows)
def shrink_rows(matrix, a, factor):
    def shrunk(matrix, a, factor):
        if matrix.shape[1] != len(a):
            raise ValueError(UNEQUAL)
        along = np.empty(len(matrix))
        kernels.shrink_rows(matrix, a, along, np.float64(factor))
        return along

    return shrunk
