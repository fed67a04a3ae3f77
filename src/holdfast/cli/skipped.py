"""audit --skipped: the skipped rows of a run, from its sources, in a file."""

import contextlib
import os
from pathlib import Path
from typing import Any

from holdfast.cli.outputs import check_output, check_path, table_writer
from holdfast.io.byte_stream import SourceError, another_source
from holdfast.io.following import candidates
from holdfast.runs import quarantine
from holdfast.runs.run import Run
from holdfast.runs.source_records import file_of
from holdfast.terminal import visible


def write_skipped(run: Run, path: Path, named: list[str]) -> dict[str, Any]:
    """Write the skipped rows to a file. `named` are files that may be sources of the run.

    A source is found by its content. Rows whose source is gone are left out, unless all are.
    """
    check_path(path, "--skipped")
    places = run.source_records()
    check_output(path, "--skipped", [*named, *(place.name for place in places)], run.folder.path)
    _check_named(run, places, named)
    files = [_file_of(run, place, named) for place in places]
    if not any(files):
        raise _gone(places[0].name)
    entries, schema = quarantine.Entries(run.read("audit")), None
    numbers = quarantine.number_columns(run)
    answer: dict[str, Any] = {"file": str(path), "rows": 0, "left_out": []}
    with table_writer(path) as write:
        for place, file in zip(places, files, strict=True):
            if file is None:
                answer["left_out"] += _left_out(place, entries)
                continue
            with contextlib.closing(quarantine.open_place(run, file)) as source:
                for table in quarantine.quarantine(entries, place, source, numbers):
                    schema = schema or table.schema
                    write(quarantine.alike(table, schema, source))
                    answer["rows"] += table.num_rows
                names = source.names
        if schema is None:
            write(quarantine.without_rows(names))
    return answer


def _file_of(run: Run, place: Any, named: list[str]) -> str | Path | None:
    """The file that has the rows of a source: one that is named, under its own name, or renamed beside it."""
    folder = os.path.dirname(place.name) or "."
    beside = candidates(place.name) if os.path.isdir(folder) else ()
    return file_of(place, [*named, place.name, *map(str, beside)], run.settings.reading())


def _check_named(run: Run, places: list[Any], named: list[str]) -> None:
    """Raise if a file that is named is not there, or is no source of the run."""
    for name in named:
        if not os.path.isfile(name):
            raise SourceError(f"--source {name}: no such file")
        if not any(file_of(place, [name], run.settings.reading()) for place in places):
            raise another_source(name, 1)


def _gone(name: str) -> SourceError:
    """The error if no source of the run is there any more."""
    if name == "standard input":
        return SourceError(
            "the source of the run was standard input, which cannot be read again: name a file that has the "
            "same rows with --source"
        )
    return SourceError(
        f"{name} is gone or has other rows now, and no file beside it has those of the run: name one that "
        "has them with --source"
    )


def _left_out(place: Any, entries: quarantine.Entries) -> list[dict[str, Any]]:
    """What is left out because a source is gone; nothing if none of its rows was skipped."""
    rows = entries.take_below(place.last_row + 1)
    if rows is None:
        return []
    first, last = (rows.column("row")[i].as_py() for i in (0, -1))
    return [{"source": place.name, "rows": rows.num_rows, "first": first, "last": last}]


def skipped_lines(answer: dict[str, Any]) -> list[str]:
    return [f"{answer['rows']:,} skipped rows: {answer['file']}"] + [
        f"left out: {one['rows']:,} skipped rows between row {one['first']:,} and {one['last']:,}, because "
        f"{visible(one['source'], 80)} has other rows now: name a file that has them with --source"
        for one in answer["left_out"]
    ]
