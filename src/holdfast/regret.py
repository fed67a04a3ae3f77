"""Robust regret of a record: how much more the player lost than a fixed u, on the inliers (section 2)."""

__all__ = ["Worst", "best_comparator", "linearised_regret", "losses_of", "robust_regret", "worst_case"]

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from holdfast.adversaries.gradients import Gradients
from holdfast.adversaries.replay import Replay
from holdfast.filters.everything import Everything
from holdfast.game import Filtered
from holdfast.learners.fixed import Fixed
from holdfast.play import play
from holdfast.record import Record
from holdfast.vectors import largest

_FAR = 1e100
_MAX_SETS = 20_000  # up to this many sets of inliers are tried one by one


def robust_regret(
    record: Record, inliers: ArrayLike | None = None, comparator: ArrayLike | None = None
) -> float:
    """R_T(u, 𝒮): the losses of the player less those of u, summed over the inliers.

    Parameters:
        record: With its losses. The adversary must not react to the player.
        inliers (boolean array, optional): 𝒮. Default: all rounds. Rounds without a finite size are never
            inliers.
        comparator (vector, optional): u. Default: the best in hindsight on 𝒮.

    >>> import holdfast as hf
    >>> G = np.array([[1.0], [1.0], [-9.0], [1.0]])
    >>> record = play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients(G))
    >>> round(robust_regret(record, inliers=G[:, 0] < 2, comparator=[-1.0]), 2)
    2.0
    """
    inliers = _mask(record, inliers)
    u = best_comparator(record, inliers) if comparator is None else np.asarray(comparator, float)
    return float((record.column("losses") - losses_of(record, u))[inliers].sum())


def linearised_regret(
    record: Record, inliers: ArrayLike | None = None, comparator: ArrayLike | None = None
) -> float:
    """Σ_{t∈𝒮} <w_t - u, g_t>, for any adversary. It is at least R_T(u, 𝒮) if the losses are convex.

    Parameters as for `robust_regret`, but the default u is the one with the largest regret. If the record has
    no products and gradients, the game is played again.
    """
    inliers = _mask(record, inliers)
    products, gradients = record.linear()
    total = gradients[inliers].sum(axis=0)
    if comparator is None:
        return float(products[inliers].sum() + record.domain.support(-total))
    return float(products[inliers].sum() - np.dot(comparator, total))


def best_comparator(record: Record, inliers: ArrayLike | None = None) -> np.ndarray:
    """The u in the domain with the least total loss on the inliers.

    For linear losses in closed form, for the other losses of holdfast by cvxpy
    (`pip install 'holdfast[solve]'`).
    """
    inliers, domain = _mask(record, inliers), record.domain
    if isinstance(record.adversary, Gradients):
        return _extreme(domain, -record.linear()[1][inliers].sum(axis=0))
    first = record.last - len(inliers)
    return best_fixed_weights(record.adversary, first + np.flatnonzero(inliers), domain)


def losses_of(record: Record, u: ArrayLike) -> np.ndarray:
    """f_t(u) in every round of the record: the losses of a player that always predicts u."""
    last = record.last
    fixed = play(Filtered(Fixed(np.asarray(u)), Everything()), record.adversary, rounds=last, keep=["losses"])
    return fixed.column("losses")[last - len(record.column("losses")) :]


class Worst(NamedTuple):
    """The largest linearised robust regret that was found. `exact` says that no other is larger."""

    regret: float
    inliers: np.ndarray
    comparator: np.ndarray
    exact: bool


def worst_case(record: Record, k: int) -> Worst:
    """The largest linearised robust regret over all u and all sets of inliers with at most k outliers.

    Exact in one dimension, where the worst u is an end of the domain, and if there are few sets to try.
    Otherwise u and 𝒮 are improved alternately from several starts, and the result is a lower bound.
    """
    measured = np.flatnonzero(_mask(record, None))
    products, gradients = (column[measured] for column in record.linear())
    domain, dim = record.domain, gradients.shape[1]
    if _number_of_sets(len(measured), k) <= _MAX_SETS:
        best = max(
            (_on(domain, products, gradients, S) for S in _sets(len(measured), k)),
            key=lambda worst: worst.regret,
        )
        return _of_all_rounds(best, measured, record, exact=True)
    starts = np.vstack([np.eye(dim), -np.eye(dim), gradients.sum(axis=0)[None]])
    found = (_alternate(domain, products, gradients, k, _extreme(domain, g)) for g in starts)
    return _of_all_rounds(max(found, key=lambda worst: worst.regret), measured, record, exact=dim == 1)


