"""What people have changed in a run after it was learned: rows taken back, rows released, and both undone."""

import datetime
import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast.runs.files import RunError, damaged
from holdfast.runs.source_records import last_row

if TYPE_CHECKING:
    from holdfast.runs.run import Run

RETRACT, RELEASE, RESTORE = "retract", "release", "restore"
SCHEMA = pa.schema(
    {"entry": pa.int64(), "what": pa.string(), "first": pa.int64(), "last": pa.int64()}
    | {"of": pa.int64(), "after": pa.int64(), "when": pa.string(), "why": pa.string()}
)
# Released rows as they were learned from, and the file that had them. `x` and `places` are float64 and int64
# as bytes; `places` is empty for dense rows.
ROWS_SCHEMA = pa.schema(
    {"entry": pa.int64(), "row": pa.int64(), "x": pa.binary(), "places": pa.binary()}
    | {"y": pa.float64(), "key": pa.string(), "file": pa.string()}
)


class Entry(NamedTuple):
    """One change: which rows, or which earlier entry it undoes."""

    number: int
    what: str
    rows: np.ndarray  # of the run, sorted, each once; empty for `restore`
    of: int  # for `restore`: the entry that it undoes; else 0
    after: int  # the last row of the run when it was made
    when: str
    why: str

    def ranges(self) -> np.ndarray:
        """The rows as pairs of first and last."""
        return ranges(self.rows)

    def words(self) -> str:
        """What was done, such as: 60 rows taken back: 120 to 179."""
        if self.what == RESTORE:
            return f"entry {self.of} undone"
        done = "taken back" if self.what == RETRACT else "released"
        return f"{len(self.rows):,} row{'s' if len(self.rows) != 1 else ''} {done}: {shown(self.rows)}"

    def table(self) -> pa.Table:
        """A row for each range of rows. Time and reason are in the first one."""
        pairs = self.ranges() if len(self.rows) else np.zeros((1, 2), np.int64)
        count = len(pairs)
        columns = {
            "entry": np.full(count, self.number),
            "what": [self.what] * count,
            "first": pairs[:, 0],
            "last": pairs[:, 1],
            "of": np.full(count, self.of),
            "after": np.full(count, self.after),
            "when": [self.when, *[""] * (count - 1)],
            "why": [self.why, *[""] * (count - 1)],
        }
        return pa.table(columns, SCHEMA)

    def to_json(self) -> dict[str, Any]:
        """What `inspect --json` has of it."""
        return {
            "entry": self.number,
            "what": self.what,
            "rows": len(self.rows),
            "ranges": self.ranges().tolist(),
            "of": self.of or None,
            "after_row": self.after,
            "when": self.when,
            "why": self.why,
        }


def now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def ranges(rows: np.ndarray) -> np.ndarray:
    """Sorted rows as pairs of first and last, of rows that follow each other."""
    cuts = np.flatnonzero(np.diff(rows) > 1)
    first = rows[np.concatenate([[0], cuts + 1])] if len(rows) else rows
    last = rows[np.concatenate([cuts, [len(rows) - 1]])] if len(rows) else rows
    return np.column_stack([first, last])


def rows_in(pairs: Iterable[Sequence[int]]) -> np.ndarray:
    """The rows of such pairs, sorted, each once."""
    found, end = [np.zeros(0, np.int64)], 0
    for first, last in sorted(map(tuple, pairs)):
        found.append(np.arange(max(first, end + 1), last + 1))
        end = max(end, last)
    return np.concatenate(found)


class Ledger:
    """The entries of a run, in order."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)

    def undone(self) -> set[int]:
        """The numbers of entries that a later one has undone."""
        return {entry.of for entry in self.entries if entry.what == RESTORE}

    def active(self, what: str) -> list[Entry]:
        """The entries of this kind that count."""
        undone = self.undone()
        return [entry for entry in self.entries if entry.what == what and entry.number not in undone]

    def retracted(self) -> np.ndarray:
        """The rows that are not learned from now, sorted."""
        return np.unique(np.concatenate([np.zeros(0, np.int64), *(e.rows for e in self.active(RETRACT))]))

    def next(self, what: str, rows: np.ndarray, after: int, why: str, of: int = 0) -> Entry:
        """A new entry, which is not added."""
        return Entry(len(self.entries) + 1, what, rows, of, after, now(), why)

    def plus(self, entry: Entry) -> "Ledger":
        return Ledger([*self.entries, entry])

    def to_undo(self, number: int) -> Entry:
        """The entry with this number; raises if it cannot be undone."""
        if not self.entries:
            raise RunError("there is nothing to undo: no row of the run was taken back or released")
        if not 1 <= number <= len(self.entries):
            raise RunError(f"there is no entry {number}: the last one is {len(self.entries):,} (see inspect)")
        entry = self.entries[number - 1]
        if entry.what == RESTORE:
            raise RunError(f"entry {number} undoes entry {entry.of}: to undo it, do entry {entry.of} again")
        if number in self.undone():
            raise RunError(f"entry {number} was undone before")
        return entry

    def table(self) -> list[tuple[int, str, str, str]]:
        """What people see of each entry: number, time, what, and why."""
        undone, note = self.undone(), "; undone"
        return [(e.number, e.when, e.words() + note * (e.number in undone), e.why) for e in self.entries]


def shown(rows: np.ndarray, most: int = 4) -> str:
    """Rows in few words, such as 120 to 180, 999."""
    pairs = ranges(rows).tolist()
    words = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in pairs[:most]]
    return ", ".join(words) + (f" and {len(pairs) - most:,} more ranges" if len(pairs) > most else "")


def read_ledger(run: "Run", tables: Iterable[pa.Table] | None = None) -> Ledger:
    """The ledger of a run, from its table or from these; raises if it is not valid."""
    found = list(run.read("ledger") if tables is None else tables)
    table = pa.concat_tables([SCHEMA.empty_table(), *found]).combine_chunks()
    numbers, ledger = table.column("entry").to_numpy(), Ledger()
    starts = np.flatnonzero(np.diff(numbers, prepend=0)).tolist()
    for first, end in itertools.pairwise([*starts, len(numbers)]):
        about = table.slice(first, 1).to_pylist()[0]
        pairs = np.column_stack([table.column(name).to_numpy()[first:end] for name in ("first", "last")])
        if not _fits(ledger, about, pairs, last_row(run.sources)):
            raise damaged(
                run.folder.path / "ledger", f"entry {about['entry']} cannot be the next one of this run"
            )
        rows = rows_in(pairs if about["what"] != RESTORE else ())
        more = (about[name] for name in ("of", "after", "when", "why"))
        ledger = ledger.plus(Entry(about["entry"], about["what"], rows, *more))
    return ledger


def _fits(before: Ledger, about: dict[str, Any], pairs: np.ndarray, last: int) -> bool:
    """Whether this can be the next entry, in a run whose last row has this number."""
    if about["entry"] != len(before.entries) + 1 or not 0 <= about["after"] <= last:
        return False
    if about["what"] == RESTORE:
        past = {old.number for old in before.entries if old.what != RESTORE}
        return about["of"] in past - before.undone()
    in_order = (np.diff(pairs.ravel()) >= 0).all() and pairs[0, 0] >= 1 and pairs[-1, 1] <= about["after"]
    return about["what"] in (RETRACT, RELEASE) and bool(in_order)
