"""Learn from rows that a run has skipped, because a person has looked at them and released them."""

import copy

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.certificates.certified import Certified
from holdfast.filters import Everything
from holdfast.game import Decision
from holdfast.io.cells import numbers
from holdfast.io.sources import SourceError, pieces
from holdfast.norms import HUGE
from holdfast.runs.quarantine import ROW
from holdfast.steady import Steady
from holdfast.vectors import largest, squash

_FILTERS = ("features", "target", "gradient", "negative")


def without_filters(player):
    """A player that learns from every round with finite sizes, with the states of this one."""
    return UnfilteredSteady(player) if isinstance(player, Steady) else Unfiltered(player)


class UnfilteredSteady:
    """`Steady` that learns from every round with finite sizes, and counts none.

    Only regressions, fallback and range of targets change. Units, filters and the parts of the mean stay; so
    do the forecasts that were asked for, but for a key without delay.
    """

    def __init__(self, player):
        self.player, self.open = player, player._replace(surprise=Everything())

    def predict(self, state):
        return self.player.predict(state)

    def set_target(self, state, y):
        return self.player.set_target(state, y)

    def from_stored(self, state):
        return self.player.from_stored(state)

    def to_stored(self, state):
        return self.player.to_stored(state)

    def observe(self, state, slope, x):
        after = copy.deepcopy(state)
        row = self.player.standardised(after, x)
        size = largest(row[:-1])
        if not (size < HUGE and abs(state.y) < HUGE and state.epoch >= 0.0):
            return state, Decision(False, size, np.inf)
        squashed = squash(row, self.player.knee, self.player.most)
        after, _ = self.open.learn(after._replace(surprise=0), x, squashed, 1.0, False)
        self.open.average(after)  # with delay=1, `learn` leaves this to the end of the round
        return after._replace(surprise=state.surprise, learned=state.learned), Decision(True, size, np.inf)


class Unfiltered:
    """A player that learns from every round with finite sizes. It has the states of another player.

    Only the learner inside changes. What the filters remember, and what a certificate sums up, stays.
    """

    def __init__(self, player):
        self.player = player
        core = player.core()
        self.core = core._replace(**{name: Everything() for name in _FILTERS if name in core._fields})

    def predict(self, state):
        return self.player.predict(state)

    def set_target(self, state, y):
        return self.player.set_target(state, y)

    def from_stored(self, state):
        return self.player.from_stored(state)

    def to_stored(self, state):
        return self.player.to_stored(state)

    def observe(self, state, slope, x):
        before = _core_state(self.player, state)
        opened = copy.deepcopy(before)
        opened = opened._replace(**{name: 0 for name in _FILTERS if name in opened._fields})
        after, decision = self.core.observe(opened, slope, x)
        return _with_core_state(self.player, state, before._replace(learner=after.learner)), decision


def _core_state(player, state):
    if isinstance(player, Certified):
        return _core_state(player.player, state.inner)
    return state


def _with_core_state(player, state, core):
    if isinstance(player, Certified):
        return state._replace(inner=_with_core_state(player.player, state.inner, core))
    return core


def release(run, source):
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
    counts, released, player = {"released": 0, "others": 0}, [], without_filters(run.games.player)
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


def _rows(run, table):
    """The numbers of the rows of the audit, or of the rows that were released before."""
    found = [part.column("row").to_numpy() for part in run.read(table, ["row"])]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
