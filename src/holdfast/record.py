"""What a game leaves behind, as columns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.adversaries.gradients import Gradients
from holdfast.certificates.certificate import certificate, quantile_certificate
from holdfast.protocols import PlayerInDomain
from holdfast.role_checks import check_role

COLUMNS = ("losses", "sizes", "thresholds", "kept", "products", "predictions", "gradients", "iterates")
GUARD = ("feature_sizes", "feature_thresholds", "target_sizes", "target_thresholds")  # kept as one, "guard"
DEFAULT = ("losses", "sizes", "thresholds", "kept", "average")


@dataclass(frozen=True, eq=False)
class Record:
    """The rounds of a game: what was decided in each, and where it left the player.

    A column that was not asked for is None; the counts are there all the same.

    Attributes
    ----------
    losses, sizes, thresholds : float64 arrays, or None
        f_t(w_t), the size the filter saw, and what it compared it with: one entry a round of this record.
    kept : bool array, or None
        Whether the round was learned from.
    products, predictions, gradients, iterates : float64 arrays, or None
        <w_t, g_t>, <w_t, x_t> in the units of the target, g_t and w_t, if asked for.
    feature_sizes, feature_thresholds, target_sizes, target_thresholds : float64 arrays, or None
        What the other two filters of a `Guarded` player saw, with keep "guard".
    final : array
        The weights after the last round.
    average : array, or None
        The mean of the predictions w_t over *all* rounds since the start, kept or skipped, as online-to-batch
        conversion needs it.
    rounds, kept_count, skipped_count, unmeasured_count : int
        Over all rounds since the start; `unmeasured_count` of the skipped ones had no finite size.
    """

    losses: np.ndarray | None
    sizes: np.ndarray | None
    thresholds: np.ndarray | None
    kept: np.ndarray | None
    products: np.ndarray | None
    predictions: np.ndarray | None
    gradients: np.ndarray | None
    iterates: np.ndarray | None
    feature_sizes: np.ndarray | None
    feature_thresholds: np.ndarray | None
    target_sizes: np.ndarray | None
    target_thresholds: np.ndarray | None
    final: np.ndarray
    average: np.ndarray | None
    rounds: int
    kept_count: int
    unmeasured_count: int
    player: Any = field(repr=False)
    adversary: Any = field(repr=False)
    state: Any = field(repr=False)  # all that is needed to go on: player, adversary, tally and position
    again: Any = field(
        repr=False
    )  # again(player, keep=...) plays the same rounds; None in a later part of a game

    @property
    def skipped_count(self) -> int:
        return self.rounds - self.kept_count

    @property
    def last(self) -> int:
        """The round of the adversary at which this record ends."""
        return self.state[-1]

    @property
    def domain(self) -> Any:
        """Where the learner's weights lie."""
        player = self.player.core()
        check_role(player, PlayerInDomain)
        return player.learner.domain

    def column(self, name):
        """A column by name; raises if it was not kept."""
        column = getattr(self, name)
        if column is None:
            raise ValueError(f"the record does not hold its {name}: play(..., keep=[{name!r}, ...])")
        return column

    def linear(self):
        """<w_t, g_t> and g_t of every round; played again for them, if they were not kept."""
        if isinstance(self.adversary, Gradients) and self.losses is not None:
            return self.losses, np.asarray(self.adversary.G[self.last - len(self.losses) : self.last], float)
        if self.products is not None and self.gradients is not None:
            return self.products, self.gradients
        if self.again is None:
            return self.column("products"), self.column("gradients")  # one of which is missing, and says so
        again = self.again(self.player, keep=("products", "gradients"))
        return again.products, again.gradients

    def certificate(self, k):
        """What this run proves about its regret, whichever k rounds were outliers."""
        return certificate(self, k)

    def quantile_certificate(self, p, confidence=0.95):
        """What this run proves about its regret up to the p-quantile of i.i.d. sizes."""
        return quantile_certificate(self, p, confidence)

    def to_pandas(self):
        """The columns as a data frame, one row a round."""
        import pandas as pd

        columns = {name: getattr(self, name) for name in (*COLUMNS, *GUARD)}
        return pd.DataFrame({name: c for name, c in columns.items() if c is not None and c.ndim == 1})

    def __repr__(self):
        return (
            f"Record({self.rounds:,} rounds: {self.kept_count:,} kept, {self.skipped_count:,} skipped, "
            f"{self.unmeasured_count:,} of them without a finite size)"
        )
