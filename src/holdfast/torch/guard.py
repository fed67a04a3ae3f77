"""The guard of an optimizer: measure the gradients, decide on the device, take the step or leave it."""

import functools
import math
import numbers
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

import torch

from holdfast.audit import table_of_steps
from holdfast.filters.topk import TopK
from holdfast.filters.topshare import TopShare
from holdfast.options import filter_for_training
from holdfast.torch.device_filter import DeviceFilter, Parts
from holdfast.torch.skipping import FoundInf, NoGradients, Select, strategy_for

_STRATEGIES: dict[str, type[FoundInf | NoGradients | Select]] = {
    "found_inf": FoundInf,
    "sync": NoGradients,
    "select": Select,
}
_KEY = "holdfast"  # in the optimizer's state_dict


def guard(
    optimizer: torch.optim.Optimizer,
    outliers: float | TopK | TopShare = 0.1,
    window: int | None = 1000,
    *,
    slack: float = 2.0,
    per: Literal["all", "group", "tensor"] = "all",
    loss: bool = False,
    strategy: Literal["auto", "found_inf", "select", "sync"] = "auto",
    history: int = 1024,
) -> "GuardedOptimizer":
    """Make an optimizer skip the steps whose gradients are outliers; returns the same optimizer.

    A step is taken if the Euclidean norm of its gradients is at most `slack` times the (k+1)-th largest norm
    of the last `window` to 2 `window` steps, where k of them may be outliers. A skipped step changes nothing:
    no weight, no momentum, no step counter, no weight decay. Gradients with NaN or infinity are skipped and
    not remembered. The first steps are skipped until there are more norms than possible outliers.

    Norm, memory and decision stay on the device of the parameters. `optimizer.holdfast` is the `StepGuard`.

    Parameters:
        optimizer: Any but LBFGS, which computes several gradients in a step.
        outliers (float, int or filter): The share of steps that may be bad, if below 1; how many of them may
            be, otherwise; or a `TopK` or `TopShare` of holdfast. The default of 0.1 leaves out at least the
            first four steps, and at most 256 after a lasting rise of all norms; 0.01 the first one, and 40.
        window: The memory in steps. Norms shrink while a model is trained, and a memory without end (None)
            would let every late spike pass.
        slack: How much larger than what is usual a norm may be.
        per: What is measured: all gradients together, each parameter group, or each tensor. A spike in one
            small tensor is hidden in the norm of all. One bad part skips the whole step.
        loss: Judge the loss too, by a memory of its own: a step is skipped if |loss| is an outlier. Call
            `optimizer.holdfast.see_loss(loss)` before `step`; a closure's loss is seen anyway. Only for
            losses that are not negative: a size says nothing about others.
        strategy: How a step is skipped. "found_inf" for fused optimizers and "select" never wait for the
            device; "sync" waits once in every step. "auto" takes the first that the optimizer can do. For
            that, it sets `capturable` of a plain `Adam` or `AdamW` on a GPU; "select" needs a copy of weights
            and state, and "sync" and fused optimizers none.
        history: The number of last steps that `optimizer.holdfast.audit()` can tell of.

    Guarantee: deep learning is not convex, so there is no bound on the regret. Theorem W still says which
    steps can be taken at all: if at most k_t of the remembered steps are outliers, no gradient larger than
    `slack` times the largest of the others, of the last two windows, ever moves a weight.

    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = guard(torch.optim.SGD(model.parameters(), lr=0.1), outliers=1)
    >>> for factor in (1.0, 1.0, 1e9, 1.0):
    ...     optimizer.zero_grad()
    ...     (factor * model(torch.ones(1, 2)).sum()).backward()
    ...     optimizer.step()
    >>> [int(step) for step in optimizer.holdfast.audit()["step"]]
    [0, 2]
    """
    if isinstance(optimizer, torch.optim.LBFGS):
        raise TypeError(
            "LBFGS computes several gradients in one step, so no step can be skipped: use another optimizer"
        )
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"guard an instance of torch.optim.Optimizer: got {optimizer!r}")
    if isinstance(optimizer, GuardedOptimizer):
        raise ValueError(f"this optimizer has a guard already: {optimizer.holdfast!r}")
    if strategy != "auto" and strategy not in _STRATEGIES:
        raise ValueError(f'strategy must be "auto", "found_inf", "select" or "sync": got {strategy!r}')
    count: Any = history
    if isinstance(count, bool) or not isinstance(count, numbers.Integral) or int(count) < 1:
        raise ValueError(f"history counts steps, at least 1: got {history!r}")
    if any(getattr(p, "_fsdp_flattened", False) for group in optimizer.param_groups for p in group["params"]):
        raise TypeError(
            "these are flat shards of FullyShardedDataParallel; no process has their norm: use fully_shard"
        )
    rule = filter_for_training(outliers, window, slack)
    guarded: Any = optimizer
    guarded.holdfast = StepGuard(optimizer, rule, per, bool(loss), strategy, int(history))
    guarded.__class__ = _guarded_class(guarded.__class__)
    return guarded


