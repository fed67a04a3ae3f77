"""`TopK` and `TopShare` with a window, on tensors: no number leaves the device."""

import math
from typing import Any

import torch

from holdfast.filters.fixed_memory import budget_table


class DeviceFilter:
    """The decisions of a core filter about several sizes at once, one memory for each.

    The memory of one size is the list of the largest sizes of the last W to 2W steps, largest first, and the
    same list for the current block of W steps alone. At the end of a block the second list replaces the
    first. `TopShare` needs its k_t + 1 largest sizes, and k_t is at most the budget of 2W steps. So both
    filters need a list of fixed length, and decide as the core filter with exact=True does.

    All tensors are changed in place, and nothing waits for the device.

    Parameters
    ----------
    rule : TopK or TopShare
        `TopShare` needs a window: without one its list would grow for ever.
    parts
        How many sizes there are in a step.
    device : torch.device
    """

    def __init__(self, rule: Any, parts: int, device: torch.device) -> None:
        self.rule, self.window = rule, rule.window
        budgets = budget_table(rule)
        real = torch.float32 if device.type == "mps" else torch.float64  # mps has no float64
        self.budgets = torch.tensor(budgets, dtype=torch.int64, device=device)
        self.largest = torch.zeros(parts, max(budgets) + 1, dtype=real, device=device)
        self.recent = torch.zeros_like(self.largest)  # of the current block
        self.counts = torch.zeros(2, parts, dtype=torch.int64, device=device)  # sizes in each of the two

    def decide(self, sizes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Thresholds, and which sizes are kept. A size that is not finite is not remembered, and not kept."""
        sizes = sizes.to(self.largest.dtype)
        finite = sizes < math.inf
        entering = torch.where(finite, sizes, -1.0).unsqueeze(1)  # -1 never enters a list of sizes
        if self.window is not None:
            self._end_block(finite & (self.counts[1] == self.window))
            self.recent.copy_(_with(self.recent, entering))
        self.largest.copy_(_with(self.largest, entering))
        self.counts += finite
        thresholds = self._thresholds()
        return torch.where(finite, thresholds, math.nan), finite & (sizes <= thresholds)

    def decide_batch(self, sizes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The threshold after all sizes of a batch were remembered, and which of them are kept. For one part.

        Inside a batch the weights are the same, so all sizes may be remembered before the first decision.
        """
        sizes = sizes.to(self.largest.dtype)
        finite = sizes < math.inf
        late = torch.zeros_like(finite)  # those that begin a new block
        if self.window is not None:
            late = finite & (self.counts[1] + finite.cumsum(0) > self.window)
        self._push(sizes, finite & ~late)
        if self.window is not None:
            self._end_block(late.any().unsqueeze(0))
            self._push(sizes, late)
        threshold = self._thresholds()
        return threshold, finite & (sizes <= threshold)

    def _end_block(self, ends: torch.Tensor) -> None:
        """Where `ends` is true, the list of the block replaces the other, and a new block begins."""
        self.largest.copy_(torch.where(ends.unsqueeze(1), self.recent, self.largest))
        self.recent.mul_(~ends.unsqueeze(1))
        self.counts.copy_(torch.where(ends, torch.stack((self.counts[1], self.counts[1] * 0)), self.counts))

    def _push(self, sizes: torch.Tensor, which: torch.Tensor) -> None:
        entering = torch.where(which, sizes, -1.0).unsqueeze(0)
        self.largest.copy_(_with(self.largest, entering))
        if self.window is not None:
            self.recent.copy_(_with(self.recent, entering))
        self.counts += which.sum()

    def _thresholds(self) -> torch.Tensor:
        budget = self.budgets[self.counts[0].clamp(max=len(self.budgets) - 1)]
        return self.rule.slack * self.largest.gather(1, budget.unsqueeze(1)).squeeze(1)

    def state_dict(self) -> dict[str, Any]:
        return {"largest": self.largest.clone(), "recent": self.recent.clone(), "counts": self.counts.clone()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over a memory; raises if it is not one of this filter."""
        for name, mine in (("largest", self.largest), ("recent", self.recent), ("counts", self.counts)):
            theirs = state[name]
            if theirs.shape != mine.shape:
                raise ValueError(
                    f"the memory in this checkpoint is of another filter: {name} has shape "
                    f"{tuple(theirs.shape)}, and {self.rule!r} needs {tuple(mine.shape)}; guard the "
                    "optimizer as it was when it was saved"
                )
            mine.copy_(theirs)

    def resized(self, parts: int) -> "DeviceFilter":
        """The same filter for another number of sizes; those that are new begin without memory."""
        other = DeviceFilter(self.rule, parts, self.largest.device)
        known = min(parts, self.largest.shape[0])
        other.largest[:known], other.recent[:known] = self.largest[:known], self.recent[:known]
        other.counts[:, :known] = self.counts[:, :known]
        return other


def _with(largest: torch.Tensor, entering: torch.Tensor) -> torch.Tensor:
    """The lists with one more size each: as long as before, largest first."""
    return torch.cat((largest, entering), 1).topk(largest.shape[1], dim=1).values
