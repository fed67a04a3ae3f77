"""Robust regret of a record: how much more the player lost than a fixed u, on the inliers (section 2)."""

__all__ = ["Worst", "best_comparator", "linearised_regret", "losses_of", "robust_regret", "worst_case"]

import itertools
import math
from typing import NamedTuple

import numpy as np

from holdfast.adversaries.gradients import Gradients
from holdfast.comparator import best_fixed_weights
from holdfast.filters.everything import Everything
from holdfast.game import Filtered
from holdfast.learners.fixed import Fixed
from holdfast.play import play
from holdfast.vectors import largest

_FAR = 1e100
_MAX_SETS = 20_000  # up to this many sets of inliers are tried one by one


def robust_regret(record, inliers=None, comparator=None):
    """R_T(u, 𝒮): the losses of the player less those of u, summed over the inliers.

    Parameters
    ----------
    record : Record
        With its losses. The adversary must not react to the player.
    inliers : boolean array, optional
        𝒮. Default: all rounds. Rounds without a finite size are never inliers.
    comparator : vector, optional
        u. Default: the best in hindsight on 𝒮.

    Examples
    --------
    >>> import holdfast as hf
    >>> G = np.array([[1.0], [1.0], [-9.0], [1.0]])
    >>> record = play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients(G))
    >>> round(robust_regret(record, inliers=G[:, 0] < 2, comparator=[-1.0]), 2)
    2.0
    """
    inliers = _mask(record, inliers)
    u = best_comparator(record, inliers) if comparator is None else np.asarray(comparator, float)
    return float((record.column("losses") - losses_of(record, u))[inliers].sum())


def linearised_regret(record, inliers=None, comparator=None):
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


def best_comparator(record, inliers=None):
    """The u in the domain with the least total loss on the inliers.

    For linear losses in closed form, for the other losses of holdfast by cvxpy
    (`pip install 'holdfast[solve]'`).
    """
    inliers, domain = _mask(record, inliers), record.domain
    if isinstance(record.adversary, Gradients):
        return _extreme(domain, -record.linear()[1][inliers].sum(axis=0))
    first = record.last - len(inliers)
    return best_fixed_weights(record.adversary, first + np.flatnonzero(inliers), domain)


def losses_of(record, u):
    """f_t(u) in every round of the record: the losses of a player that always predicts u."""
    last = record.last
    fixed = play(Filtered(Fixed(u), Everything()), record.adversary, rounds=last, keep=["losses"])
    return fixed.losses[last - len(record.column("losses")) :]


class Worst(NamedTuple):
    """The largest linearised robust regret that was found. `exact` says that no other is larger."""

    regret: float
    inliers: np.ndarray
    comparator: np.ndarray
    exact: bool


def worst_case(record, k):
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


def _alternate(domain, products, gradients, k, u):
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


def _on(domain, products, gradients, S):
    total = gradients[S].sum(axis=0)
    return Worst(float(products[S].sum() + domain.support(-total)), S, _extreme(domain, -total), False)


def _of_all_rounds(worst, measured, record, exact):
    inliers = np.zeros(len(_mask(record, None)), bool)
    inliers[measured[worst.inliers]] = True
    return Worst(worst.regret, inliers, worst.comparator, exact)


def _number_of_sets(rounds, k):
    return sum(math.comb(rounds, j) for j in range(min(k, rounds) + 1)) if rounds < 200 else math.inf


def _sets(rounds, k):
    for j in range(min(k, rounds) + 1):
        for outliers in itertools.combinations(range(rounds), j):
            S = np.ones(rounds, bool)
            S[list(outliers)] = False
            yield S


def _extreme(domain, g):
    """The point of the domain that is farthest in the direction of g."""
    center, size = domain.center(len(g)), largest(g)
    return domain.project(center + _FAR * (g / size)) if size > 0 else center


# -- the quantities of the paper's bounds


def largest_size(record, inliers=None):
    """G(𝒮), the largest size of an inlier, 0 if there is none."""
    return float(record.column("sizes")[_mask(record, inliers)].max(initial=0.0))


def farthest(record, comparator, inliers=None, slack=2.0):
    """D(u, 𝒮): the largest ‖w_t - u‖ over the rounds with size at most slack * G(𝒮); needs the iterates."""
    near = record.column("sizes") <= slack * largest_size(record, inliers)
    norm = record.player.core().norm
    return max((norm.of(w - comparator) for w in record.column("iterates")[near]), default=0.0)


def gradients_at(record, comparator, inliers=None, slack=2.0):
    """G̃(u, 𝒮) of Corollary 3: 2 G(𝒮) plus the largest gradient at u, over the same rounds as `farthest`."""
    G = largest_size(record, inliers)
    near = record.column("sizes") <= slack * G
    last = record.last
    player = Filtered(Fixed(comparator), Everything(), norm=record.player.core().norm)
    fixed = play(player, record.adversary, rounds=last, keep=["sizes"])
    return 2.0 * G + float(fixed.sizes[last - len(near) :][near].max(initial=0.0))


# -- reading a record


def _mask(record, inliers):
    """The inliers with a finite size, as a mask over the rounds of the record."""
    measured = np.isfinite(record.column("sizes"))
    if inliers is None:
        return measured
    mask = np.asarray(inliers)
    if mask.dtype != bool or mask.shape != measured.shape:
        raise ValueError(
            f"inliers must be True or False for each of the {len(measured)} rounds: "
            f"got {mask.dtype} of shape {mask.shape}"
        )
    return mask & measured
