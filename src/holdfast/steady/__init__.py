"""The default: units that hold, one gate on rows, learners of several memories, judged as they were asked.

`holdfast.defaults.recommended` builds it for the estimators, the command line and River.
"""

__all__ = ["Diagonal", "Full", "Logits", "Ridges", "Steady"]

from holdfast.steady.covariances import Diagonal, Full
from holdfast.steady.logits import Logits
from holdfast.steady.player import Steady
from holdfast.steady.ridges import Ridges
