"""Learn from rows that a run has skipped, because a person has looked at them and released them."""

import copy
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.certificates.certified import Certified
from holdfast.filters import Everything
from holdfast.io.cells import numbers
from holdfast.io.sources import Source, SourceError, pieces
from holdfast.norms import HUGE
from holdfast.rounds import Round, Verdict
from holdfast.runs.quarantine import ROW
from holdfast.runs.run import Run
from holdfast.steady import Steady
from holdfast.steady.forecasts import average
from holdfast.steady.state import EPOCH
from holdfast.vectors import largest, squash

_FILTERS = ("features", "target", "gradient", "negative", "surprise")


class Unfiltered:
    """A player that learns from every round with finite sizes. It has the states of another player.

    Only the learner inside changes. What the filters remember, and what a certificate sums up, stays.
    """

    def __init__(self, player: Any) -> None:
        self.player = player
        self.predict, self.checks = player.predict, player.checks
        self.from_stored, self.to_stored = player.from_stored, player.to_stored
        core = player.core()
        self.core = core._replace(**{name: Everything() for name in _FILTERS if name in core._fields})

    def observe(self, state: Any, round: Round) -> tuple[Any, Verdict]:
        before = _core_state(self.player, state)
        opened = copy.deepcopy(before)
        opened = opened._replace(**{name: 0 for name in _FILTERS if name in opened._fields})
        after, verdict = self.core.observe(opened, round)
        return _with_core_state(self.player, state, before._replace(learner=after.learner)), verdict


class UnfilteredSteady(Unfiltered):
    """`Steady` that learns from every round with finite sizes, and counts none.

    Only regressions, fallback and range of targets change. Units, filters and the parts of the mean stay; so
    do the forecasts that were asked for, but for a key without delay.
    """

    def observe(self, state: Any, round: Round) -> tuple[Any, Verdict]:
        after = copy.deepcopy(state)
        row = self.player.standardised(after, round.x)
        size = largest(row[:-1])
        is_read = size < HUGE and abs(round.y) < HUGE and state.numbers[EPOCH] >= 0.0
        verdict = Verdict(bool(is_read), -1, (size, np.nan), (np.nan, np.nan))
        if not is_read:
            return state, verdict
        seen = Round(round.slope, round.x, round.y, squash(row, self.player.knee, self.player.most))
        after, *_ = self.core.learn(after._replace(surprise=0), seen, 1.0, False)
        average(after)  # with delay=1, `learn` leaves this to the end of the round
        kept = {"gate": state.gate, "surprise": state.surprise, "learned": state.learned}
        return after._replace(**kept), verdict


def without_filters(player: Any) -> Unfiltered:
    """A player that learns from every round with finite sizes, with the states of this one."""
    return UnfilteredSteady(player) if isinstance(player, Steady) else Unfiltered(player)


def _core_state(player: Any, state: Any) -> Any:
    if isinstance(player, Certified):
        return _core_state(player.player, state.inner)
    return state


def _with_core_state(player: Any, state: Any, core: Any) -> Any:
    if isinstance(player, Certified):
        return state._replace(inner=_with_core_state(player.player, state.inner, core))
    return core


def release(run: Run, source: Source) -> dict[str, int]:
    """Learn from the rows of a quarantine file; return how many were released, and how many were not.

    A row is released once, and only if the run has skipped it. Its number is in the column `skipped_row`. The
    values are those in the file, so they may have been corrected. Rows that cannot be read, or have a missing
    or infinite number, are not released.
    """
    if ROW not in source.names:
        raise SourceError(
            f"{source.name} has no column '{ROW}': name a file that audit --skipped has written, as it is or "
            "with fewer rows"
        )
    open_rows = np.setdiff1d(_rows(run, "audit"), _rows(run, "released"))
    counts, player = {"released": 0, "others": 0}, without_filters(run.games.player)
    released: list[np.ndarray] = []
    for piece in pieces(source, source.blocks(), run.layout, run.target, run.settings.key, also=(ROW,)):
        rows, _ = numbers(piece.also[ROW])
        usable = np.isin(rows, open_rows) & np.isfinite(piece.y) & ~piece.features.missing()
        usable[list(piece.faults)] = False
        if piece.keys is not None:
            known = pa.array(list(run.games.keys), pa.string())
            usable &= pc.is_in(piece.keys, known).to_numpy(zero_copy_only=False)
        usable &= np.isin(np.arange(len(rows)), np.unique(rows, return_index=True)[1])
        learned = run.learn_released(piece, np.flatnonzero(usable), player)
        new = rows[learned].astype(np.int64)
        open_rows = np.setdiff1d(open_rows, new)
        released.append(new)
        counts["released"] += len(new)
        counts["others"] += len(rows) - len(new)
    if counts["released"]:
        found = np.concatenate(released)
        table = {
            "row": found,
            "round": np.full(len(found), run.trace.rounds),
            "file": [source.name] * len(found),
        }
        run.log.add_released(pa.table(table, run.log.schema("released")))
        run.save()
    return counts


def _rows(run: Run, table: str) -> np.ndarray:
    """The numbers of the rows of the audit, or of the rows that were released before."""
    found = [part.column("row").to_numpy() for part in run.read(table, ["row"])]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
