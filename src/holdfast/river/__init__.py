"""River models that a few terrible rounds cannot derail: any of River's, and our own."""

try:
    import river  # noqa: F401
except ImportError as problem:
    raise ImportError("holdfast.river needs River: pip install 'holdfast[river]'") from problem

from holdfast.river.gradients import gradient_size
from holdfast.river.linear import LinearClassifier, LinearRegressor
from holdfast.river.scores import residual
from holdfast.river.wrapper import Robust, RobustClassifier, RobustRegressor

__all__ = [
    "LinearClassifier",
    "LinearRegressor",
    "Robust",
    "RobustClassifier",
    "RobustRegressor",
    "gradient_size",
    "residual",
]
