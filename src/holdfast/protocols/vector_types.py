"""The types of rows and of weights in the methods of the roles."""

from typing import Any, TypeAlias

Row: TypeAlias = Any  # a NumPy array of dim floats, or a `holdfast.vectors.Sparse`
Weights: TypeAlias = Any  # a NumPy array of dim floats, or one of the weights of `holdfast.vectors`
