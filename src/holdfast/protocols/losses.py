"""The role of losses."""

from typing import Protocol


class Loss(Protocol):
    """What a prediction costs."""

    def value(self, z: float, y: float) -> float:
        """The loss of the prediction z if the target is y."""

    def slope(self, z: float, y: float) -> float:
        """Its derivative by z."""


class LossOptions(Loss, Protocol):
    """What a loss may answer too."""

    def needs_target(self) -> bool:
        """Whether its slope depends on the target: for `Mixture`. By default yes."""
        return True


class LipschitzLoss(Loss, Protocol):
    """A loss that says how steep it can be: for learners that must know, such as `ScaleInvariant`."""

    def lipschitz(self) -> float:
        """The largest absolute slope; infinity if there is none."""
