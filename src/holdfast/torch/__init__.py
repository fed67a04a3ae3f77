"""PyTorch: one line that makes an optimizer skip the steps whose gradients are outliers.

>>> optimizer = guard(torch.optim.AdamW(model.parameters()))  # doctest: +SKIP
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("holdfast.torch needs PyTorch: pip install 'holdfast[torch]'") from error

from typing import Any

from holdfast.torch.guard import StepGuard, guard
from holdfast.torch.per_example import PerExample

__all__ = ["HoldfastCallback", "PerExample", "StepGuard", "guard"]


def __getattr__(name: str) -> Any:
    if name == "HoldfastCallback":  # imported when it is used: it needs Lightning
        from holdfast.torch.lightning import HoldfastCallback

        return HoldfastCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
