"""The sizes of gradients: the Euclidean norm of all, of each parameter group, or of each tensor."""

import torch
from torch.distributed.tensor import DTensor, Shard


class Parts:
    """Which gradients are measured together, and how many sizes that gives."""

    def __init__(self, per, optimizer):
        if per not in ("all", "group", "tensor"):
            raise ValueError(f'per must be "all", "group" or "tensor": got {per!r}')
        self.per = per
        self.tensors = [p for group in optimizer.param_groups for p in group["params"]]
        groups = [i for i, group in enumerate(optimizer.param_groups) for _ in group["params"]]
        self.part_of = {"all": [0] * len(groups), "group": groups, "tensor": list(range(len(groups)))}[per]
        self.count = max(self.part_of) + 1
        self._indices = {}  # by which tensors have a gradient

    def sizes(self, device):
        """The size of every part in float64, NaN for a part without any gradient; which parts have one."""
        present = tuple(i for i, p in enumerate(self.tensors) if p.grad is not None)
        squares = _squared_norms([self.tensors[i].grad for i in present], device)
        if present not in self._indices:  # made once, so that later steps copy nothing to the device
            of = torch.tensor([self.part_of[i] for i in present], dtype=torch.int64, device=device)
            has = torch.zeros(self.count, dtype=torch.bool, device=device)
            has[of] = True
            self._indices[present] = of, has
        of, has = self._indices[present]
        total = torch.zeros(self.count, dtype=squares.dtype, device=device).index_add_(0, of, squares)
        return torch.where(has, total.sqrt(), torch.nan), has


def _squared_norms(grads, device):
    """The squared Euclidean norm of every gradient, over all ranks that hold a shard of it.

    Norms are taken in float32, also of gradients with fewer bits, and squared in float64, so that only a
    gradient beyond 3e38 counts as infinite.
    """
    real = torch.float32 if device.type == "mps" else torch.float64
    if not grads:
        return torch.zeros(0, dtype=real, device=device)
    sharded = {}  # the gradients that need the same reduction
    local = []
    for i, grad in enumerate(grads):
        if isinstance(grad, DTensor):
            dims = tuple(d for d, placement in enumerate(grad.placements) if isinstance(placement, Shard))
            sharded.setdefault((grad.device_mesh, dims), []).append(i)
            grad = grad.to_local()
        local.append(grad.coalesce().values() if grad.is_sparse else grad)
    squares = torch.stack([norm.to(device, real) for norm in _norms(local)]).square()
    for (mesh, dims), indices in sharded.items():
        of = torch.tensor(indices, device=device) if len(indices) < len(grads) else slice(None)
        part = squares[of]
        for dim in dims:
            torch.distributed.all_reduce(part, group=mesh.get_group(dim))
        squares[of] = part
    return squares


def _norms(tensors):
    """Of every tensor, in float32 at least, in as few launches as there are kinds of tensors."""
    norms = [None] * len(tensors)
    kinds = {}
    for i, tensor in enumerate(tensors):
        kinds.setdefault((tensor.device, tensor.dtype), []).append(i)
    for (_, dtype), indices in kinds.items():
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        for i, norm in zip(indices, torch._foreach_norm([tensors[i] for i in indices], 2, dtype=wide), strict=True):
            norms[i] = norm
    return norms
