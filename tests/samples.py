"""Samples of every rule that holdfast exports, and streams for all filters."""

import functools
import math

import numpy as np
import pytest
from guards import guarded
from scipy.sparse import csr_array

import holdfast as hf
import holdfast.intervals
import holdfast.steady.choice
from holdfast import adversaries as enemies
from holdfast.learners import Averaged

FILTERS = [
    hf.Everything(),
    hf.TopK(0),
    hf.TopK(3),
    hf.TopK(20, slack=1.5),
    hf.TopShare(0.05),
    hf.TopShare(0.3, delta=0.5),
    hf.TopShare(0.05, exact=True),
    hf.Quantile(0.9, horizon=400),
    hf.Quantile(0.6, horizon=100, ranks="bernstein"),
    hf.Quantile(0.8, delta=0.01, ranks="bernstein"),
    hf.Quantile(0.8, delta=0.01, exact=True),
    hf.Quantile(0.5, ranks="newsvendor", growth=2.0),
    hf.Quantile(0.7, exact=True),
    hf.TopK(3, window=50),
    hf.TopShare(0.05, window=60, patience=20),
    hf.TopShare(0.2, exact=True, window=30),
    hf.Quantile(0.8, window=64),
    hf.Quantile(0.9, delta=0.05, ranks="bernstein", exact=True, window=40),
]

NORMS = [
    hf.norms.L1(),
    hf.norms.L2(),
    hf.norms.LInf(),
    hf.norms.Lp(3.0),
    hf.norms.Mahalanobis([[2.0, 0.5], [0.5, 1.0]]),
]

DOMAINS = [  # all in two dimensions
    hf.Ball(1.0),
    hf.Ball(0.5, around=[3.0, -2.0]),
    hf.Box(-1.0, 2.0),
    hf.Box([-1.0, 0.0], [1.0, 4.0]),
    hf.Simplex(),
    hf.domains.Shifted(hf.Simplex(), 1.0),
    hf.domains.L1Ball(2.0),
    hf.domains.Ellipsoid([[4.0, 1.0], [1.0, 1.0]]),
]

STEPS = [hf.learners.Adaptive(), hf.learners.Adaptive(scale=0.5), hf.StronglyConvex(0.5)]

LEARNERS = [hf.OGD(domain) for domain in DOMAINS] + [hf.OGD(hf.Ball(1.0), step) for step in STEPS]
LEARNERS += [
    hf.AdaGrad(hf.Box(-1.0, 2.0)),
    hf.AdaGrad(hf.Box([-1.0, 0.0], [1.0, 4.0]), rate=0.1, ballast=1.0),
    hf.AdaFTRL(hf.Ball(2.0)),
    hf.AdaFTRL(hf.Ball(0.5, around=[3.0, -2.0])),
    hf.learners.SoloFTRL(hf.domains.Everywhere()),
    hf.AdaHedge(),
    hf.learners.Bounded(hf.learners.Clipped(hf.learners.FreeGrad()), hf.Box(-1.0, 2.0)),
    hf.ONS(hf.Ball(1.0), alpha=0.5),
    hf.OnlineRidge(),
    hf.VAW(0.5),
    hf.EG(0.5),
    hf.learners.Clipped(hf.learners.Squint(etas=12)),
    hf.ScaleInvariant(),
    hf.learners.Bettors(),
    hf.learners.Bettors(2.0, largest=5.0, box=0.5, wealth=3.0, constant=True),
    hf.learners.Reserved(0),
    hf.learners.Reserved(3, size=2.0, tax=0.5),
    hf.AdaGrad(hf.Ball(1.0)),
    hf.AdaGrad(hf.Simplex()),
    hf.learners.Clipped(hf.MetaGrad(hf.Ball(1.0), etas=3)),
    hf.learners.DiagonalMetaGrad(hf.Box(-1.0, 2.0), etas=4),
]

