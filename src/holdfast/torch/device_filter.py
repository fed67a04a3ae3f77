"""The sizes of gradients, and `TopK` and `TopShare` with a window, on tensors: nothing leaves the device."""

import math
import operator
from typing import Any

import torch
from torch.distributed.tensor import DTensor, Shard

from holdfast.filters.fixed_memory import budget_table


class Parts:
    """Which gradients are measured together, and how many sizes that gives."""

    def __init__(self, per: str, optimizer: torch.optim.Optimizer) -> None:
        if per not in ("all", "group", "tensor"):
            raise ValueError(f'per must be "all", "group" or "tensor": got {per!r}')
        self.per = per
        self.tensors = [p for group in optimizer.param_groups for p in group["params"]]
        groups = [i for i, group in enumerate(optimizer.param_groups) for _ in group["params"]]
        self.part_of = {"all": [0] * len(groups), "group": groups, "tensor": list(range(len(groups)))}[per]
        self.count = max(self.part_of) + 1
        self._indices: dict[
            tuple[int, ...], tuple[torch.Tensor, torch.Tensor]
        ] = {}  # by which tensors have a gradient

    def are_of(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether these are still the optimizer's tensors. Others come with new groups and with sharding."""
        now = [p for group in optimizer.param_groups for p in group["params"]]
        return len(now) == len(self.tensors) and all(map(operator.is_, now, self.tensors))

    def sizes(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """The size of every part in float64, NaN for a part without any gradient; which parts have one."""
        present = tuple(i for i, p in enumerate(self.tensors) if p.grad is not None)
        squares = _squared_norms([self.tensors[i].grad for i in present], device)
        if present not in self._indices:  # made once, so that later steps copy nothing to the device
            of = on_device([self.part_of[i] for i in present], device)
            has = torch.zeros(self.count, dtype=torch.bool, device=device).index_fill_(0, of, True)
            self._indices[present] = of, has
        of, has = self._indices[present]
        total = torch.zeros(self.count, dtype=squares.dtype, device=device).index_add_(0, of, squares)
        return torch.where(has, total.sqrt(), torch.nan), has


def _squared_norms(grads: list[torch.Tensor], device: torch.device) -> torch.Tensor:
    """The squared Euclidean norm of every gradient, over all ranks that hold a shard of it.

    Norms are taken in float32, also of gradients with fewer bits, and squared in float64, so that only a
    gradient beyond 3e38 counts as infinite.
    """
    real = torch.float32 if device.type == "mps" else torch.float64
    if not grads:
        return torch.zeros(0, dtype=real, device=device)
    sharded: dict[Any, list[int]] = {}  # the gradients that need the same reduction
    local = []
    for i, grad in enumerate(grads):
        if isinstance(grad, DTensor):
            dims = tuple(d for d, placement in enumerate(grad.placements) if isinstance(placement, Shard))
            sharded.setdefault((grad.device_mesh, dims), []).append(i)
            grad = grad.to_local()
        local.append(grad.coalesce().values() if grad.is_sparse else grad)
    squares = _norms(local, device).to(real).square()
    for (mesh, dims), indices in sharded.items():
        of = on_device(indices, device)
        part = squares.index_select(0, of)
        for dim in dims:
            torch.distributed.all_reduce(part, group=mesh.get_group(dim))
        squares.index_copy_(0, of, part)
    return squares


def on_device(numbers: Any, device: torch.device) -> torch.Tensor:
    """Whole numbers as a tensor, copied without waiting for a GPU."""
    tensor = torch.tensor(numbers, dtype=torch.int64)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def _norms(tensors: list[torch.Tensor], device: torch.device) -> torch.Tensor:
    """Of every tensor, in float32 at least, in as few launches as there are kinds of tensors."""
    kinds: dict[Any, list[int]] = {}
    for i, tensor in enumerate(tensors):
        kinds.setdefault((tensor.device, tensor.dtype), []).append(i)
    order, norms = [], []
    for (_, dtype), indices in kinds.items():
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        order += indices
        norms.append(
            torch.stack(torch._foreach_norm([tensors[i] for i in indices], 2, dtype=wide)).to(device)
        )
    if len(norms) == 1:
        return norms[0]
    norms = torch.cat([norm.to(torch.float64) for norm in norms])
    return torch.empty_like(norms).index_copy_(0, on_device(order, device), norms)


class DeviceFilter:
    """The decisions of a core filter about several sizes at once, one memory for each.

    The memory of one size is the list of the largest sizes of the last W to 2W steps, largest first, and the
    same list for the current block of W steps alone. At the end of a block the second list replaces the
    first. `TopShare` needs its k_t + 1 largest sizes, and k_t is at most the budget of 2W steps. So both
    filters need a list of fixed length, and decide as the core filter with exact=True does.

    All tensors are changed in place, and nothing waits for the device.

    Parameters:
        rule (TopK or TopShare): `TopShare` needs a window: without one its list would grow for ever.
        parts: How many sizes there are in a step.
        device (torch.device): Where the sizes are.
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
