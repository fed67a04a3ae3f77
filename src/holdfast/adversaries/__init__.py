"""Adversaries: they reveal the loss of each round.

`Replay`, `Gradients` and `Functions` reveal given data. The others test a learner: those of the paper's
theorems, those that react to the learner, and those that corrupt data. They draw all random numbers from a
seed when they are created, and have a mask of the `inliers`.
"""

from typing import TYPE_CHECKING

from holdfast.lazy_imports import lazy_names

if TYPE_CHECKING:
    from holdfast.adversaries.adaptive import Chaser, Contrarian
    from holdfast.adversaries.contaminated import Contaminated
    from holdfast.adversaries.gradients import Functions, Gradients
    from holdfast.adversaries.heavytails import HeavyTails
    from holdfast.adversaries.lower_bounds import IidLowerBound, StronglyConvexLowerBound, Tight
    from holdfast.adversaries.poisoners import Accumulating, FeatureBlowUp, LabelFlip, Ramp
    from holdfast.adversaries.quantilestream import Exponential, Pareto, QuantileStream, Uniform
    from holdfast.adversaries.replay import Replay
    from holdfast.adversaries.sparsereplay import SparseReplay
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
_HOME |= {"Chaser": "adaptive", "Contrarian": "adaptive", "Functions": "gradients"}
_HOME |= dict.fromkeys(["Exponential", "Pareto", "Uniform"], "quantilestream")
_HOME |= dict.fromkeys(["IidLowerBound", "StronglyConvexLowerBound", "Tight"], "lower_bounds")
_HOME |= dict.fromkeys(["Accumulating", "FeatureBlowUp", "LabelFlip", "Ramp"], "poisoners")
__getattr__, __dir__ = lazy_names(__name__, _HOME)
