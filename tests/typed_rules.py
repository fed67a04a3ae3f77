"""Our own rules in their roles, for mypy (`make check`). Nothing here is run.

mypy checks that each class has all methods of its role, with the same parameters and, where they are
annotated, results; `tests/dry_runs/` checks the results of the others.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    import holdfast as hf
    from holdfast import adversaries as enemies
    from holdfast import protocols
    from holdfast.learners import Averaged
    from holdfast.learners.bounded import Recentered

    ball, everywhere, box = hf.Ball(1.0), hf.domains.Everywhere(), hf.Box(0.0, 1.0)
    ogd, freegrad = hf.OGD(ball), hf.learners.FreeGrad()
    filtered = hf.Filtered(ogd, hf.TopK(1))
    replay, row = hf.Replay([[1.0]], [1.0], hf.Hinge()), np.ones(1)

    filters: list[protocols.Filter] = [hf.Everything(), hf.TopK(1), hf.TopShare(0.1), hf.Quantile(0.9)]
    norms: list[protocols.Norm] = [
        hf.norms.L1(),
        hf.norms.L2(),
        hf.norms.LInf(),
        hf.norms.Lp(3.0),
        hf.norms.Mahalanobis(np.eye(2)),
    ]
    domains: list[protocols.Domain] = [
        ball,
        box,
        hf.domains.Interval(0.0, 1.0),
        everywhere,
        hf.domains.Shifted(ball, 1.0),
    ]
    domains += [hf.Simplex(), hf.domains.L1Ball(1.0), hf.domains.Ellipsoid(np.eye(2))]
    steps: list[protocols.Step] = [hf.learners.Adaptive(), hf.StronglyConvex(1.0)]
    measures: list[protocols.Measure] = [
        hf.measures.Gradient(),
        hf.Features(),
        hf.measures.Range(),
        hf.measures.LossForm(1.0),
    ]
    losses: list[protocols.LipschitzLoss] = [hf.Linear(), hf.Absolute(), hf.Squared(), hf.Huber()]
    losses += [
        hf.losses.Pinball(),
        hf.losses.EpsilonInsensitive(),
        hf.Hinge(),
        hf.losses.SquaredHinge(),
        hf.Logistic(),
    ]
    learners: list[protocols.LearnerInDomain] = [ogd, hf.AdaGrad(ball), hf.AdaFTRL(ball), freegrad]
    learners += [
        hf.learners.Bounded(hf.learners.Clipped(freegrad), ball),
        hf.ONS(ball, 0.5),
        hf.MetaGrad(ball),
    ]
    learners += [hf.learners.DiagonalMetaGrad(box), hf.ScaleInvariant(), hf.OnlineRidge(), hf.VAW()]
    learners += [
        hf.AdaHedge(),
        hf.learners.Squint(),
        hf.EG(0.5),
        Recentered(ogd, ball),
        hf.learners.ProjectedAdaGrad(ball),
    ]
    learners += [
        hf.learners.SoloFTRL(everywhere),
        hf.learners.Bettors(),
        hf.learners.Reserved(1),
        hf.learners.ReservedEpochs(1),
    ]
    without_domain: list[protocols.Learner] = [hf.Scaled(ogd), Averaged(ogd), hf.learners.Fixed(row)]
    hinted: list[protocols.HintedLearner] = [freegrad, hf.learners.Squint(), hf.MetaGrad(ball)]
    players: list[protocols.Player] = [filtered, hf.Guarded(ogd), hf.Certified(filtered, 1)]
    adversaries: list[protocols.Adversary] = [
        replay,
        hf.Gradients([[1.0]]),
        hf.adversaries.Functions(lambda t, w: 0.0, lambda t, w: w, 1, 1),
    ]
    adversaries += [enemies.Weighted(replay, row), enemies.Chaser(replay, 1), enemies.Contrarian(1)]
    adversaries += [enemies.Contaminated(replay, replay, 0.1), enemies.Ramp(replay, 1), enemies.Tight(1)]
    tails: list[protocols.Tail] = [enemies.Uniform(), enemies.Exponential(), enemies.Pareto()]
