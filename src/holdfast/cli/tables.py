"""Write tables of Arrow one after the other, as CSV or Parquet."""

import contextlib
import csv
import io

from holdfast.terminal import write_bytes


def check_path(path, option):
    """Raise if a file of this name can be neither CSV nor Parquet."""
    from holdfast.runs.files import RunError

    if path.suffix not in (".csv", ".parquet"):
        raise RunError(f"{option} must end in .csv or .parquet: got {path}")


@contextlib.contextmanager
def table_writer(path):
    """A function that writes one table after the other, all with the same columns.

    If the path is None, they go to standard output as CSV, each at once. A file gets its name when it is
    complete.
    """
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    from holdfast.runs.files import atomic_file

    writer = None

    def write(table):
        nonlocal writer
        if writer is None and path is not None and path.suffix == ".parquet":
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
