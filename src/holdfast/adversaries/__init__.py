"""Who reveals the losses."""

from holdfast.adversaries.functions import Functions
from holdfast.adversaries.gradients import Gradients
from holdfast.adversaries.replay import Replay

__all__ = ["Functions", "Gradients", "Replay"]
