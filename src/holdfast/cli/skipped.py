"""audit --skipped: the skipped rows of a run, from its sources, in a file."""

import contextlib
from pathlib import Path
from typing import Any

from holdfast.cli.outputs import check_output, check_path, table_writer
from holdfast.runs import quarantine
from holdfast.runs.rereading import check_named, find_file, gone, open_place
from holdfast.runs.run import Run
from holdfast.terminal import visible


def write_skipped(run: Run, path: Path, named: list[str]) -> dict[str, Any]:
    """Write the skipped rows to a file. `named` are files that may be sources of the run.

    A source is found by its content. Rows whose source is gone are left out, unless all are.
    """
    check_path(path, "--skipped")
    places = run.source_records()
    check_output(path, "--skipped", [*named, *(place.name for place in places)], run.folder.path)
    check_named(run, named)
    files = [find_file(run, place, named) for place in places]
    if not any(files):
        raise gone(places[0].name)
    entries, schema = quarantine.Entries(run.read("audit")), None
    numbers = quarantine.number_columns(run)
    answer: dict[str, Any] = {"file": str(path), "rows": 0, "left_out": []}
    with table_writer(path) as write:
        for place, file in zip(places, files, strict=True):
            if file is None:
                answer["left_out"] += _left_out(place, entries)
                continue
            with contextlib.closing(open_place(run, file)) as source:
                for table in quarantine.quarantine(entries, place, source, numbers):
                    schema = schema or table.schema
                    write(quarantine.alike(table, schema, source))
                    answer["rows"] += table.num_rows
                names = source.names
        if schema is None:
            write(quarantine.without_rows(names))
    return answer


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
