"""Matrices that grow by one row's square at a time, kept as their triangular factor R: A = R'R.

Rotating the row into R is an orthogonal transformation, so nothing is ever subtracted from what A has: its
factor keeps a positive diagonal for ever, whatever the rows are. A row costs O(dim²), a multiple of the
identity dim³ / 6 turns.
"""

import math

import numpy as np

from holdfast.norms import euclidean, hypotenuse
from holdfast.vectors import add, dot


def rotate_in(R: np.ndarray, x: np.ndarray) -> None:
    """R becomes the factor of R'R + xx', and x is spent."""
    for k in range(len(x)):
        if x[k] != 0.0:
            rotate(R[k], x, k)


def rotate(row: np.ndarray, x: np.ndarray, k: int) -> tuple[float, float]:
    """Rotate x into a row of the factor, both from entry k on, so that x[k] becomes 0. The turn: cos, sin."""
    length = hypotenuse(abs(float(row[k])), abs(float(x[k])))
    if not length > 0.0:
        return 1.0, 0.0
    c, s = float(row[k]) / length, float(x[k]) / length
    for j in range(k, len(x)):
        ours, theirs = float(row[j]), float(x[j])
        row[j], x[j] = c * ours + s * theirs, c * theirs - s * ours
    row[k] = length
    return c, s


def solved_below(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """z with R'z = x; x is spent."""
    z = np.zeros(len(x))
    for k in range(len(x)):
        z[k] = x[k] / R[k, k]
        add(x[k + 1 :], -float(z[k]), R[k, k + 1 :])
    return z


def solved_above(R: np.ndarray, z: np.ndarray) -> np.ndarray:
    """w with Rw = z."""
    w = np.zeros(len(z))
    for k in range(len(z) - 1, -1, -1):
        w[k] = (z[k] - dot(R[k, k + 1 :], w[k + 1 :])) / R[k, k]
    return w


def shift(R: np.ndarray, mu: float) -> None:
    """R becomes the factor of A + mu I. A unit vector turns only the rows from its own on."""
    for k in range(len(R)):
        row = np.zeros(len(R))
        row[k] = math.sqrt(mu)
        rotate_in(R, row)


def nearest(R: np.ndarray, v: np.ndarray, radius: float) -> np.ndarray:
    """The point w with ‖w‖ <= radius and the least (w - v)'A(w - v); v, if it is inside.

    Outside, it is (A + mu I)⁻¹ A v for the mu that puts it on the boundary. 1 / ‖w‖ is concave in mu, so that
    Newton's steps from 0 never overshoot (Conn, Gould and Toint, *Trust-Region Methods*, section 7.3).
    """
    w, mu, factor, b = v, 0.0, R, np.zeros(len(v))
    for k in range(len(v)):
        add(b[k:], dot(R[k, k:], v[k:]), R[k, k:])
    for _ in range(50):
        size = euclidean(w)
        if size <= radius * (1.0 + 1e-13):
            break
        slower = euclidean(solved_below(factor, w.copy()))
        mu += (size / slower) * (size / slower) * ((size - radius) / radius)
        factor = R.copy()
        shift(factor, mu)
        w = solved_above(factor, solved_below(factor, b.copy()))
    return w
