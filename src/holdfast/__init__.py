"""Online learning that outliers cannot derail.

>>> import holdfast as hf
>>> player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(radius=1.0)), hf.TopK(k=1)), dim=1)
>>> [player.observe([g]).kept for g in (1.0, 1.0, 1e9, 1.0)]
[False, True, False, True]
"""

from typing import TYPE_CHECKING

from holdfast import learners
from holdfast.adversaries import Functions, Gradients, Replay
from holdfast.certificates.certificate import Certificate
from holdfast.certificates.certified import Certified
from holdfast.domains import Ball, Box, Ellipsoid, Everywhere, Interval, L1Ball, Shifted, Simplex
from holdfast.filters import Everything, Quantile, TopK, TopShare
from holdfast.game import Decision, Features, Filtered, Gradient, LossForm, Range
from holdfast.guard import Guarded, GuardedDecision
from holdfast.lazy_imports import lazy_names
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
from holdfast.norms import L1, L2, LInf, Lp, Mahalanobis
from holdfast.play import play
from holdfast.play_many import KeyedRecord, play_many
from holdfast.player import Player
from holdfast.record import Record
from holdfast.regret import linearised_regret, robust_regret, worst_case
from holdfast.rule import rule
from holdfast.sketches import Largest, LogHistogram, Ranks

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
    "GuardedDecision",
    "Hinge",
    "Huber",
    "Interval",
    "KeyedRecord",
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
    "linearised_regret",
    "play",
    "play_many",
    "robust_regret",
    "rule",
    "worst_case",
]

__getattr__, __dir__ = lazy_names(
    __name__, {name: "learners" for name in learners.__all__ if name in __all__}
)
