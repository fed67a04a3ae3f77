"""Decisions about the single examples of a batch, for small models."""

from collections.abc import Callable
from typing import Any

import torch
from torch.func import functional_call, grad_and_value, vmap

from holdfast.filters.topk import TopK
from holdfast.filters.topshare import TopShare
from holdfast.options import filter_for_training
from holdfast.torch.device_filter import DeviceFilter


class PerExample:
    """Compute the gradient of each example, and give the optimizer the sum of those that are no outliers.

    All sizes of a batch are remembered before any example is judged. The sum of the kept gradients is divided
    by the size of the batch, not by the number of kept examples: that would give the others more weight.

    Takes the memory of one gradient for each example, so it is for small models and linear heads. The model
    must work under `torch.func.vmap`: no batch norm.

    Parameters:
        model: What is trained.
        loss (callable): `loss(output, *targets)` of one example: a number.
        outliers (float, int or filter): As for `guard`, but of examples.
        window: The memory in examples; not below the size of a batch.
        slack: As for `guard`.

    Guarantee: for a convex loss and a learner with a regret bound for sums of gradients, Theorem 1 or W with
    examples as rounds (`docs/math.md`). For other models that of `guard`.

    >>> model = torch.nn.Linear(2, 1)
    >>> examples = PerExample(model, torch.nn.functional.mse_loss, outliers=1)
    >>> x, y = torch.ones(4, 2), torch.zeros(4, 1)
    >>> y[2] = 1e9
    >>> losses, kept = examples.backward(x, y)
    >>> kept.tolist()
    [True, True, False, True]
    """

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Callable[..., torch.Tensor],
        outliers: float | TopK | TopShare = 0.1,
        window: int | None = 10_000,
        *,
        slack: float = 2.0,
    ) -> None:
        self.model = model
        rule = filter_for_training(outliers, window, slack)
        self.filter = DeviceFilter(rule, 1, next(model.parameters()).device)

        def of_one(weights: Any, constants: Any, x: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
            output = functional_call(model, (weights, constants), (x.unsqueeze(0),))
            return loss(output.squeeze(0), *targets)

        self._gradients = grad_and_value(of_one)

    def backward(self, x: torch.Tensor, *targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Add to `p.grad` as `loss.backward()` does. Returns the losses, and which examples were kept."""
        window = self.filter.window
        if window is not None and len(x) > window:
            raise ValueError(
                f"a batch must not be longer than the window: got {len(x)} examples, window={window}"
            )
        parameters = {name: p for name, p in self.model.named_parameters() if p.requires_grad}
        weights = {name: p.detach() for name, p in parameters.items()}
        constants = dict(self.model.named_buffers())
        constants |= {name: p.detach() for name, p in self.model.named_parameters() if not p.requires_grad}
        dims = (None, None, *[0] * (1 + len(targets)))
        gradients, losses = vmap(self._gradients, dims, randomness="different")(
            weights, constants, x, *targets
        )
        norms = [g.flatten(1).to(torch.float64).norm(dim=1) for g in gradients.values()]
        _, kept = self.filter.decide_batch(torch.stack(norms).norm(dim=0))
        for name, p in parameters.items():
            mask = kept.reshape(-1, *[1] * p.dim())
            total = torch.where(mask, gradients[name], 0.0).sum(0) / len(x)
            p.grad = total if p.grad is None else p.grad + total
        return losses, kept

    def state_dict(self) -> dict[str, Any]:
        """The memory of the filter."""
        return self.filter.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with a memory that `state_dict` gave."""
        self.filter.load_state_dict(state)
