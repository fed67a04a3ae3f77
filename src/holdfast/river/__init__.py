"""River models that a few wrong rows cannot ruin: two estimators, and `Robust` for any model."""

try:
    import river  # noqa: F401
except ImportError as problem:
    raise ImportError("holdfast.river needs River: pip install 'holdfast[river]'") from problem

from holdfast.river.classifier import RobustClassifier
from holdfast.river.level import LevelScorer
from holdfast.river.linear import LinearClassifier, LinearRegressor
from holdfast.river.measures import gradient_size, residual
from holdfast.river.regressor import RobustRegressor
from holdfast.river.wrapper import Robust

__all__ = [
    "LevelScorer",
    "LinearClassifier",
    "LinearRegressor",
    "Robust",
    "RobustClassifier",
    "RobustRegressor",
    "gradient_size",
    "residual",
]
