"""The best fixed weights in hindsight, found by cvxpy as the solution of a convex problem."""

import numpy as np

from holdfast.adversaries.replay import Replay


def best_fixed_weights(adversary, rounds, domain):
    """argmin over the domain of the total loss of these rounds of a `Replay`."""
    try:
        import cvxpy as cp
    except ImportError:
        raise ImportError("the best comparator needs cvxpy: pip install 'holdfast[solve]'") from None
    if not isinstance(adversary, Replay):
        raise TypeError(
            f"the best comparator is known for Replay and Gradients: give a comparator for {adversary!r}"
        )
    X, y = np.asarray(adversary.X[rounds], float), np.asarray(adversary.y[rounds], float)
    u = cp.Variable(X.shape[1])
    total = cp.sum(_loss(cp, adversary.loss, X @ u, y)) if len(y) else cp.Constant(0.0)
    problem = cp.Problem(cp.Minimize(total / max(len(y), 1)), _constraints(cp, domain, u, 0.0))
    problem.solve()
    if u.value is None:
        raise ValueError(f"cvxpy found no best comparator: its status is {problem.status}")
    return domain.project(np.array(u.value, float))


def _loss(cp, loss, z, y):
    """A loss as a cvxpy expression."""
    residual, margin = z - y, cp.multiply(y, z)
    expressions = {
        "Linear": lambda: margin,
        "Absolute": lambda: cp.abs(residual),
        "Squared": lambda: 0.5 * cp.square(residual),
        "Huber": lambda: 0.5 * cp.huber(residual, loss.knee),
        "Pinball": lambda: cp.maximum(-loss.tau * residual, (1.0 - loss.tau) * residual),
        "EpsilonInsensitive": lambda: cp.pos(cp.abs(residual) - loss.epsilon),
        "Hinge": lambda: cp.pos(1.0 - margin),
        "SquaredHinge": lambda: cp.square(cp.pos(1.0 - margin)),
        "Logistic": lambda: cp.logistic(-margin),
    }
    return _lookup(expressions, loss, "loss")()


def _constraints(cp, domain, u, around):
    """A domain as a list of cvxpy constraints."""
    constraints = {
        "Ball": lambda: [cp.norm(u - around) <= domain.radius],
        "L1Ball": lambda: [cp.norm1(u - around) <= domain.radius],
        "Simplex": lambda: [u - around >= 0, cp.sum(u - around) == 1],
        "Box": lambda: [u - around >= domain.low, u - around <= domain.high],
        "Interval": lambda: [u >= domain.low, u <= domain.high],
        "Ellipsoid": lambda: [cp.matrix_frac(u - around, domain.shape) <= 1],
        "Shifted": lambda: _constraints(cp, domain.domain, u, around + domain.around),
    }
    return _lookup(constraints, domain, "domain")()


def _lookup(table, rule, kind):
    name = type(rule).__name__
    if name not in table or not type(rule).__module__.startswith("holdfast."):
        raise TypeError(f"the best comparator is not known for the {kind} {name}: give a comparator")
    return table[name]
