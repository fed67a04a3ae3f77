"""Play one round at a time, in a loop of your own."""

__all__ = ["Player"]

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast import protocols
from holdfast._compiled.calls import can_compile
from holdfast.certificates.certificate import Certificate, certificate_of_state
from holdfast.certificates.certified import Certified
from holdfast.dry_run import check_first_round, check_restored, check_rule
from holdfast.losses import slope_at
from holdfast.protocols import Loss, Row
from holdfast.rounds import Round, Verdict
from holdfast.vectors import aligned_copy, assign, dot, target_for, values_of

_WORTH_COMPILING = 100_000  # rounds: interpreted, they take as long as compiling does


def observe_round(state: Any, player: Any, w: np.ndarray, x: Row, slope: float) -> tuple[Any, Verdict]:
    """End a round with the gradient slope * x, and write the next prediction to w."""
    state, verdict = player.observe(state, Round(slope, x, math.nan, x, 0.0))
    assign(w, values_of(player.predict(state)))
    return state, verdict


def learn_round(state: Any, player: Any, w: np.ndarray, x: Row, loss: Loss, y: float) -> tuple[Any, Verdict]:
    """End a round with an example, and write the next prediction to w."""
    weights = player.predict(state)
    slope = slope_at(loss, dot(weights, x), target_for(weights, y))
    state, verdict = player.observe(state, Round(slope, x, y, x, 0.0))
    assign(w, values_of(player.predict(state)))
    return state, verdict


class Player:
    """A player and its state: predict, then observe a gradient or learn from an example.

    Parameters:
        player: Such as `Filtered(OGD(Ball(1.0)), TopK(50))`.
        dim: The number of weights.
        compiled: Whether to compile the rounds. This takes some seconds and makes a round ten times as fast;
            the weights are the same. Default: compile after 100,000 rounds.

    >>> import holdfast as hf
    >>> player = Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k=1)), dim=2)
    >>> player.observe([1.0, 0.0]).kept
    False
    >>> player.learn([3.0, 4.0], -1.0, hf.Hinge())
    Verdict(kept=False, refused_by=0, sizes=(5.0,), thresholds=(2.0,), column=-1)
    >>> player.learn([0.6, 0.8], 1.0, hf.Hinge()).kept
    True
    >>> player.predict().round(2).tolist()
    [0.6, 0.8]
    """

    def __init__(self, player: protocols.Player, dim: int, compiled: bool | None = None) -> None:
        if dim < 1:
            raise ValueError(f"dim is the number of weights, at least 1: got {dim}")
        check_first_round(player, dim)
        self.rule, self.dim, self.compiled = player, dim, compiled
        self.rounds = self.kept_count = self.unmeasured_count = 0
        self._state = aligned_copy(player.init(dim))
        self._w = aligned_copy(np.array(values_of(player.predict(self._state))))
        self._x = aligned_copy(np.zeros(dim))
        self._compiled_round: Any = None
        self._loss: Loss | None = None  # that of the compiled round
        self._checked_loss: Loss | None = None

    def predict(self) -> np.ndarray:
        """The weights w_t, as a copy."""
        return self._w.copy()

    def observe(self, gradient: ArrayLike) -> Verdict:
        """End the round with the gradient of the loss at the weights predicted."""
        self._read(gradient, "gradient")
        if self._compiled_round is None or self._loss is not None:
            if not self._worth_compiling():
                return self._counted(self._interpreted(observe_round, 1.0))
            self._compile(observe_round, None)
        return self._counted(self._compiled_round(1.0))

    def learn(self, x: ArrayLike, y: float, loss: Loss) -> Verdict:
        """End the round with an example: the loss is loss(<w_t, x>, y)."""
        self._read(x, "x")
        if self._compiled_round is None or (self._loss is not loss and self._loss != loss):
            if self._checked_loss is not loss:
                check_rule(loss, Loss, self.dim)
                self._checked_loss = loss
            if not self._worth_compiling():
                return self._counted(self._interpreted(learn_round, loss, float(y)))
            self._compile(learn_round, loss)
        return self._counted(self._compiled_round(float(y)))

    @property
    def state(self) -> Any:
        """The current state of the rule."""
        return self._compiled_round.first() if self._compiled_round is not None else self._state

    def certificate(self, k: int) -> Certificate:
        """A bound on the regret of the rounds so far, proved by the run. The player must be `Certified`."""
        if not isinstance(self.rule, Certified):
            raise TypeError(
                "a player stores no gradients, so only Player(Certified(..., k), dim) has a certificate"
            )
        return certificate_of_state(self.state, self.rule, k, self.unmeasured_count)

    @property
    def skipped_count(self) -> int:
        """How many rounds were skipped."""
        return self.rounds - self.kept_count

    def __repr__(self) -> str:
        return f"Player({self.rule}, dim={self.dim}: {self.rounds:,} rounds, {self.kept_count:,} kept)"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_state": self.state, "_compiled_round": None, "_loss": None}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        check_restored(stored["rule"], stored["_state"])
        vars(self).update(stored)

    def _read(self, values: ArrayLike, name: str) -> None:
        """Copy the entries of a row to the array that the round reads."""
        row = values if isinstance(values, np.ndarray) else np.asarray(values)
        if row.shape != (self.dim,):
            raise ValueError(f"{name} must have the {self.dim} entries of this player: got shape {row.shape}")
        try:
            self._x[:] = row
        except (TypeError, ValueError) as problem:
            raise TypeError(f"{name} must hold numbers: {problem}") from None

    @np.errstate(all="ignore")
    def _interpreted(self, play: Callable[..., tuple[Any, Verdict]], *rest: Any) -> Verdict:
        self._state, verdict = play(self.state, self.rule, self._w, self._x, *rest)
        self._compiled_round = None
        return verdict

    def _worth_compiling(self) -> bool:
        is_long = self.rounds >= _WORTH_COMPILING
        return is_long and can_compile(is_long) if self.compiled is None else self.compiled

    def _compile(self, play: Callable[..., tuple[Any, Verdict]], loss: Loss | None) -> None:
        from holdfast._compiled import bind_state

        self._state = self.state
        values = (self._state, self.rule, self._w, self._x, *([] if loss is None else [loss]))
        self._compiled_round, self._loss = bind_state(play, *values, 0.0), loss

    def _counted(self, verdict: Verdict) -> Verdict:
        self.rounds += 1
        self.kept_count += verdict.kept
        self.unmeasured_count += not verdict.kept and verdict.refused_by < 0
        return verdict