class StepGuard:
    """What guards one optimizer: its filter, and what became of the last steps."""

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        rule: TopK | TopShare,
        per: str,
        loss: bool,
        strategy: str,
        history: int,
    ) -> None:
        self.rule, self.per, self.strategy, self.history = rule, per, strategy, history
        self.optimizer = optimizer
        self.parts = Parts(per, optimizer)
        self.device = self.parts.tensors[0].device
        self.filter = DeviceFilter(rule, self.parts.count, self.device)
        self.loss_filter = DeviceFilter(rule, 1, self.device) if loss else None
        self._loss: torch.Tensor | None = None  # of the next step
        real = self.filter.largest.dtype
        self.log = torch.full((history, 4), math.nan, dtype=real, device=self.device)
        self.counts = torch.zeros(2, dtype=torch.int64, device=self.device)  # skipped, kept
        self.steps = 0
        self._way: FoundInf | NoGradients | Select | None = None  # how this step is taken or not
        self._copy: Any = None
        self._last: dict[str, float] = {}
        self._inner = 0  # steps that the optimizer takes inside of its own step
        self._keep: torch.Tensor | None = None  # the decision about the next step, if there is one already
        optimizer.register_step_pre_hook(_before_step)
        optimizer.register_step_post_hook(_after_step)
        optimizer.register_state_dict_post_hook(_save)
        optimizer.register_load_state_dict_pre_hook(_load)

    def __repr__(self) -> str:
        return f"StepGuard({self.rule!r}, per={self.per!r}, strategy={self.strategy!r})"

    def begin(self, optimizer: torch.optim.Optimizer) -> None:
        """A step begins. If the last one raised an exception, forget what was prepared for it."""
        if self._way is not None and not _inside_a_step(optimizer):
            self._way.abandon(optimizer)
            self._way, self._inner, self._keep = None, 0, None

    def before(self, optimizer: torch.optim.Optimizer) -> None:
        """Measure the gradients, decide, and prepare the step to be taken or not."""
        if self._way is not None:  # `super().step()`: the outer step has decided
            self._inner += 1
            return
        if self._keep is None:
            self.measure()
        keep, self._keep = self._keep, None
        fixed = self.strategy != "auto"
        way = _STRATEGIES[self.strategy]() if fixed else strategy_for(optimizer, self.device)
        self._way = way
        way.before(optimizer, keep)

    def measure(self) -> None:
        """Measure the gradients now and decide about the next step, before something else changes them.

        Only needed if gradients are also clipped: call it before `clip_grad_norm_`. With a `GradScaler`, call
        it after `scaler.unscale_(optimizer)`.
        """
        if not self.parts.are_of(self.optimizer):
            self.parts = Parts(self.per, self.optimizer)
            self.filter = self.filter.resized(self.parts.count)
        if self.parts.tensors[0].device != self.device:
            self._move()
        with torch.no_grad():
            sizes, present = self.parts.sizes(self.device)
            scale = getattr(self.optimizer, "grad_scale", None)
            if scale is not None:  # of a GradScaler that leaves the gradients scaled
                sizes = sizes / scale.to(self.device)
            thresholds, kept = self.filter.decide(sizes)
            kept = kept | ~present
            if self._loss is not None and self.loss_filter is not None:
                figures = (self._loss, *self.loss_filter.decide(self._loss))
                pairs = zip((sizes, thresholds, kept), figures, strict=True)
                sizes, thresholds, kept = (torch.cat(pair) for pair in pairs)
                self._loss = None
            self._keep = kept.all()
            self._write(sizes, thresholds, kept, self._keep)

    def see_loss(self, loss: torch.Tensor) -> None:
        """The loss of the next step, for a guard with loss=True. Processes average theirs."""
        if self.loss_filter is None:
            raise ValueError("this guard does not judge the loss: use guard(optimizer, ..., loss=True)")
        size = loss.detach().to(self.device, self.filter.largest.dtype).reshape(1)
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            size = size.clone()
            torch.distributed.all_reduce(size)
            size /= torch.distributed.get_world_size()
        self._loss = size.abs()

    def _move(self) -> None:
        """Follow a model that was moved to another device after the optimizer was made."""
        memory = self.state_dict()
        self.parts = Parts(self.per, self.optimizer)
        self.device = self.parts.tensors[0].device
        self.filter = DeviceFilter(self.rule, self.parts.count, self.device)
        if self.loss_filter is not None:
            self.loss_filter = DeviceFilter(self.rule, 1, self.device)
        self.log = self.log.to(self.device, self.filter.largest.dtype)
        self.counts = self.counts.to(self.device)
        self.load_state_dict(memory)

    def after(self, optimizer: torch.optim.Optimizer) -> None:
        """Restore what the skipped step had to change."""
        if self._inner > 0:
            self._inner -= 1
        elif self._way is not None:
            self._way.after(optimizer)
            self._way = None

    def _write(
        self, sizes: torch.Tensor, thresholds: torch.Tensor, kept: torch.Tensor, keep: torch.Tensor
    ) -> None:
        """Note the part that was nearest to being skipped, or the one that was."""
        excess = torch.where(kept, torch.nan_to_num(sizes / thresholds), math.inf)
        part = excess.argmax(keepdim=True)
        figures = (keep.unsqueeze(0), sizes.index_select(0, part), thresholds.index_select(0, part), part)
        self.log[self.steps % self.history].copy_(
            torch.cat([figure.to(self.log.dtype) for figure in figures])
        )
        self.counts += torch.stack((~keep, keep))
        self.steps += 1

    # -- what a user reads

    @property
    def kept(self) -> int:
        """How many steps were taken. Waits for the device."""
        return int(self.counts[1])

    @property
    def skipped(self) -> int:
        """How many steps were skipped. Waits for the device."""
        return int(self.counts[0])

    def metrics(self) -> dict[str, float]:
        """Figures for a logger: kept and skipped steps, size and threshold of a recent one.

        They are copied without waiting for the device, so they may be some steps old. Empty at the start.
        """
        figures: dict[str, float] = {}
        if self._copy is not None and (self._copy[2] is None or self._copy[2].query()):
            skipped, kept = (int(count) for count in self._copy[0])
            figures = {"kept": kept, "skipped": skipped}
            figures |= {"size": float(self._copy[1][1]), "threshold": float(self._copy[1][2])}
            self._last, self._copy = figures, None
        elif self._copy is not None:
            return self._last
        if self.steps > 0:
            row = self.log[(self.steps - 1) % self.history]
            on_host = [t.detach().to("cpu", non_blocking=True, copy=True) for t in (self.counts, row)]
            event = None
            if self.device.type == "cuda":
                event = torch.cuda.Event()
                event.record()
            self._copy = (*on_host, event)
            if event is None and not figures:
                return self.metrics()
        return figures

    def audit(self) -> dict[str, Any]:
        """The skipped ones of the last `history` steps: a dict of columns, for `pandas.DataFrame` too.

        `check` is "gradient" or "loss". `column` is what was measured: "loss", the index of a parameter
        group, or that of a tensor in the order of the groups; empty for all gradients together. Steps of the
        warm-up are in the table. Waits for the device.
        """
        rows = self.log.cpu()
        first = max(self.steps - self.history, 0)
        steps = [step for step in range(first, self.steps) if rows[step % self.history, 0] == 0.0]
        picked = rows[[step % self.history for step in steps]]
        parts = [int(part) for part in picked[:, 3]]
        loss = [part == self.parts.count for part in parts]
        named = {self.parts.count: "loss"} | ({0: ""} if self.per == "all" else {})
        columns = [named.get(part, str(part)) for part in parts]
        sizes, thresholds = picked[:, 1].tolist(), picked[:, 2].tolist()
        refused_by = [int(is_loss) for is_loss in loss]
        return table_of_steps(("gradient", "loss"), steps, refused_by, sizes, thresholds, columns)

    # -- checkpoints

    def state_dict(self) -> dict[str, Any]:
        """The memory of the filter and the counts, as tensors and numbers."""
        state = self.filter.state_dict()
        return state | {
            "log": self.log.clone(),
            "counts of steps": self.counts.clone(),
            "steps": self.steps,
            "rule": repr(self.rule),
            "per": self.per,
            "loss": None if self.loss_filter is None else self.loss_filter.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with a memory that was saved; raises if it is that of another filter."""
        if (state["rule"], state["per"]) != (repr(self.rule), self.per):
            raise ValueError(
                f"this checkpoint was guarded by {state['rule']} per {state['per']}, and now it is "
                f"{self.rule!r} per {self.per}: guard the optimizer as before, or delete the entry "
                f"{_KEY!r} of the checkpoint to begin without memory"
            )
        self.filter.load_state_dict(state)
        if self.loss_filter is not None and state.get("loss") is not None:
            self.loss_filter.load_state_dict(state["loss"])
        if state["log"].shape == self.log.shape:
            self.log.copy_(state["log"])
        self.counts.copy_(state["counts of steps"])
        self.steps = int(state["steps"])


# Hooks are plain functions of the module: an optimizer with them can be pickled. torch.compile must not trace
# them: a traced step would keep the decision of its first call.


_STEP = torch.optim.Optimizer.profile_hook_step(lambda: None).__code__  # around the step of every optimizer


def _inside_a_step(optimizer: torch.optim.Optimizer) -> bool:
    """Whether the step that begins was called by a step of the same optimizer."""
    frame: FrameType | None = sys._getframe()
    steps = 0
    while frame is not None:
        if frame.f_code is _STEP and frame.f_locals["args"][0] is optimizer:
            steps += 1
        frame = frame.f_back
    return steps > 1


@torch.compiler.disable
def _before_step(optimizer: "GuardedOptimizer", args: Any, kwargs: Any) -> Any:
    optimizer.holdfast.begin(optimizer)
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    if closure is None:
        optimizer.holdfast.before(optimizer)
        return None

    @functools.wraps(closure)
    def measured() -> Any:
        loss = closure()
        own = optimizer.holdfast
        if own.loss_filter is not None and own._way is None and torch.is_tensor(loss):
            own.see_loss(loss)
        own.before(optimizer)
        return loss

    return (args[0], measured, *args[2:]) if len(args) > 1 else args, (
        kwargs if len(args) > 1 else kwargs | {"closure": measured}
    )


@torch.compiler.disable
def _after_step(optimizer: "GuardedOptimizer", args: Any, kwargs: Any) -> None:
    optimizer.holdfast.after(optimizer)


def _save(optimizer: "GuardedOptimizer", state: dict[str, Any]) -> None:
    state[_KEY] = optimizer.holdfast.state_dict()


def _load(optimizer: "GuardedOptimizer", state: dict[str, Any]) -> dict[str, Any] | None:
    if _KEY in state:
        optimizer.holdfast.load_state_dict(state[_KEY])
        return {key: value for key, value in state.items() if key != _KEY}
    return None


if TYPE_CHECKING:
    from torch.optim import Optimizer
else:
    Optimizer = object  # `_guarded_class` adds the real one


class GuardedOptimizer(Optimizer):
    """Printing, copying and pickling of an optimizer together with its guard."""

    holdfast: StepGuard

    def __repr__(self) -> str:
        return f"{super().__repr__()}\nguarded by {self.holdfast!r}"

    def __reduce_ex__(self, protocol: Any) -> Any:
        own = self.holdfast
        settings = (own.rule, own.per, own.loss_filter is not None, own.strategy, own.history)
        return _restore, (type(self).__mro__[2], self.__getstate__(), settings, own.state_dict())


@functools.cache
def _guarded_class(cls: Any) -> type:
    return type(f"Guarded{cls.__name__}", (GuardedOptimizer, cls), {"__doc__": cls.__doc__})


def _restore(cls: Any, state: dict[str, Any], settings: Any, memory: Any) -> GuardedOptimizer:
    optimizer = cls.__new__(cls)
    optimizer.__setstate__(state)
    optimizer.__class__ = _guarded_class(cls)
    optimizer.holdfast = StepGuard(optimizer, *settings)
    optimizer.holdfast.load_state_dict(memory)
    return optimizer
