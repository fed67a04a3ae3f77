"""What a command writes: which files it may replace, tables of Arrow as CSV or Parquet, and alarms."""

import contextlib
import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.terminal import Refusal, write_bytes

if TYPE_CHECKING:
    from holdfast.levels import Event


def check_output(path: Path | None, option: str, inputs: Iterable[Any], run: Path | None = None) -> None:
    """Raise if an option names one of the inputs, a file of the run in this folder, or no file at all."""
    from holdfast.runs.files import check_replaceable
    from holdfast.runs.folder import Folder

    if path is None:
        return
    check_replaceable(path)
    for name in filter(None, inputs):
        if _is_same(path, name):
            raise Refusal(f"{option} {path} would replace {name}, which is read: choose another file")
    if run is not None and Folder(run).is_own_name(Path(path)):
        raise Refusal(f"{option} {path} is the name of a file of the run: choose another file")


def _is_same(path: Path, name: Any) -> bool:
    try:
        return os.path.samefile(path, name)
    except OSError:  # one of them is not there, or standard input
        return False


def check_path(path: Path, option: str) -> None:
    """Raise if a file of this name can be neither CSV nor Parquet."""
    if path.suffix not in (".csv", ".parquet"):
        raise Refusal(f"{option} must end in .csv or .parquet: got {path}")


@contextlib.contextmanager
def table_writer(path: Path | None) -> Iterator[Callable[[Any], None]]:
    """A function that writes one table after the other, all with the same columns.

    If the path is None, they go to standard output as CSV, each at once. A file gets its name when it is
    complete.
    """
    import pyarrow.csv as pacsv

    from holdfast.runs.files import atomic_file

    writer: Any = None
    target: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if writer is None and path is not None and path.suffix == ".parquet":
            import pyarrow.parquet as pq  # which imports clients of clouds

            writer = pq.ParquetWriter(target, table.schema)
        elif writer is None:
            # pyarrow would put every name in quotes.
            names = io.StringIO()
            csv.writer(names, lineterminator="\n").writerow(table.column_names)
            target.write(names.getvalue().encode())
            form = pacsv.WriteOptions(include_header=False, quoting_style="needed")
            writer = pacsv.CSVWriter(target, table.schema, write_options=form)
        writer.write_table(table)
        if path is None:
            write_bytes(target.getvalue())
            target.seek(0)
            target.truncate()

    if path is None:
        target = io.BytesIO()
        yield write
        return
    with atomic_file(path) as target:
        try:
            yield write
        finally:  # also after an error, or its destructor would write into the closed file
            if writer is not None:
                writer.close()


@contextlib.contextmanager
def receivers(path: Path | None, url: str | None) -> Iterator[Callable[["Event"], None] | None]:
    """A function that sends an event everywhere; None if there is nowhere.

    Lines are added at the end of the file. At the end it waits a few seconds for the address.
    """
    from holdfast.levels import Webhook, json_lines

    if path is None and url is None:
        yield None
        return
    with contextlib.ExitStack() as closing:
        found: list[Callable[[Event], None]] = []
        if path is not None:
            found.append(json_lines(closing.enter_context(open(path, "a", encoding="utf-8"))))
        if url is not None:
            try:
                hook = Webhook(url)
            except ValueError as problem:
                raise Refusal(f"--webhook: {problem}") from None
            closing.callback(hook.close)
            found.append(hook)

        def send(event: "Event") -> None:
            for receiver in found:
                receiver(event)

        yield send
