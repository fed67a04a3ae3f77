"""Play one round at a time, in a loop of your own."""

__all__ = ["Player"]

import math

import numpy as np

from holdfast.certificates.certificate import certificate_of_state
from holdfast.certificates.certified import Certified
from holdfast.dry_run import check_first_round, check_rule
from holdfast.game import Decision
from holdfast.losses import slope_at
from holdfast.protocols import Loss
from holdfast.vectors import aligned_copy, assign, dot, target_for, values_of

_WORTH_COMPILING = 100_000  # rounds: interpreted, they take as long as compiling does


def observe_round(state, player, w, x, slope):
    """End a round with the gradient slope * x, and write the next prediction to w."""
    state, decision = player.observe(state, slope, x)
    assign(w, values_of(player.predict(state)))
    return state, decision


def learn_round(state, player, w, x, loss, y):
    """End a round with an example, and write the next prediction to w."""
    weights = player.predict(state)
    slope = slope_at(loss, dot(weights, x), target_for(weights, y))
    state, decision = player.observe(player.set_target(state, y), slope, x)
    assign(w, values_of(player.predict(state)))
    return state, decision


class Player:
    """A player and its state: predict, then observe a gradient or learn from an example.

    Parameters
    ----------
    player : a player
        Such as `Filtered(OGD(Ball(1.0)), TopK(50))`.
    dim : int
        The number of weights.
    compiled : bool, optional
        Whether to compile the rounds. This takes some seconds and makes a round ten times as fast; the
        weights are the same. Default: compile after 100,000 rounds.

    Examples
    --------
    >>> import holdfast as hf
    >>> player = Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k=1)), dim=2)
    >>> player.observe([1.0, 0.0])
    Decision(kept=False, size=1.0, threshold=0.0)
    >>> player.learn([3.0, 4.0], -1.0, hf.Hinge())
    Decision(kept=False, size=5.0, threshold=2.0)
    >>> player.learn([0.6, 0.8], 1.0, hf.Hinge())
    Decision(kept=True, size=1.0, threshold=2.0)
    >>> player.predict().round(2).tolist()
    [0.6, 0.8]
    """

    def __init__(self, player, dim, compiled=None):
        if dim < 1:
            raise ValueError(f"dim is the number of weights, at least 1: got {dim}")
        check_first_round(player, dim)
        self.rule, self.dim, self.compiled = player, dim, compiled
        self.rounds = self.kept_count = self.unmeasured_count = 0
        self._state = aligned_copy(player.init(dim))
        self._w = aligned_copy(np.array(values_of(player.predict(self._state))))
        self._x = aligned_copy(np.zeros(dim))
        self._compiled_round, self._loss = None, None  # `_loss` is the loss of the compiled round
        self._checked_loss = None

    def predict(self):
        """The weights w_t, as a copy."""
        return self._w.copy()

    def observe(self, gradient):
        """End the round with the gradient of the loss at the weights predicted."""
        self._read(gradient, "gradient")
        if self._compiled_round is None or self._loss is not None:
            if not self._worth_compiling():
                return self._counted(self._interpreted(observe_round, 1.0))
            self._compile(observe_round, None)
        return self._counted(self._compiled_round(1.0))

    def learn(self, x, y, loss):
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
    def state(self):
        """The current state of the rule."""
        return self._compiled_round.first() if self._compiled_round is not None else self._state

    def certificate(self, k):
        """A bound on the regret of the rounds so far, proved by the run. The player must be `Certified`."""
        if not isinstance(self.rule, Certified):
            raise TypeError(
                "a player stores no gradients, so only Player(Certified(..., k), dim) has a certificate"
            )
        return certificate_of_state(self.state, self.rule, k, self.unmeasured_count)

    @property
    def skipped_count(self):
        """How many rounds were skipped."""
        return self.rounds - self.kept_count

    def __repr__(self):
        return f"Player({self.rule}, dim={self.dim}: {self.rounds:,} rounds, {self.kept_count:,} kept)"

    def __getstate__(self):
        return self.__dict__ | {"_state": self.state, "_compiled_round": None, "_loss": None}

    def _read(self, values, name):
        """Copy the entries of a row to the array that the round reads."""
        row = values if isinstance(values, np.ndarray) else np.asarray(values)
        if row.shape != (self.dim,):
            raise ValueError(f"{name} must have the {self.dim} entries of this player: got shape {row.shape}")
        try:
            self._x[:] = row
        except (TypeError, ValueError) as problem:
            raise TypeError(f"{name} must hold numbers: {problem}") from None

    @np.errstate(all="ignore")
    def _interpreted(self, play, *rest):
        self._state, decision = play(self.state, self.rule, self._w, self._x, *rest)
        self._compiled_round = None
        return decision

    def _worth_compiling(self):
        return self.rounds >= _WORTH_COMPILING if self.compiled is None else self.compiled

    def _compile(self, play, loss):
        from holdfast._compiled import bind_state

        self._state = self.state
        values = (self._state, self.rule, self._w, self._x, *([] if loss is None else [loss]))
        self._compiled_round, self._loss = bind_state(play, *values, 0.0), loss

    def _counted(self, decision) -> Decision:
        self.rounds += 1
        self.kept_count += decision.kept
        self.unmeasured_count += not decision.size < math.inf
        return decision
