"""Take rows back: after it a run is, bit for bit, one that never saw them.

The rows from the last earlier state on are learned from again, without those rows, in a folder of its own
inside of the run. That is a run too: it can be killed and goes on. In the end its files replace those of the
run, and the checkpoint last. Until then the run is as it was.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.runs.checkpoint import CHECKPOINT, load_checkpoint
from holdfast.runs.checkpoint_tree import Node
from holdfast.runs.config import CONFIG
from holdfast.runs.files import RunError
from holdfast.runs.folder import Folder
from holdfast.runs.learning import learn
from holdfast.runs.ledger import RELEASE, RESTORE, RETRACT, Entry, Ledger, read_ledger
from holdfast.runs.manifest import REPLAY, STATES, TABLES, TREE, part_name, part_number
from holdfast.runs.recorded import Changed, RecordedRounds, changed_keys, has_record
from holdfast.runs.release import release_again
from holdfast.runs.rereading import Change, LearnedRows, find_files
from holdfast.runs.run import Run, open_run
from holdfast.runs.source_records import last_row

_EVERY = (math.inf, 30.0)  # rounds and seconds between checkpoints
_RECORDED = 0.3  # the time of a round that is not played, over that of one that is
_PLACED = {
    "audit": "row",
    "sizes": "row",
    "forecasts": "row",
    "released": "round",
}  # tables, and what their entries come after
_NOTHING_LEFT = "no row would be left in the run: remove its folder instead"


class Plan(NamedTuple):
    """What is to be done: a new entry of the ledger, the rows that it is about, and how far back it goes."""

    entry: Entry
    ledger: Ledger  # with the entry
    first: int  # everything before this row stays
    node: Node | None  # the state to begin from; None for the first one
    part: int  # the first part of the tables that has an entry after it
    changed: Changed | None  # the keys that are played, if the answers of all others are recorded
    why_all: str  # else why not, in a run with keys

    def about(self) -> Entry:
        """The entry whose rows it is about: the new one, or the one that it undoes."""
        return self.ledger.entries[(self.entry.of or self.entry.number) - 1]

    def rounds_again(self, run: Run) -> int:
        """How many rounds are learned again, with those taken back."""
        return run.trace.rounds - (self.node.round if self.node is not None else 0)

    def seconds(self, run: Run) -> float | None:
        """About how long that takes, at the speed of the run so far; None if it is unknown."""
        if not run.times.seconds or not run.trace.rounds:
            return None
        rounds = float(self.rounds_again(run))
        if self.changed is not None:
            rounds = _RECORDED * (rounds - self.changed.rounds) + self.changed.rounds
        return run.times.seconds * rounds / run.trace.rounds


def to_retract(run: Run, rows: np.ndarray, why: str = "") -> Plan:
    """A plan to take these rows of the run back. Those that are not in it, or taken back before, stay out."""
    ledger, last = read_ledger(run), last_row(run.sources)
    if not len(rows):
        raise RunError(f"no row fits: the run has rows 1 to {last:,}")
    rows = np.unique(rows)
    rows = np.setdiff1d(rows[(rows >= 1) & (rows <= last)], ledger.retracted())
    if not len(rows):
        raise RunError(
            f"none of these rows can be taken back: the run has rows 1 to {last:,}, without those that were "
            "taken back before (inspect lists them)"
        )
    if len(rows) >= run.trace.rounds:
        raise RunError(_NOTHING_LEFT)
    return _plan(run, ledger, ledger.next(RETRACT, rows, last, why))


def to_restore(run: Run, number: int, why: str = "") -> Plan:
    """A plan to undo this entry of the ledger."""
    ledger = read_ledger(run)
    ledger.to_undo(number)
    none = np.zeros(0, np.int64)
    return _plan(run, ledger, ledger.next(RESTORE, none, last_row(run.sources), why, number))


def _plan(run: Run, ledger: Ledger, entry: Entry) -> Plan:
    after = ledger.plus(entry)
    first = _first_row(after)
    node = run.tree.before(first)
    part = _first_part_after(run, node)
    return Plan(entry, after, first, node, part, _changed(run, after, node, part), _why_all(run, after, part))


def _first_row(ledger: Ledger) -> int:
    """The first row that the last entry is about: everything before it stays."""
    about = ledger.entries[(ledger.entries[-1].of or len(ledger.entries)) - 1]
    return about.after + 1 if about.what == RELEASE else int(about.rows[0])


def _changed(run: Run, ledger: Ledger, node: Node | None, part: int) -> Changed | None:
    """The keys that must be played, if only rows are taken back and the answers of other keys are known."""
    if _why_all(run, ledger, part):
        return None
    return changed_keys(run, ledger.entries[-1].rows, _at(run, node), part)


def _why_all(run: Run, ledger: Ledger, part: int) -> str:
    """Why all games are played again; empty if only some."""
    settings = run.settings
    reasons = {
        "the run has no keys": settings.key is None,
        "they were learned with --no-sizes": not settings.sizes,
        "with --evict, which keys are removed depends on the number of rounds": settings.evict is not None,
        "forecasts are recorded for numbers and for two labels": len(run.games.labels) > 1,
        "their forecasts were not recorded": not has_record(run, part),
        "an entry is undone": ledger.entries[-1].what != RETRACT,
        "rows were released": bool(ledger.active(RELEASE)),
    }
    return next((why for why, holds in reasons.items() if holds), "")


def _at(run: Run, node: Node | None) -> Run:
    """The run as it was at an earlier state, or before its first round."""
    earlier = Run(run.folder, run.config)
    if node is not None:
        header = load_checkpoint(earlier, part_name(TREE, node.number), run.folder)
        earlier.sources, earlier.log.counts = header.sources, header.counts
    return earlier


# -- the second run


def begin(run: Run, plan: Plan, named: Sequence[str] = ()) -> Run:
    """A run in a folder inside of this one, as it was before the first row of the plan.

    Raises if a source is gone or has changed. `named` are files that may be sources.
    """
    find_files(run, named, plan.node.row if plan.node is not None else 0)
    discard(run)
    folder = Folder(run.folder.path / REPLAY)
    with _closed_on_error(folder):
        folder.create()
        folder.write([(CONFIG, run.folder.read(CONFIG))])
        again, node = Run(folder, run.config), plan.node
        if node is not None:
            header = load_checkpoint(again, part_name(TREE, node.number), run.folder)
            again.sources, again.log.counts = header.sources, header.counts
        again.tree = run.tree.until(node.round if node is not None else 0)
        again.states.number_after(run.states)
        first, again.changed = plan.part, plan.changed
        older = [pair for pair in run.folder.replaced if pair[0] < first]
        folder.replaced = (*older, (first, run.parts))
        again.parts = run.parts
        again.times = run.times._replace(seconds=run.times.seconds - (plan.seconds(run) or 0.0))
        _copy_tables(run, again, first, node)
        again.log.put("ledger", plan.entry.table())
        again.checkpoint()
    return again


def resume(run: Run) -> tuple[Run, Entry] | None:
    """The run of `begin` that was stopped, and the last entry of its ledger; None if none can go on."""
    folder = Folder(run.folder.path / REPLAY)
    if not (folder.path.is_dir() and folder.is_begun()):
        discard(run)
        return None
    folder.lock()
    with _closed_on_error(folder):
        again = open_run(folder.path, folder)
        if again.folder.replaced[-1][1] != run.parts:
            folder.close()
            discard(run)
            return None
        again.check_states()
        again.clean_up()
        ledger = _ledger_of(run, again)
        node = run.tree.before(_first_row(ledger))
        again.changed = _changed(run, ledger, node, again.folder.replaced[-1][0])
        return again, ledger.entries[-1]


def discard(run: Run) -> bool:
    """Remove what an unfinished retraction has left; return whether there was one."""
    folder = Folder(run.folder.path / REPLAY)
    if not (folder.path.is_dir() and (folder.path / "manifest.json").is_file()):
        folder.remove_if_empty()
        return False
    with contextlib.closing(folder):
        folder.lock()
        folder.load()
        folder.remove()
    return True


def replay(run: Run, again: Run, named: Sequence[str], progress: Any, stopped: Callable[[], bool]) -> bool:
    """Learn the rest of the rows; replace the run with the result. Return whether it came to the end.

    Raises before anything is replaced if a source is gone or has changed, or if no round is left.
    """
    ledger, after = _ledger_of(run, again), last_row(again.sources)
    files = find_files(run, named, after)
    changes = [_release_change(run, again, entry) for entry in ledger.active(RELEASE)]
    recorded, first = None, _first_row(ledger)
    if again.changed is not None:
        recorded = RecordedRounds(run, again.changed, ledger.retracted(), again)
        later = [each for each in run.tree.nodes if each.row >= first]
        changes = [(each.row, _adopt(run, each)) for each in later]
        changes.append((last_row(run.sources), _adopt(run, None)))
    rows = LearnedRows(run, files, again.sources, ledger.retracted(), changes, recorded)
    learn(again, rows, rows.items(), _EVERY, progress, stopped)
    if stopped():
        return False
    if not again.trace.rounds:
        again.folder.close()
        discard(run)
        raise RunError(_NOTHING_LEFT)
    find_files(run, named, after)  # once more: it may have changed in the meantime
    again.finished = run.finished
    again.save()
    _replace(run, again)
    return True


def _replace(run: Run, again: Run) -> None:
    """Replace the files of the run by those of the other one, and remove what is left over."""
    known = again.folder.load().files
    names = [name for name in known if name not in (CONFIG, CHECKPOINT)]
    first = again.folder.replaced[-1][0]
    gone = [name for table in TABLES for name in run.folder.parts(table, run.parts, first)]
    kept = {STATES: set(again.states.bytes), TREE: {node.number for node in again.tree.nodes}}
    for table, numbers in kept.items():
        gone += [n for n in run.folder.load().files if part_number(table, n) not in (None, *numbers)]
    run.folder.write(((name, again.folder.read(name)) for name in (*names, CHECKPOINT)), gone)
    run.folder.write_manifest()
    again.folder.close()
    discard(run)


# -- tables


def _first_part_after(run: Run, node: Node | None) -> int:
    """The number of the first part of the tables that has an entry after a state."""
    first = run.parts
    for table, column in _PLACED.items():
        for name in reversed(run.folder.parts(table, run.parts)):
            number = part_number(table, name)
            assert number is not None
            part = next(run.folder.read_parts(table, number + 1, run.log.schema(table), [column], number))
            if part.num_rows and _is_before(part.slice(part.num_rows - 1), table, node)[0]:
                break
            first = min(first, number)
    return first


def _is_before(part: pa.Table, table: str, node: Node | None) -> np.ndarray:
    """Which entries were made before a state was taken. Rows are released after it."""
    column = _PLACED[table]
    row, round = (0, 0) if node is None else (node.row, node.round)
    last = row if column == "row" else round - 1
    return np.asarray(part.column(column).to_numpy() <= last)


def _copy_tables(run: Run, again: Run, first: int, node: Node | None) -> None:
    """Put what stays of the parts from `first` on into the log of the new run."""
    for table in TABLES:
        for part in run.read(table, since=first):
            if table in _PLACED:
                part = part.filter(pa.array(_is_before(part, table, node)))
            if part.num_rows:
                again.log.put(table, part)


def _tables_of(run: Run, again: Run, table: str) -> Iterator[pa.Table]:
    """The parts of a table that both runs have together."""
    count = again.folder.replaced[-1][0]
    yield from run.folder.read_parts(table, count, run.log.schema(table))
    yield from again.read(table)


def _ledger_of(run: Run, again: Run) -> Ledger:
    return read_ledger(run, _tables_of(run, again, "ledger"))


def _release_change(run: Run, again: Run, entry: Entry) -> Change:
    """After which row rows were released, and what does it again."""
    tables = _tables_of(run, again, "released_rows")
    stored = pa.concat_tables(table.filter(pc.field("entry") == entry.number) for table in tables)

    def change(now: Run) -> None:
        now.checkpoint()  # so that the tables have all rows
        found = [t.column("row").to_numpy() for t in _tables_of(run, now, "audit")]
        skipped = np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
        release_again(now, stored, skipped)
        now.checkpoint()

    return entry.after, change


def _adopt(run: Run, node: Node | None) -> Callable[[Run], None]:
    """What takes the games that are not played from an earlier state, or from the run as it is."""

    def adopt(now: Run) -> None:
        assert now.changed is not None
        games, played = run.games if node is None else _at(run, node).games, set(now.changed.keys.to_pylist())
        now.games.adopt(games, [key for key in games.keys if key not in played])
        if node is not None and now.trace.rounds and not now.tree.has(now.trace.rounds):
            now.take_state()

    return adopt


@contextlib.contextmanager
def _closed_on_error(folder: Folder) -> Iterator[None]:
    try:
        yield
    except BaseException:
        folder.close()
        raise
