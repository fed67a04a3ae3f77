"""The game one round at a time, for those who bring their own loop."""

import numpy as np

from holdfast.certificates import ledger_certificate
from holdfast.certified import Certified
from holdfast.game import Decision
from holdfast.rehearsal import rehearse
from holdfast.vectors import dot


class Player:
    """A player and its state: predict, then observe a gradient or learn from an example.

    Parameters
    ----------
    player : a player
        Such as `Filtered(OGD(Ball(1.0)), TopK(50))`.
    dim : int
        The number of weights.

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

    def __init__(self, player, dim):
        if dim < 1:
            raise ValueError(f"dim is the number of weights, at least 1: got {dim}")
        rehearse(player, dim)
        self.rule, self.dim, self.state = player, dim, player.init(dim)
        self.rounds = self.kept_count = self.unmeasured_count = 0

    def predict(self):
        """The weights w_t, as an array of your own."""
        return self.rule.predict(self.state).copy()

    def observe(self, gradient):
        """End the round with the gradient of the loss at the weights predicted."""
        return self._end(1.0, self._row(gradient, "gradient"))

    def learn(self, x, y, loss):
        """End the round with an example: the loss is loss(<w_t, x>, y)."""
        x = self._row(x, "x")
        z = dot(self.rule.predict(self.state), x)
        return self._end(loss.slope(z, float(y)), x)

    def _row(self, values, name):
        row = np.asarray(values)
        if row.dtype not in (np.float64, np.float32):
            try:
                row = row.astype(np.float64)
            except (TypeError, ValueError) as problem:
                raise TypeError(f"{name} must hold numbers: {problem}") from None
        if row.shape != (self.dim,):
            raise ValueError(f"{name} must have the {self.dim} entries of this player: got shape {row.shape}")
        return row

    def _end(self, slope, x) -> Decision:
        with np.errstate(all="ignore"):
            self.state, decision = self.rule.observe(self.state, slope, x)
        self.rounds += 1
        self.kept_count += decision.kept
        self.unmeasured_count += not decision.size < np.inf
        return decision

    def certificate(self, k):
        """What the rounds so far prove about their regret, for a player that is `Certified`."""
        if not isinstance(self.rule, Certified):
            raise TypeError(
                "a player keeps no gradients, so wrap it to keep the books: Player(Certified(..., k), dim)"
            )
        return ledger_certificate(self.state, self.rule, k, self.unmeasured_count)

    @property
    def skipped_count(self):
        return self.rounds - self.kept_count