FORGETTING = [  # and others whose states have no bound for every u
    hf.learners.ReservedEpochs(2, tax=0.5),
    hf.OnlineRidge(memory=10),
    hf.VAW(0.5, memory=2),
    hf.learners.RobustRidge(),
    hf.learners.RobustRidge(1.0, memory=3, weights=hf.learners.HuberWeights()),
    hf.learners.RobustRidge(memory=100, weights=hf.learners.InverseMultiquadric()),
    hf.learners.OnlineLogistic(),
    hf.learners.OnlineLogistic(memory=3, prior=0.1, flips=0.05),
]
LEARNERS += FORGETTING

SCALED = [
    hf.Scaled(hf.AdaGrad(hf.Box(-10.0, 10.0), rate=0.01)),
    hf.Scaled(hf.learners.Penalized(hf.OGD(hf.Ball(1.0)), alpha=0.1), target=True, clip=3.0, patience=1),
    hf.Scaled(hf.learners.RobustRidge(memory=30), target=True, patience=5),
    hf.Scaled(hf.learners.OnlineLogistic(50.0), clip=1e6, patience=5),
]

MIXTURES = [
    hf.learners.Mixture((hf.OGD(hf.Ball(1.0)), hf.AdaGrad(hf.Box(-1.0, 2.0)))),
    hf.learners.Mixture((hf.OnlineRidge(), hf.VAW(), hf.OGD(hf.Ball(1.0))), hf.Squared(), share=0.0),
    hf.learners.Mixture((SCALED[1], hf.learners.RobustRidge()), hf.Huber()),
    hf.Scaled(
        hf.learners.Mixture((hf.learners.RobustRidge(), hf.OGD(hf.Ball(1.0))), hf.Huber()), target=True
    ),
    hf.Scaled(hf.learners.Mixture((hf.learners.OnlineLogistic(), hf.OGD(hf.Ball(1.0))), hf.Logistic())),
    hf.learners.Penalized(hf.OGD(hf.Ball(1.0)), alpha=0.1),
    hf.Scaled(hf.OGD(hf.Ball(1.0)), patience=5, missing=0.5),
]

GUARDED = [
    guarded(MIXTURES[3]),
    guarded(SCALED[0]),
    guarded(SCALED[1], hf.TopK(3), hf.TopK(3), hf.TopShare(0.2)),
    guarded(SCALED[2], hf.TopK(3), hf.TopK(3), hf.TopK(3)),
    guarded(SCALED[3], hf.TopK(3), hf.Everything(), hf.Everything(), norm=hf.norms.L1()),
    guarded(
        hf.OGD(hf.Ball(1.0)),
        hf.TopK(3),
        hf.Everything(),
        hf.Quantile(0.8),
        norm=hf.norms.LInf(),
        on=hf.measures.LossForm(1.0),
    ),
]

STEADY = [
    choice(delay=delay)
    for choice in (
        functools.partial(hf.steady.choice.steady_for, hf.steady.Ridges()),
        functools.partial(hf.steady.choice.steady_for, hf.steady.Ridges(hf.Huber(), redescends=False), 20),
        functools.partial(hf.steady.choice.steady_for, hf.steady.Logits()),
    )
    for delay in (1, 0, 7, 50)
]

LOSSES = [
    hf.Absolute(),
    hf.losses.EpsilonInsensitive(),
    hf.Hinge(),
    hf.Huber(),
    hf.Linear(),
    hf.Logistic(),
    hf.losses.Pinball(),
    hf.Squared(),
    hf.losses.SquaredHinge(),
]

CLEAN = hf.Replay([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]], [1.0, -1.0, 1.0], hf.Hinge())

ADVERSARIES = [
    hf.Replay([[1.0, 2.0], [0.5, math.nan]], [1.0, -1.0], hf.Hinge()),
    hf.Replay(csr_array([[0.0, 2.0], [math.inf, 0.0]]), [1.0, -1.0], hf.Hinge()),
    hf.Gradients([[1.0, 2.0], [math.inf, 0.0]]),
    hf.adversaries.Functions(math.fsum, np.negative, 3, 2),
    enemies.IidLowerBound(k=2, rounds=5),
    enemies.StronglyConvexLowerBound(k=2, rounds=5),
    enemies.Contaminated(CLEAN, enemies.Contrarian(3, 2), share=0.3),
    enemies.HeavyTails(0.5, rounds=5, dim=2),
    enemies.QuantileStream(0.5, rounds=5, dim=2, atom=0.1),
    enemies.Tight(k=1),
    enemies.Contrarian(rounds=5, dim=2),
    enemies.Chaser(CLEAN, k=1),
    enemies.FeatureBlowUp(CLEAN, k=1),
    enemies.LabelFlip(CLEAN, k=1),
    enemies.Ramp(CLEAN, k=2),
    enemies.Accumulating(CLEAN, k=2),
    enemies.Weighted(CLEAN, [1.0, 0.0, 2.5]),
]

