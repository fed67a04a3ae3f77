"""The record of a game: one column for each quantity, one entry for each round."""

__all__ = ["Record"]

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.adversaries.gradients import Gradients
from holdfast.certificates.certificate import Certificate, certificate, quantile_certificate
from holdfast.protocols import PlayerInDomain
from holdfast.roles import check_role

VERDICTS = ("sizes", "thresholds", "kept", "refused_by", "farthest")
COLUMNS = ("losses", *VERDICTS, "products", "predictions", "gradients", "iterates")
DEFAULT = ("losses", "sizes", "thresholds", "kept")


@dataclass(frozen=True, eq=False)
class Record:
    """The decisions of a game, round by round, and the player's weights after it.

    A column that `keep` did not name is None. The counts are always there.

    Attributes:
        losses: f_t(w_t), one entry for each round of this record.
        sizes, thresholds (of shape (rounds, checks)): What each check of the player has measured in each
            round, and the threshold of its filter. `checks` has their names. NaN: not measured, or not asked.
        kept: Whether the learner was updated.
        refused_by: The place of the check that refused the round; -1 if it was kept or not readable.
        farthest: The column of the farthest cell of a row that was refused for its features, else -1.
        products, predictions, gradients, iterates: <w_t, g_t>, <w_t, x_t> in the units of the target, g_t and
            w_t.
        final: The weights after the last round.
        average: The mean of the w_t over *all* rounds since the start, kept or skipped (online-to-batch
            conversion).
        rounds, kept_count, skipped_count, unmeasured_count: Over all rounds since the start.
            `unmeasured_count` counts skipped rounds without a finite size.
    """

    losses: np.ndarray | None
    sizes: np.ndarray | None
    thresholds: np.ndarray | None
    kept: np.ndarray | None
    refused_by: np.ndarray | None
    farthest: np.ndarray | None
    products: np.ndarray | None
    predictions: np.ndarray | None
    gradients: np.ndarray | None
    iterates: np.ndarray | None
    final: np.ndarray
    average: np.ndarray | None
    rounds: int
    kept_count: int
    unmeasured_count: int
    player: Any = field(repr=False)
    adversary: Any = field(repr=False)
    state: Any = field(repr=False)  # to continue the game: state of player and adversary, counts, position
    again: Any = field(repr=False)  # again(player, keep=...) plays the same rounds; None in a continued game

    @property
    def checks(self) -> tuple[str, ...]:
        """What is measured in a round: the columns of `sizes` and `thresholds`."""
        return self.player.check_names()

    @property
    def skipped_count(self) -> int:
        """How many rounds were skipped, since the start."""
        return self.rounds - self.kept_count

    @property
    def last(self) -> int:
        """The round of the adversary at which this record ends."""
        return self.own_state()[-1]

    @property
    def domain(self) -> Any:
        """The domain of the learner's weights."""
        player = self.player.core()
        check_role(player, PlayerInDomain)
        return player.learner.domain

    @property
    def size(self) -> np.ndarray:
        """The size of each round: what the last check has measured, as in `Verdict.size`."""
        return self.column("sizes")[:, -1]

    @property
    def threshold(self) -> np.ndarray:
        """The threshold of the last check in each round."""
        return self.column("thresholds")[:, -1]

    def own_state(self) -> tuple[Any, Any, Any, int]:
        """What continues the game; raises if another game took it over."""
        if self.state is None:
            raise ValueError(
                "this record was continued in place, or that was interrupted: continue the newer record, or "
                "play again from the start"
            )
        return self.state

    def give_up(self) -> tuple[Any, Any, Any, int]:
        """What continues the game. This record can then not be continued any more."""
        state = self.own_state()
        object.__setattr__(self, "state", None)
        return state

    def column(self, name: str) -> np.ndarray:
        """A column by name; raises if it was not kept."""
        column = getattr(self, name)
        if column is None:
            raise ValueError(f"the record has no {name}: play(..., keep=[{name!r}, ...])")
        return column

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """<w_t, g_t> and g_t of every round. If they were not kept, the game is played again."""
        if isinstance(self.adversary, Gradients) and self.losses is not None:
            return self.losses, np.asarray(self.adversary.G[self.last - len(self.losses) : self.last], float)
        if self.products is not None and self.gradients is not None:
            return self.products, self.gradients
        if self.again is None:
            return self.column("products"), self.column("gradients")  # one of them is missing, and raises
        again = self.again(self.player, keep=("products", "gradients"))
        return again.products, again.gradients

    def certificate(self, k: int, comparators: Any = None) -> Certificate:
        """A bound on the regret of this run, for every set of at most k outliers.

        It compares with every u of the domain; with `comparators`, a bounded domain, with every u of that.
        Then the learner need not have one.
        """
        return certificate(self, k, comparators)

    def quantile_certificate(self, p: float, confidence: float = 0.95) -> tuple[float, float]:
        """A bound on the regret of this run on the rounds up to the p-quantile of i.i.d. sizes."""
        return quantile_certificate(self, p, confidence)

    def to_pandas(self) -> Any:
        """The columns as a data frame with one row for each round."""
        import pandas as pd

        columns: dict[str, np.ndarray] = {}
        for name in COLUMNS:
            column = getattr(self, name)
            if name in ("sizes", "thresholds") and column is not None:
                one = name.removesuffix("s")
                columns |= {f"{check}_{one}": column[:, k] for k, check in enumerate(self.checks)}
            elif column is not None and column.ndim == 1:
                columns[name] = column
        return pd.DataFrame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw sizes and thresholds of the last check, and skipped rounds, with matplotlib."""
        size, threshold, kept = self.size, self.threshold, self.column("kept")
        first = 1 if self.state is None else self.last - len(kept) + 1
        from holdfast.pages.plots import draw_rounds

        return draw_rounds(size, threshold, kept, first, ax)

    def _repr_html_(self) -> str:
        rows: dict[str, float] = {
            "rounds": self.rounds,
            "kept": self.kept_count,
            "skipped": self.skipped_count,
            "of these without a finite size": self.unmeasured_count,
        }
        if self.losses is not None and self.kept is not None and self.kept.any():
            rows["mean loss on the kept rounds"] = float(self.losses[self.kept].mean())
        from holdfast.pages.notebook import facts

        return facts("Record", rows, repr(self.player))

    def __repr__(self) -> str:
        return (
            f"Record({self.rounds:,} rounds: {self.kept_count:,} kept, {self.skipped_count:,} skipped, "
            f"{self.unmeasured_count:,} of them without a finite size)"
        )
