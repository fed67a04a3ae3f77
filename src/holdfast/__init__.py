"""Online learning that outliers cannot derail.

>>> import holdfast as hf
>>> player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(radius=1.0)), hf.TopK(k=1)), dim=1)
>>> [player.observe([g]).kept for g in (1.0, 1.0, 1e9, 1.0)]
[False, True, False, True]
"""

from typing import TYPE_CHECKING

from holdfast import learners
from holdfast.adversaries import Functions, Gradients, Replay
from holdfast.certificates import Certificate
from holdfast.certified import Certified
from holdfast.domains import Ball, Box, Ellipsoid, Everywhere, Interval, L1Ball, Shifted, Simplex
from holdfast.filters import Everything, Quantile, TopK, TopShare
from holdfast.game import Decision, Features, Filtered, Gradient, LossForm, Range
from holdfast.guard import Guarded, Verdict
from holdfast.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Linear,
    Logistic,
    Pinball,
    Squared,
    SquaredHinge,
)
from holdfast.many import Crowd, play_many
from holdfast.norms import L1, L2, LInf, Lp, Mahalanobis
from holdfast.ondemand import on_demand
from holdfast.player import Player
from holdfast.record import Record
from holdfast.regret import linearised_regret, robust_regret, worst_case
from holdfast.rule import rule
from holdfast.sketches import Largest, LogHistogram, Ranks
from holdfast.stream import play

if TYPE_CHECKING:
    from holdfast.learners import (
        EG,
        OGD,
        ONS,
        VAW,
        AdaFTRL,
        AdaGrad,
        AdaHedge,
        Adaptive,
        Bounded,
        Clipped,
        DiagonalMetaGrad,
        Fixed,
        FreeGrad,
        LogWealth,
        MetaGrad,
        OnlineRidge,
        ProjectedAdaGrad,
        Scaled,
        ScaleInvariant,
        SoloFTRL,
        Squint,
        StronglyConvex,
    )

__version__ = "0.1.0"

__all__ = [
    "EG",
    "L1",
    "L2",
    "OGD",
    "ONS",
    "VAW",
    "Absolute",
    "AdaFTRL",
    "AdaGrad",
    "AdaHedge",
    "Adaptive",
    "Ball",
    "Bounded",
    "Box",
    "Certificate",
    "Certified",
    "Clipped",
    "Crowd",
    "Decision",
    "DiagonalMetaGrad",
    "Ellipsoid",
    "EpsilonInsensitive",
    "Everything",
    "Everywhere",
    "Features",
    "Filtered",
    "Fixed",
    "FreeGrad",
    "Functions",
    "Gradient",
    "Gradients",
    "Guarded",
    "Hinge",
    "Huber",
    "Interval",
    "L1Ball",
    "LInf",
    "Largest",
    "Linear",
    "LogHistogram",
    "LogWealth",
    "Logistic",
    "LossForm",
    "Lp",
    "Mahalanobis",
    "MetaGrad",
    "OnlineRidge",
    "Pinball",
    "Player",
    "ProjectedAdaGrad",
    "Quantile",
    "Range",
    "Ranks",
    "Record",
    "Replay",
    "ScaleInvariant",
    "Scaled",
    "Shifted",
    "Simplex",
    "SoloFTRL",
    "Squared",
    "SquaredHinge",
    "Squint",
    "StronglyConvex",
    "TopK",
    "TopShare",
    "Verdict",
    "linearised_regret",
    "play",
    "play_many",
    "robust_regret",
    "rule",
    "worst_case",
]

__getattr__, __dir__ = on_demand(__name__, {name: "learners" for name in learners.__all__ if name in __all__})
