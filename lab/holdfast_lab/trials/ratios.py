"""Regret / bound of a learner on given rounds, for the worst of some comparators u. It is at most 1.

A round is a row of an array: a gradient, unless a function says otherwise. Regret within rounding of 0 counts
as 0.
"""

import math
from typing import Any

import numpy as np

from holdfast.domains import Simplex
from holdfast.learners import Recentered
from holdfast.norms import L2, euclidean
from holdfast.rounds import Round
from holdfast.vectors import dot

_ROUNDING = 1e-9  # of all gradients together
_L2 = L2()


def learned(learner, G, hint=0.0):
    """The sum of <w, g>, and the last state. A positive `hint` is set before the first round."""
    state, products = learner.set_hint(learner.init(G.shape[1]), hint), 0.0
    for g in G:
        products += float(learner.predict(state) @ g)
        state = learner.update(state, Round(1.0, g))
    return products, state


def hinted_ratio(learner, G):
    """`linear_ratio` of a learner with the size of the largest gradient as its hint: nothing is clipped."""
    return linear_ratio(learner, G, max(learner.gauge(1.0, g) for g in G))


def linear_ratio(learner, G, hint=0.0):
    """The regret is Σ <w - u, g>."""
    products, state = learned(learner, G, hint)
    total, size, worst = G.sum(axis=0), float(np.abs(G).sum()), 0.0
    for u in comparators(learner.domain, total):
        scale = size * (1.0 + float(np.abs(u).max()))
        worst = max(worst, _over(products - float(u @ total), learner.bound(state, u), scale))
    return worst


def limited_ratio(bettors, G):
    """`linear_ratio` on gradients that are cut down to the limit that the learner has."""
    limit = bettors.steepest * bettors.largest
    return linear_ratio(bettors, np.clip(G, -limit, limit))


def reserved_ratio(reserved, G):
    """The regret on the rounds learned from, without those k whose terms are smallest, over Theorem U."""
    state, products, learned = reserved.init(G.shape[1]), [], []
    for g in G:
        if euclidean(g) <= reserved.size:
            products.append(float(reserved.predict(state) @ g))
            learned.append(g)
        state = reserved.update(state, Round(1.0, g))
    rows, worst = np.array(learned).reshape(-1, G.shape[1]), 0.0
    for u in comparators(reserved.domain, rows.sum(axis=0)):
        terms = np.sort(np.array(products) - rows @ u)
        regret = float(terms[min(reserved.k, int((terms < 0.0).sum())) :].sum())
        scale = float(np.abs(rows).sum()) * (1.0 + float(np.abs(u).max()))
        worst = max(worst, _over(regret, reserved.bound(state, u), scale))
    return worst


def comparators(domain, total):
    """Some u: the one with the largest regret for gradients with this sum, and others.

    On the simplex: all experts, and some mixtures.
    """
    dim = len(total)
    if isinstance(domain, Simplex):
        mixtures = np.random.default_rng(0).dirichlet(np.ones(dim), 2)
        return [*np.eye(dim), np.full(dim, 1.0 / dim), *mixtures]
    size = float(np.abs(total).max())
    towards = -total / size if size > 0.0 else np.zeros(dim)
    if not domain.bounded():
        return [far * towards / max(euclidean(towards), 1.0) for far in (0.0, 0.1, 1.0, 10.0, 1e3, 1e6)]
    center = domain.center(dim)
    far = domain.project(center + 1e100 * towards)
    return [center + share * (far - center) for share in (1.0, 0.5, 0.1, 0.0)]


def curved_ratio(ons, G):
    """The regret is Σ (z - gamma z² / 2), z = <w - u, g>: the most for losses as curved as `ONS` assumes."""
    inner: Any = ons.learner if isinstance(ons, Recentered) else ons
    D, alpha = ons.domain.diameter(_L2), inner.alpha
    state, rows, gammas, most, worst = ons.init(G.shape[1]), [], [], 0.0, 0.0
    for g in G:
        most = max(most, euclidean(g))
        gammas.append(0.5 * min(alpha, 1.0 / D / most) if most > 0.0 else 0.0)
        rows.append(ons.predict(state).copy())
        state = ons.update(state, Round(1.0, g))
    for u in comparators(ons.domain, G.sum(axis=0)):
        z = ((np.array(rows) - u) * G).sum(axis=1)
        regret = float((z - 0.5 * np.array(gammas) * z * z).sum())
        worst = max(worst, _over(regret, ons.bound(state, u), float(np.abs(G).sum()) * (1.0 + D)))
    return worst


def bowl_ratio(ogd, C):
    """Rounds are the c of sigma / 2 ‖w - c‖², which is strongly convex; u is the best."""
    state, sigma, losses = ogd.init(C.shape[1]), ogd.step.sigma, 0.0
    for c in C:
        g = sigma * (ogd.predict(state) - c)
        losses, state = losses + float(g @ g) / (2.0 * sigma), ogd.update(state, Round(1.0, g))
    best = ogd.domain.project(C.mean(axis=0))
    regret = losses - 0.5 * sigma * float(((C - best) ** 2).sum())
    return _over(regret, ogd.bound(state, best), 1e-3 * losses)


def squared_ratio(learner, rows):
    """Rounds are rows of a regression, the target last. Losses are squared; u is the best, and others."""
    X, y = rows[:, :-1], rows[:, -1]
    state, losses, worst = learner.init(X.shape[1]), 0.0, 0.0
    for x, target in zip(X, y, strict=True):
        slope = dot(learner.predict(state), x) - target
        losses, state = losses + 0.5 * slope * slope, learner.update(state, Round(slope, x))
    ridge = math.sqrt(learner.strength) * np.eye(X.shape[1])
    best = np.linalg.lstsq(np.vstack([X, ridge]), np.append(y, np.zeros(len(ridge))), rcond=None)[0]
    for u in (best, 0.5 * best, np.zeros(X.shape[1]), -best):
        regret = losses - 0.5 * float(((X @ u - y) ** 2).sum())
        worst = max(worst, _over(regret, learner.bound(state, u), 1e-3 * (1e-9 + losses)))
    return worst


def lipschitz_ratio(learner, rows):
    """A round is a slope up to 1 and a row of a linear model; regret is Σ slope (prediction - <u, x>)."""
    slopes, X = np.clip(rows[:, 0], -1.0, 1.0), rows[:, 1:]
    state, products, worst = learner.init(X.shape[1]), 0.0, 0.0
    for slope, x in zip(slopes, X, strict=True):
        products += float(slope) * dot(learner.predict(state), x)
        state = learner.update(state, Round(float(slope), x))
    total, largest = slopes @ X, np.maximum(np.abs(X).max(axis=0), 1e-300)
    for far in (0.0, 0.1, 1.0, 10.0, 1e3):
        u = -far * np.sign(total) / largest
        regret = products - float(u @ total)
        worst = max(worst, _over(regret, learner.bound(state, u), len(X) * (1.0 + far)))
    return worst


def _over(regret, bound, scale):
    if not regret > _ROUNDING * scale:
        return 0.0
    return (regret - 1e-3 * _ROUNDING * scale) / bound if bound > 0.0 else math.inf