OTHERS = [
    *(enemies.Pareto(), enemies.Exponential(), enemies.Uniform()),
    hf.learners.Fixed([1.0, -1.0]),
    Averaged(hf.OGD(hf.Ball(1.0))),
    hf.Certified(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), k=3),
    hf.Check(hf.Features(), hf.TopK(3)),
    hf.LabelCheck(hf.Gradient(), hf.TopShare(0.2)),
    hf.Target(),
    hf.domains.Interval(-1.0, 1.0),
    hf.domains.Everywhere(),
    hf.measures.Gradient(),
    hf.Features(),
    hf.intervals.Tracker(),
    hf.intervals.Tracker([0.5, 0.9], filter=hf.TopK(3), least=0.1),
    hf.measures.Range(),
    hf.learners.LogWealth(),
    *(hf.learners.Redescending(), hf.learners.HuberWeights(2.0), hf.learners.InverseMultiquadric()),
    hf.learners.Squint(),
    hf.MetaGrad(hf.Ball(1.0)),
    hf.measures.LossForm(1.0),
    hf.learners.FreeGrad(),
    hf.learners.Clipped(hf.learners.FreeGrad()),
    hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)),
    *SCALED,
    *MIXTURES,
    *GUARDED,
    *STEADY,
    *(
        hf.steady.Ridges(),
        hf.steady.Logits(),
        hf.steady.hedge.Hedge(),
        hf.steady.Full(),
        hf.steady.Diagonal(),
    ),
]

RULES = [*FILTERS, *NORMS, *DOMAINS, *STEPS, *LEARNERS, *LOSSES, *ADVERSARIES, *OTHERS]


def _streams():
    rng = np.random.default_rng(20210701)
    steady = rng.uniform(0.5, 1.5, 500)
    spike, spikes = steady.copy(), steady.copy()
    spike[250] = 1e6
    spikes[[10, 100, 101, 400]] = 1e6, 1e9, 4e5, 1e300
    with_inf, with_nan = steady.copy(), steady.copy()
    with_inf[::50], with_nan[::50] = math.inf, math.nan
    return {
        "steady": steady,
        "sorted up": np.sort(steady),
        "sorted down": np.sort(steady)[::-1].copy(),
        "one spike": spike,
        "k spikes": spikes,
        "all zero": np.zeros(300),
        "all equal": np.full(300, 0.7),
        "heavy-tailed": rng.pareto(0.5, 500),
        "inf": with_inf,
        "nan": with_nan,
        "only bad": np.array([math.nan, math.inf] * 20),
        "scale change": np.concatenate([steady, 100.0 * steady]),
        "ramp": 1.05 ** np.arange(500.0),
        "all magnitudes": 10.0 ** rng.uniform(-320, 308, 2000),
        "empty": np.zeros(0),
    }


STREAMS = _streams()


def thinned(cases, every, others=1):
    """All cases as parameters of a test, but only one in `every` is not marked slow.

    For tests that compile a game for each case, which takes seconds. If there are too many for that, only one
    in `others` of the slow ones is slow, and the rest is exhaustive.
    """
    marked = [case if i % every == 0 else slow(case) for i, case in enumerate(cases)]
    for i, case in enumerate(marked):
        if i % every and i % others:
            marked[i] = case._replace(marks=(pytest.mark.exhaustive,))
    return marked


def slow(case):
    """A case as a parameter of a test, marked slow."""
    return pytest.param(*(case if type(case) is tuple else [case]), marks=pytest.mark.slow)
