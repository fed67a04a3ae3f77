"""What cvxpy says the minimum is, polished: from its answer, Newton's steps on the conditions for optimality.

A solver stops when nothing can be gained beyond its tolerance, and the point may then be off by the root of
that. These answers are good to 1e-12, and know nothing of the formulas that they are to check.
"""

import cvxpy as cp
import numpy as np


def over_ball(H, b, radius):
    """argmin ½ w'Hw - b'w over ‖w‖ <= radius."""
    w = cp.Variable(len(b))
    inside = cp.norm2(w) <= radius
    goal = cp.Minimize(0.5 * cp.quad_form(w, cp.psd_wrap(H)) - b @ w)
    cp.Problem(goal, [inside]).solve(solver=cp.CLARABEL)
    free = np.linalg.solve(H, b)
    if np.linalg.norm(free) <= radius:
        assert np.abs(free - w.value).max() < 1e-2 * radius
        return free
    point, mu = w.value, float(inside.dual_value) / radius  # mu w is the gradient of its Lagrange term
    for _ in range(5):
        K = np.block([[H + mu * np.eye(len(b)), point[:, None]], [point, np.zeros(1)]])
        step = np.linalg.solve(K, [*(b - H @ point - mu * point), 0.5 * (radius**2 - point @ point)])
        point, mu = point + step[:-1], mu + step[-1]
    assert mu >= 0.0  # with the equations above: optimal
    assert np.abs(step).max() <= 1e-9 * (1.0 + mu)
    return point


def over_simplex(h, v):
    """argmin Σ h (w - v)² over the simplex."""
    w = cp.Variable(len(v))
    goal = cp.Minimize(cp.sum(cp.multiply(h, cp.square(w - v))))
    cp.Problem(goal, [w >= 0.0, cp.sum(w) == 1.0]).solve(solver=cp.CLARABEL)
    inside = w.value > 1e-6
    price = (v[inside].sum() - 1.0) / (1.0 / h[inside]).sum()
    point = np.where(inside, v - price / h, 0.0)
    assert (point >= 0.0).all() and (h[~inside] * v[~inside] <= price).all()  # optimal
    return point


def over_box(h, v, low, high):
    """argmin Σ h (w - v)² over a box."""
    w = cp.Variable(len(v))
    goal = cp.Minimize(cp.sum(cp.multiply(h, cp.square(w - v))))
    cp.Problem(goal, [w >= low, w <= high]).solve(solver=cp.CLARABEL)
    point = np.where(v < low, low, np.where(v > high, high, v))  # each entry on its own: optimal
    assert np.abs(point - w.value).max() < 1e-4
    return point
