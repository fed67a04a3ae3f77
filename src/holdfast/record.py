"""What a game leaves behind, as columns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

COLUMNS = ("losses", "sizes", "thresholds", "kept")


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
    final: np.ndarray
    average: np.ndarray | None
    rounds: int
    kept_count: int
    unmeasured_count: int
    player: Any = field(repr=False)
    adversary: Any = field(repr=False)
    state: Any = field(repr=False)  # all that is needed to go on: player, adversary, tally and position

    @property
    def skipped_count(self) -> int:
        return self.rounds - self.kept_count

    def to_pandas(self):
        """The columns as a data frame, one row a round."""
        import pandas as pd

        return pd.DataFrame(
            {name: getattr(self, name) for name in COLUMNS if getattr(self, name) is not None}
        )

    def __repr__(self):
        return (
            f"Record({self.rounds:,} rounds: {self.kept_count:,} kept, {self.skipped_count:,} skipped, "
            f"{self.unmeasured_count:,} of them without a finite size)"
        )
