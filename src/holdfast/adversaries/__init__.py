"""Adversaries: they reveal the loss of each round.

`Replay`, `Gradients` and `Functions` reveal given data. The others test a learner: those of the paper's
theorems, those that react to the learner, and those that corrupt data. They draw all random numbers from a
seed when they are created, and have a mask of the `inliers`.
"""

from typing import TYPE_CHECKING

from holdfast.lazy_imports import lazy_names

if TYPE_CHECKING:
    from holdfast.adversaries.accumulating import Accumulating
    from holdfast.adversaries.chaser import Chaser
    from holdfast.adversaries.contaminated import Contaminated
    from holdfast.adversaries.contrarian import Contrarian
    from holdfast.adversaries.featureblowup import FeatureBlowUp
    from holdfast.adversaries.functions import Functions
    from holdfast.adversaries.gradients import Gradients
    from holdfast.adversaries.heavytails import HeavyTails
    from holdfast.adversaries.iidlowerbound import IidLowerBound
    from holdfast.adversaries.labelflip import LabelFlip
    from holdfast.adversaries.quantilestream import Exponential, Pareto, QuantileStream, Uniform
    from holdfast.adversaries.ramp import Ramp
    from holdfast.adversaries.replay import Replay
    from holdfast.adversaries.sparsereplay import SparseReplay
    from holdfast.adversaries.stronglyconvexlowerbound import StronglyConvexLowerBound
    from holdfast.adversaries.tight import Tight
    from holdfast.adversaries.weighted import Weighted

__all__ = [
    "Accumulating",
    "Chaser",
    "Contaminated",
    "Contrarian",
    "Exponential",
    "FeatureBlowUp",
    "Functions",
    "Gradients",
    "HeavyTails",
    "IidLowerBound",
    "LabelFlip",
    "Pareto",
    "QuantileStream",
    "Ramp",
    "Replay",
    "SparseReplay",
    "StronglyConvexLowerBound",
    "Tight",
    "Uniform",
    "Weighted",
]

_HOME = {name: name.lower() for name in __all__}
_HOME |= dict.fromkeys(["Exponential", "Pareto", "Uniform"], "quantilestream")
__getattr__, __dir__ = lazy_names(__name__, _HOME)
