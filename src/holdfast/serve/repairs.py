"""Release and take back rows of a run that is served, as `holdfast release` and `holdfast retract` do it."""

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from holdfast.io.sources import open_source
from holdfast.runs import choosing, quarantine, retraction
from holdfast.runs.files import RunError
from holdfast.runs.release import release
from holdfast.runs.rereading import find_file, open_place
from holdfast.runs.run import Run
from holdfast.runs.source_records import file_of


class Quiet:
    def __call__(self, *_: Any) -> None:
        pass

    def note(self, text: str) -> None:
        pass


def rows_of(run: Run, rows: str | list[int]) -> np.ndarray:
    """The rows in a text such as 120-180,999, or in a list."""
    if isinstance(rows, str):
        return choosing.by_number(run, rows)
    return np.unique(np.array(rows, np.int64))


def files_of(run: Run) -> list[str]:
    """Sources of the run that may have moved with it: its log, and files beside its folder."""
    folder = run.folder.path
    beside = (folder.parent / Path(place.name).name for place in run.source_records())
    places = [*sorted((folder / "serve").glob("rows.*")), *beside]
    reading = run.settings.reading()
    return [
        str(path)
        for path in dict.fromkeys(places)
        if path.is_file() and any(file_of(place, [str(path)], reading) for place in run.source_records())
    ]


def release_rows(run: Run, rows: str | list[int], why: str) -> dict[str, int]:
    """Learn from these skipped rows, as they are in the sources of the run."""
    wanted = rows_of(run, rows)
    audit = (part.filter(pc.is_in(part.column("row"), pa.array(wanted))) for part in run.read("audit"))
    entries, numbers = quarantine.Entries(audit), quarantine.number_columns(run)
    counts, files = {"released": 0, "others": len(wanted)}, files_of(run)
    with tempfile.TemporaryDirectory() as folder:
        for i, place in enumerate(run.source_records()):
            path = find_file(run, place, files)
            if path is None:
                entries.take_below(place.last_row + 1)
                continue
            file = Path(folder) / f"{i}.csv"
            with contextlib.closing(open_place(run, path)) as source:
                found = [t for t in quarantine.quarantine(entries, place, source, numbers) if t.num_rows]
            if not found:
                continue
            pacsv.write_csv(
                pa.concat_tables(quarantine.alike(t, found[0].schema, source) for t in found), file
            )
            with contextlib.closing(open_source(file)) as source:
                counts["released"] += release(run, source, why)["released"]
    counts["others"] -= counts["released"]
    return counts


def retract_rows(run: Run, rows: str | list[int], why: str) -> dict[str, int]:
    """Take these rows back: the run is then one that never saw them."""
    before, files = run.trace.rounds, files_of(run)
    plan = retraction.to_retract(run, rows_of(run, rows), why)
    again = retraction.begin(run, plan, files)
    with contextlib.closing(again.folder):
        if not retraction.replay(run, again, files, Quiet(), lambda: False):
            raise RunError("the retraction was stopped")
    taken = len(plan.entry.rows)
    return {"entry": plan.entry.number, "rows": taken, "rounds_before": before, "rounds": before - taken}
