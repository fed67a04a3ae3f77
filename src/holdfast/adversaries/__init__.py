"""Adversaries: they reveal the loss of each round.

`Replay`, `Gradients` and `Functions` reveal given data. The others test a learner: those of the paper's
theorems, those that react to the learner, and those that corrupt data. They draw all random numbers from a
seed when they are created, and have a mask of the `inliers`.
"""

from typing import TYPE_CHECKING

from holdfast.lazy_imports import lazy_names

if TYPE_CHECKING:
    from holdfast.adversaries.adaptive import Chaser, Contrarian
    from holdfast.adversaries.composed import Contaminated, Weighted
    from holdfast.adversaries.gradients import Functions, Gradients
    from holdfast.adversaries.iid import Exponential, HeavyTails, Pareto, QuantileStream, Uniform
    from holdfast.adversaries.lower_bounds import IidLowerBound, StronglyConvexLowerBound, Tight
    from holdfast.adversaries.poisoners import Accumulating, FeatureBlowUp, LabelFlip, Ramp
    from holdfast.adversaries.replay import Replay, SparseReplay

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

_HOME = {name: name.lower() for name in __all__} | {"Functions": "gradients", "SparseReplay": "replay"}
_HOME |= dict.fromkeys(["Chaser", "Contrarian"], "adaptive")
_HOME |= dict.fromkeys(["Contaminated", "Weighted"], "composed")
_HOME |= dict.fromkeys(["Exponential", "HeavyTails", "Pareto", "QuantileStream", "Uniform"], "iid")
_HOME |= dict.fromkeys(["IidLowerBound", "StronglyConvexLowerBound", "Tight"], "lower_bounds")
_HOME |= dict.fromkeys(["Accumulating", "FeatureBlowUp", "LabelFlip", "Ramp"], "poisoners")
__getattr__, __dir__ = lazy_names(__name__, _HOME)
