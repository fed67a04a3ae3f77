"""Three ways to take an optimizer's step only if a tensor on the device says so.

Each has `before(optimizer, keep)`, which prepares the step, and `after(optimizer)`. A skipped step changes
neither weights nor state: nothing is multiplied by 0, because 0 times infinity is NaN.
"""

import torch


class FoundInf:
    """Fused optimizers read a flag on the device and leave everything as it is if it is 1.

    `GradScaler` uses the same flag for its own overflows; these stay in force, and its scale is not changed.
    """

    waits = False

    def before(self, optimizer, keep):
        self.scaler = {name: optimizer.__dict__[name] for name in ("found_inf",) if name in optimizer.__dict__}
        found_inf = (~keep).to(torch.float32)
        if self.scaler.get("found_inf") is not None:
            found_inf = torch.maximum(found_inf, self.scaler["found_inf"].to(keep.device).clamp(max=1.0))
        optimizer.found_inf = found_inf

    def after(self, optimizer):
        if self.scaler:
            optimizer.found_inf = self.scaler["found_inf"]
        else:
            del optimizer.found_inf


class NoGradients:
    """Wait for the decision. A step without any gradient changes nothing, in every optimizer of torch.optim."""

    waits = True

    def before(self, optimizer, keep):
        self.removed = []
        if not bool(keep):
            for group in optimizer.param_groups:
                for p in group["params"]:
                    self.removed.append((p, p.grad))
                    p.grad = None

    def after(self, optimizer):
        for p, grad in self.removed:
            p.grad = grad
        self.removed = []


class Select:
    """Take the step, then choose between the weights and state before it and those after it.

    Needs a copy of the weights and of the state. The state must be complete before the step, and on the device.
    """

    waits = False

    def before(self, optimizer, keep):
        self.keep = keep
        self.old = []
        for p in _with_gradients(optimizer):
            self.old.append((p, None, _local(p).clone()))
            self.old.extend((p, name, _local(value).clone()) for name, value in _tensors(optimizer.state[p]))

    def after(self, optimizer):
        with torch.no_grad():
            for p, name, old in self.old:
                new = _local(p if name is None else optimizer.state[p][name])
                new.copy_(torch.where(self.keep.to(new.device), new, old))
        self.old = []


def strategy_for(optimizer, device):
    """How this step can be skipped: without waiting for the device, if the optimizer has a way to do that."""
    if all(group.get("fused") for group in optimizer.param_groups) and _has_momentum(optimizer):
        return FoundInf()
    if device.type == "cpu":  # nothing to wait for
        return NoGradients()
    for p in _with_gradients(optimizer):
        values = optimizer.state[p].values() if p in optimizer.state else ()
        if not values or any(not torch.is_tensor(v) or v.device != p.device for v in values if v is not None):
            return NoGradients()
    return Select()


def _has_momentum(optimizer):
    """Give fused SGD its momentum buffers before the first step: one that is skipped would leave them undefined.

    Zeros give the bits of torch's own first step, unless there is dampening.
    """
    if not isinstance(optimizer, torch.optim.SGD):
        return True
    for group in optimizer.param_groups:
        if group["momentum"] == 0.0:
            continue
        for p in group["params"]:
            if p.grad is not None and optimizer.state[p].get("momentum_buffer") is None:
                if group["dampening"] != 0.0:
                    return False
                optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p)
    return True


def _with_gradients(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def _tensors(state):
    return [(name, value) for name, value in state.items() if torch.is_tensor(value)]


def _local(tensor):
    """The part of a sharded tensor that this rank holds."""
    data = tensor.detach()
    return data.to_local() if hasattr(data, "to_local") else data
