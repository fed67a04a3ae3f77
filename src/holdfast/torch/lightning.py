"""A callback for Lightning that guards the optimizers of a module."""

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    try:
        from pytorch_lightning.callbacks import Callback
    except ImportError as error:
        raise ImportError("HoldfastCallback needs Lightning: pip install lightning") from error

from typing import Any

from holdfast.torch.guard import GuardedOptimizer, guard


class HoldfastCallback(Callback):
    """Skip the steps whose gradients are outliers: `Trainer(callbacks=[HoldfastCallback()])`.

    Guards every optimizer of the module that has no guard yet, and logs `holdfast/kept`, `holdfast/skipped`,
    `holdfast/size` and `holdfast/threshold` as often as the trainer logs. The memory of the filters is in the
    checkpoints. With `gradient_clip_val` gradients are measured before they are clipped.

    Parameters:
        **settings: Those of `holdfast.torch.guard`.

    Guarantee: that of `holdfast.torch.guard`.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self._optimizers: list[Any] = []
        self._memory: list[dict[str, Any]] | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Guard the optimizers of the trainer."""
        self._optimizers = list(trainer.optimizers)
        for i, optimizer in enumerate(self._optimizers):
            if not isinstance(optimizer, GuardedOptimizer):
                guard(optimizer, **self.settings)
                if self._memory is not None:
                    optimizer.holdfast.load_state_dict(self._memory[i])
        self._memory = None

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Measure the gradients before Lightning clips them."""
        if trainer.gradient_clip_val:
            getattr(optimizer, "optimizer", optimizer).holdfast.measure()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Log kept and skipped steps, size and threshold."""
        if trainer.global_step % trainer.log_every_n_steps == 0:
            for i, optimizer in enumerate(self._optimizers):
                prefix = "holdfast" if len(self._optimizers) == 1 else f"holdfast/{i}"
                figures = optimizer.holdfast.metrics()
                pl_module.log_dict({f"{prefix}/{name}": float(value) for name, value in figures.items()})

    def state_dict(self) -> dict[str, Any]:
        """The memories of all guards."""
        return {"memory": [optimizer.holdfast.state_dict() for optimizer in self._optimizers]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with the memories that `state_dict` gave."""
        self._memory = state["memory"]
