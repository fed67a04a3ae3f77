"""Three ways to take an optimizer's step only if a tensor on the device says so.

Each has `before(optimizer, keep)`, which prepares the step, `after(optimizer)`, and `abandon(optimizer)` for
a step that raised an exception. A skipped step changes neither weights nor state: nothing is multiplied by 0,
because 0 times infinity is NaN.
"""

import copy
import numbers
from typing import Any

import torch

_NOTHING = object()
_CAPTURABLE = (
    "cuda",
    "hpu",
    "xpu",
    "meta",
)  # where torch can count steps on the device; "meta" has no values


class FoundInf:
    """Fused optimizers read a flag on the device and leave everything as it is if it is 1.

    `GradScaler` uses the same flag for its own overflows; these stay in force, and its scale is not changed.
    """

    def before(self, optimizer: torch.optim.Optimizer, keep: torch.Tensor) -> None:
        self.theirs: Any = getattr(optimizer, "found_inf", _NOTHING)
        self.ours = (~keep).to(torch.float32)
        if torch.is_tensor(self.theirs):
            self.ours = torch.maximum(self.ours, self.theirs.to(keep.device).clamp(max=1.0))
        optimizer.found_inf = self.ours

    def abandon(self, optimizer: torch.optim.Optimizer) -> None:
        if getattr(optimizer, "found_inf", None) is self.ours:
            self.after(optimizer)

    def after(self, optimizer: torch.optim.Optimizer) -> None:
        if self.theirs is _NOTHING:
            del optimizer.found_inf
        else:
            optimizer.found_inf = self.theirs


class NoGradients:
    """Wait for the decision. A step without any gradient changes nothing, in every optimizer of torch.optim.

    Some optimizers of other packages count steps in their parameter groups, with or without gradients. What
    is in the groups is restored.
    """

    def before(self, optimizer: torch.optim.Optimizer, keep: torch.Tensor) -> None:
        self.removed, self.groups = [], []
        if not bool(keep):
            self.groups = [(group, _saved(group)) for group in optimizer.param_groups]
            for group in optimizer.param_groups:
                for p in group["params"]:
                    self.removed.append((p, p.grad))
                    p.grad = None

    def after(self, optimizer: torch.optim.Optimizer) -> None:
        for p, grad in self.removed:
            p.grad = grad
        for group, old in self.groups:
            _undo(group, old)
        self.removed, self.groups = [], []

    def abandon(self, optimizer: torch.optim.Optimizer) -> None:
        self.removed, self.groups = [], []


class Select:
    """Take the step, then choose between the weights and state before it and those after it.

    Needs a copy of the weights and of the state. Waits for the device only if the step made new entries in
    the state (the first step of most optimizers) or changed numbers that are not on the device.
    """

    def before(self, optimizer: torch.optim.Optimizer, keep: torch.Tensor) -> None:
        self.keep = keep
        self.weights = [(p, _local(p).clone()) for p in _with_gradients(optimizer)]
        self.states = [(p, _saved(optimizer.state.get(p, {}))) for p, _ in self.weights]
        self.groups = [(group, _saved(group)) for group in optimizer.param_groups]

    def after(self, optimizer: torch.optim.Optimizer) -> None:
        late = []  # what only the host can undo
        with torch.no_grad():
            for p, old in self.weights:
                self._choose(_local(p), old)
            for now, old in [(optimizer.state.get(p, {}), old) for p, old in self.states] + self.groups:
                changed = _changed(now, old)
                here = [
                    n
                    for n in changed
                    if n in old and _on(now[n], self.keep.device) and torch.is_tensor(old[n][0])
                ]
                for name in here:
                    self._choose(_local(now[name]), _local(old[name][0]))
                if len(here) < len(changed):
                    late.append((now, old))
            if late and not bool(self.keep):
                for now, old in late:
                    _undo(now, old)
        self.weights, self.states, self.groups = [], [], []

    def abandon(self, optimizer: torch.optim.Optimizer) -> None:
        self.weights, self.states, self.groups = [], [], []

    def _choose(self, new: torch.Tensor, old: Any) -> None:
        torch.where(self.keep.to(new.device), new, old, out=new)


def strategy_for(optimizer: torch.optim.Optimizer, device: torch.device) -> FoundInf | NoGradients | Select:
    """How this step can be skipped: without waiting for the device, if the optimizer has a way to do that."""
    if all(group.get("fused") for group in optimizer.param_groups) and _has_momentum(optimizer):
        return FoundInf()
    if device.type == "cpu":  # nothing to wait for
        return NoGradients()
    _count_on_device(optimizer, device)
    for p in _with_gradients(optimizer):
        values = optimizer.state.get(p, {}).values()
        if any(not torch.is_tensor(v) or v.device != p.device for v in values if v is not None):
            return NoGradients()
    return Select()


def _count_on_device(optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    """Let Adam and AdamW count their steps on the device (`capturable`), so that nothing has to wait.

    Optimizers with a step of their own are left as they are.
    """
    own_step: Any = type(optimizer).step
    if own_step not in (torch.optim.Adam.step, torch.optim.AdamW.step) or device.type not in _CAPTURABLE:
        return
    for group in optimizer.param_groups:
        here = all(p.device.type == device.type for p in group["params"])
        if here and not (group["capturable"] or group["fused"] or group["differentiable"]):
            group["capturable"] = True
            for p in group["params"]:
                steps = optimizer.state.get(p, {}).get("step")
                if torch.is_tensor(steps):
                    optimizer.state[p]["step"] = steps.to(p.device, non_blocking=True)


def _has_momentum(optimizer: torch.optim.Optimizer) -> bool:
    """Give fused SGD its momentum buffers before the first step.

    If torch made them in a step that is skipped, they would be undefined. Zeros give the bits of torch's own
    first step, unless there is dampening.
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


def _with_gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def _saved(values: dict[str, Any]) -> dict[str, Any]:
    """What is in a dict, each value with its version. Tensors are cloned: a step changes them in place."""
    return {
        name: (v.detach().clone(), v._version) if torch.is_tensor(v) else (copy.copy(v), None)
        for name, v in values.items()
        if name != "params"
    }


def _changed(now: dict[str, Any], old: Any) -> list[str]:
    """The names of new entries, of tensors in the state, and of what changed else."""
    names = [name for name in now if name != "params" and name not in old]
    for name, (value, version) in old.items():
        new = now[name]
        if torch.is_tensor(new):
            same = "params" in now and new._version == version  # a learning rate in a group
        else:
            same = new is value or (isinstance(value, numbers.Number | str) and new == value)
        if not same:
            names.append(name)
    return names


def _undo(now: dict[str, Any], old: Any) -> None:
    for name in _changed(now, old):
        if name not in old:
            del now[name]
        elif torch.is_tensor(now[name]) and torch.is_tensor(old[name][0]):
            _local(now[name]).copy_(_local(old[name][0]))
        else:
            now[name] = old[name][0]


def _on(value: Any, device: torch.device) -> bool:
    return torch.is_tensor(value) and value.device == device


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """The part of a sharded tensor that this rank holds."""
    data = tensor.detach()
    return data.to_local() if hasattr(data, "to_local") else data
