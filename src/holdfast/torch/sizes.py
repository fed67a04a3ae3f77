"""The sizes of gradients: the Euclidean norm of all, of each parameter group, or of each tensor."""

import operator
from typing import Any

import torch
from torch.distributed.tensor import DTensor, Shard


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
