"""The functions of holdfast.matrices as numba compiles them."""

import numpy as np

from holdfast import matrices, vectors
from holdfast._compiled.overloads import overloads


@overloads(matrices.sum_of_rows)
def sum_of_rows(matrix, x):
    def added(matrix, x):
        total, values = np.zeros(matrix.shape[1]), vectors.values_of(x)
        for j in range(len(values)):
            if values[j] != 0.0:
                vectors.add(total, np.float64(values[j]), matrix[vectors.place(x, j)])
        return total

    return added


@overloads(matrices.inner_products)
def inner_products(matrix, x):
    def products(matrix, x):
        result = np.empty(len(matrix))
        for i in range(len(matrix)):
            result[i] = vectors.dot(matrix[i], x)
        return result

    return products


@overloads(matrices.add_to_rows)
def add_to_rows(matrix, factors, x):
    def added(matrix, factors, x):
        for i in range(len(matrix)):
            vectors.add(matrix[i], factors[i], x)

    return added