def _alternate(domain: Any, products: np.ndarray, gradients: np.ndarray, k: int, u: np.ndarray) -> Worst:
    """The worst 𝒮 for u, the worst u for this 𝒮, and so on, until the regret stops growing."""
    best = Worst(-math.inf, np.zeros(0, bool), u, False)
    while True:
        terms = products - gradients @ best.comparator
        S = np.ones(len(terms), bool)
        dropped = np.argsort(terms)[:k]
        S[dropped[terms[dropped] < 0]] = False
        found = _on(domain, products, gradients, S)
        if not found.regret > best.regret:
            return best
        best = found


def _on(domain: Any, products: np.ndarray, gradients: np.ndarray, S: np.ndarray) -> Worst:
    total = gradients[S].sum(axis=0)
    return Worst(float(products[S].sum() + domain.support(-total)), S, _extreme(domain, -total), False)


def _of_all_rounds(worst: Worst, measured: np.ndarray, record: Record, exact: bool) -> Worst:
    inliers = np.zeros(len(_mask(record, None)), bool)
    inliers[measured[worst.inliers]] = True
    return Worst(worst.regret, inliers, worst.comparator, exact)


def _number_of_sets(rounds: int, k: int) -> float:
    return sum(math.comb(rounds, j) for j in range(min(k, rounds) + 1)) if rounds < 200 else math.inf


def _sets(rounds: int, k: int) -> Iterator[np.ndarray]:
    for j in range(min(k, rounds) + 1):
        for outliers in itertools.combinations(range(rounds), j):
            S = np.ones(rounds, bool)
            S[list(outliers)] = False
            yield S


def _extreme(domain: Any, g: np.ndarray) -> np.ndarray:
    """The point of the domain that is farthest in the direction of g."""
    center, size = domain.center(len(g)), largest(g)
    return domain.project(center + _FAR * (g / size)) if size > 0 else center


# -- the quantities of the paper's bounds


def largest_size(record: Record, inliers: ArrayLike | None = None) -> float:
    """G(𝒮), the largest size of an inlier, 0 if there is none."""
    return float(record.size[_mask(record, inliers)].max(initial=0.0))


def gradients_at(record: Record, comparator: ArrayLike, inliers: ArrayLike | None = None) -> float:
    """G̃(u, 𝒮) of Corollary 3: 2 G(𝒮) plus the largest gradient at u of a round with size up to 2 G(𝒮)."""
    G = largest_size(record, inliers)
    near = record.size <= 2.0 * G
    last = record.last
    player = Filtered(Fixed(np.asarray(comparator)), Everything(), norm=record.player.core().norm)
    fixed = play(player, record.adversary, rounds=last, keep=["sizes"])
    return 2.0 * G + float(fixed.column("sizes")[last - len(near) :][near].max(initial=0.0))


# -- reading a record


def _mask(record: Record, inliers: ArrayLike | None) -> np.ndarray:
    """The inliers with a finite size, as a mask over the rounds of the record."""
    measured = np.isfinite(record.size)
    if inliers is None:
        return measured
    mask = np.asarray(inliers)
    if mask.dtype != bool or mask.shape != measured.shape:
        raise ValueError(
            f"inliers must be True or False for each of the {len(measured)} rounds: "
            f"got {mask.dtype} of shape {mask.shape}"
        )
    return mask & measured


# -- the best fixed weights in hindsight, found by cvxpy as the solution of a convex problem


def best_fixed_weights(adversary: Any, rounds: np.ndarray, domain: Any) -> np.ndarray:
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
    solvers = [None, *(name for name in ("CLARABEL", "SCS") if name in cp.installed_solvers())]
    for solver in solvers:  # None lets cvxpy choose; where it fails, another often does not
        with contextlib.suppress(cp.SolverError, ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the next solver is asked then
            problem.solve(solver=solver)
            if problem.status == cp.OPTIMAL:
                return domain.project(np.array(u.value, float))
    raise ValueError(
        f"cvxpy found no best comparator (status {problem.status}); the largest feature of the inliers is "
        f"{np.abs(X).max(initial=0.0):.3g}: mark rounds of such a size as outliers (inliers=), scale the "
        "features, or give a comparator"
    )


def _loss(cp: Any, loss: Any, z: Any, y: np.ndarray) -> Any:
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


def _constraints(cp: Any, domain: Any, u: Any, around: float | np.ndarray) -> Any:
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


def _lookup(table: Mapping[str, Callable[[], Any]], rule: Any, kind: str) -> Callable[[], Any]:
    name = type(rule).__name__
    if name not in table or not type(rule).__module__.startswith("holdfast."):
        raise TypeError(f"the best comparator is not known for the {kind} {name}: give a comparator")
    return table[name]
