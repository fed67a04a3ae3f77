"""ALG: what learns from the rounds that the filter keeps.

Each is imported when it is first used: few games have more than one, and importing all takes a while.
"""

from typing import TYPE_CHECKING

from holdfast.lazy_imports import lazy_names

if TYPE_CHECKING:
    from holdfast.learners.adaftrl import AdaFTRL
    from holdfast.learners.adagrad import AdaGrad, ProjectedAdaGrad
    from holdfast.learners.adahedge import EG, AdaHedge, LogWealth
    from holdfast.learners.bettors import Bettors
    from holdfast.learners.bounded import Bounded, Recentered
    from holdfast.learners.clipped import Clipped
    from holdfast.learners.fixed import Fixed
    from holdfast.learners.freegrad import FreeGrad
    from holdfast.learners.metagrad import MetaGrad
    from holdfast.learners.metagrad_diagonal import DiagonalMetaGrad
    from holdfast.learners.mixture import Mixture
    from holdfast.learners.ogd import OGD, Adaptive, StronglyConvex
    from holdfast.learners.onlinelogistic import OnlineLogistic
    from holdfast.learners.ons import ONS
    from holdfast.learners.reserved import Reserved, ReservedEpochs
    from holdfast.learners.ridge import VAW, OnlineRidge
    from holdfast.learners.robustridge import HuberWeights, InverseMultiquadric, Redescending, RobustRidge
    from holdfast.learners.scaled import Scaled
    from holdfast.learners.scaleinvariant import ScaleInvariant
    from holdfast.learners.solo import SoloFTRL
    from holdfast.learners.squint import Squint
    from holdfast.learners.wrapped import Averaged, Penalized

__all__ = [
    "EG",
    "OGD",
    "ONS",
    "VAW",
    "AdaFTRL",
    "AdaGrad",
    "AdaHedge",
    "Adaptive",
    "Averaged",
    "Bettors",
    "Bounded",
    "Clipped",
    "DiagonalMetaGrad",
    "Fixed",
    "FreeGrad",
    "HuberWeights",
    "InverseMultiquadric",
    "LogWealth",
    "MetaGrad",
    "Mixture",
    "OnlineLogistic",
    "OnlineRidge",
    "Penalized",
    "ProjectedAdaGrad",
    "Recentered",
    "Redescending",
    "Reserved",
    "ReservedEpochs",
    "RobustRidge",
    "ScaleInvariant",
    "Scaled",
    "SoloFTRL",
    "Squint",
    "StronglyConvex",
]

_HOME = {name: name.lower() for name in __all__} | {
    "Adaptive": "ogd",
    "Averaged": "wrapped",
    "DiagonalMetaGrad": "metagrad_diagonal",
    "EG": "adahedge",
    "HuberWeights": "robustridge",
    "InverseMultiquadric": "robustridge",
    "LogWealth": "adahedge",
    "OnlineRidge": "ridge",
    "Penalized": "wrapped",
    "ProjectedAdaGrad": "adagrad",
    "Recentered": "bounded",
    "Redescending": "robustridge",
    "ReservedEpochs": "reserved",
    "SoloFTRL": "solo",
    "StronglyConvex": "ogd",
    "VAW": "ridge",
}
__getattr__, __dir__ = lazy_names(__name__, _HOME)
