"""Learn from rows that a run has skipped, because a person has looked at them and released them."""

import copy
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.certificates.certified import Certified
from holdfast.filters import Everything
from holdfast.io.cells import numbers
from holdfast.io.rows import DenseRows, SparseRows
from holdfast.io.sources import Piece, Source, SourceError, pieces
from holdfast.norms import HUGE
from holdfast.rounds import Round, Verdict
from holdfast.runs.ledger import RELEASE, ROWS_SCHEMA, read_ledger
from holdfast.runs.quarantine import ROW
from holdfast.runs.run import Run
from holdfast.runs.source_records import last_row
from holdfast.steady import Steady
from holdfast.steady.forecasts import average
from holdfast.steady.state import EPOCH
from holdfast.vectors import largest, squash


class Unfiltered:
    """A player that learns from every round with finite sizes. It has the states of another player.

    Only the learner inside changes. What the filters remember, and what a certificate sums up, stays.
    """

    def __init__(self, player: Any) -> None:
        self.player = player
        self.predict, self.check_names = player.predict, player.check_names
        self.from_stored, self.to_stored = player.from_stored, player.to_stored
        self.core = self._opened(player.core())

    def _opened(self, core: Any) -> Any:
        """The player without its filters."""
        return core._replace(checks=tuple(check._replace(filter=Everything()) for check in core.checks))

    def observe(self, state: Any, round: Round) -> tuple[Any, Verdict]:
        before = _core_state(self.player, state)
        memories = tuple(check.init(len(round.x)) for check in self.core.checks)
        opened = copy.deepcopy(before)._replace(memories=memories)
        after, verdict = self.core.observe(opened, round)
        return _with_core_state(self.player, state, before._replace(learner=after.learner)), verdict


class UnfilteredSteady(Unfiltered):
    """`Steady` that learns from every round with finite sizes, and counts none.

    Only regressions, fallback and range of targets change. Units, filters and the parts of the mean stay; so
    do the forecasts that were asked for, but for a key without delay.
    """

    def _opened(self, core: Any) -> Any:
        return core._replace(surprise=Everything())

    def observe(self, state: Any, round: Round) -> tuple[Any, Verdict]:
        after = copy.deepcopy(state)
        row = self.player.standardised(after, round.x)
        size = largest(row[:-1])
        is_read = size < HUGE and abs(round.y) < HUGE and state.numbers[EPOCH] >= 0.0
        verdict = Verdict(bool(is_read), -1, (size, np.nan), (np.nan, np.nan))
        if not is_read:
            return state, verdict
        seen = Round(round.slope, round.x, round.y, squash(row, self.player.knee, self.player.most))
        self.core.learn(after, 0, seen, 1.0, False)
        # With delay=1, `learn` leaves this to the end of the round.
        average(after.learner.each, after.fallback.w, after.hedge.parts, after.v)
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


def release(run: Run, source: Source, why: str = "") -> dict[str, int]:
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
    counts, ledger = {"released": 0, "others": 0}, read_ledger(run)
    released: list[np.ndarray] = []
    number = len(ledger.entries) + 1
    for piece in pieces(source, source.blocks(), run.layout, run.target, run.settings.key, also=(ROW,)):
        rows, _ = numbers(piece.also[ROW])
        usable = np.isin(rows, open_rows) & np.isfinite(piece.y) & ~piece.features.missing()
        usable[list(piece.faults)] = False
        usable &= np.isin(np.arange(len(rows)), np.unique(rows, return_index=True)[1])
        chosen = piece.only(np.flatnonzero(usable))
        new, learned = _learn(run, chosen._replace(rows=rows[usable].astype(np.int64)))
        run.log.put("released_rows", _stored(learned, number, source.name))
        open_rows = np.setdiff1d(open_rows, new)
        released.append(new)
        counts["released"] += len(new)
        counts["others"] += len(rows) - len(new)
    if counts["released"]:
        found = np.concatenate(released)
        _note(run, found, source.name)
        entry = ledger.next(RELEASE, np.unique(found), last_row(run.sources), why)
        run.log.put("ledger", entry.table())
        run.save()
    return counts


def _learn(run: Run, piece: Piece) -> tuple[np.ndarray, Piece]:
    """Learn from the rows of a piece whose keys are known; return their numbers, and those rows."""
    if piece.keys is not None:
        known = pa.array(list(run.games.keys), pa.string())
        piece = piece.only(np.flatnonzero(pc.is_in(piece.keys, known).to_numpy(zero_copy_only=False)))
    learned = run.learn_released(piece, np.arange(len(piece.rows)), without_filters(run.games.player))
    piece = piece.only(learned)
    return piece.rows, piece


def _note(run: Run, rows: np.ndarray, name: str) -> None:
    """Record that these rows were released now."""
    table = {"row": rows, "round": np.full(len(rows), run.trace.rounds), "file": [name] * len(rows)}
    run.log.add_released(pa.table(table, run.log.schema("released")))


# -- once more, after rows were taken back


def _stored(piece: Piece, entry: int, name: str) -> pa.Table:
    """The rows of a piece as they were learned from."""
    rows, features = len(piece.rows), piece.features
    if isinstance(features, SparseRows):
        x, places = (np.split(a, features.starts[1:-1]) for a in (features.values, features.places))
    else:
        x, places = list(features.X), [np.zeros(0, np.int64)] * rows
    columns: dict[str, Any] = {"entry": np.full(rows, entry), "row": piece.rows, "y": piece.y}
    columns |= {"x": [each.tobytes() for each in x[:rows]], "places": [p.tobytes() for p in places[:rows]]}
    columns |= {"key": [""] * rows if piece.keys is None else piece.keys, "file": [name] * rows}
    return pa.table({name: columns[name] for name in ROWS_SCHEMA.names}, ROWS_SCHEMA)


def _restored(run: Run, table: pa.Table) -> Piece:
    """The piece that `_stored` has written."""
    x = [np.frombuffer(each) for each in table.column("x").to_pylist()]
    features: DenseRows | SparseRows
    if run.layout.is_sparse():
        places = [np.frombuffer(each, np.int64) for each in table.column("places").to_pylist()]
        starts = np.concatenate([[0], np.cumsum([len(each) for each in x])]).astype(np.int64)
        dim = run.layout.feature_count()
        features = SparseRows(np.concatenate(x), np.concatenate(places), starts, dim)
    else:
        features = DenseRows(np.array(x))
    keys = table.column("key").combine_chunks() if run.settings.key is not None else None
    rows = table.column("row").to_numpy()
    return Piece(features, table.column("y").to_numpy(), keys, rows, {}, None, 0, None, {})


def release_again(run: Run, stored: pa.Table, skipped: np.ndarray) -> None:
    """Release rows that were stored, of those that the run has `skipped`, once each."""
    rows = stored.column("row").to_numpy()
    stored = stored.filter(pa.array(np.isin(rows, np.setdiff1d(skipped, _rows(run, "released")))))
    if stored.num_rows:
        name = stored.column("file")[0].as_py()
        _note(run, _learn(run, _restored(run, stored))[0], name)


def _rows(run: Run, table: str) -> np.ndarray:
    """The numbers of the rows of the audit, or of the rows that were released before."""
    found = [part.column("row").to_numpy() for part in run.read(table, ["row"])]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
