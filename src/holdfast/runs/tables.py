"""The parts of the tables of a run, in Parquet."""

import pyarrow as pa
import pyarrow.parquet as pq


class TableError(ValueError):
    """Why a part cannot be read."""


def read_table(data, schema, older=False):
    """The table of one part; raises if it has other columns or a null.

    A part of an `older` version may lack columns; then they are empty.
    """
    try:
        # Not `pq.read_table`, which always reads in threads of Arrow. One that still holds
        # `data` when the process exits aborts it (apache/arrow#34314).
        table = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise TableError(str(problem).splitlines()[0][:160]) from None
    if older:
        table = _with_columns(table, schema)
    if table.schema.remove_metadata() != schema or any(column.null_count for column in table.columns):
        raise TableError("its columns are not those that a run writes")
    return table


def _with_columns(table, schema):
    """The table with all columns of the schema; those that it lacks have empty texts, zeros or NaN."""
    empty = {pa.string(): "", pa.float64(): float("nan")}
    columns = {
        field.name: table.column(field.name)
        if field.name in table.column_names
        else pa.array([empty.get(field.type, 0)] * table.num_rows, field.type)
        for field in schema
    }
    return pa.table(columns)


def table_bytes(table):
    """The content of a Parquet file with this table."""
    texts = [column for column in ("key", "label") if column in table.column_names]
    encodings = {"row": "DELTA_BINARY_PACKED"} if "row" in table.column_names else None
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, use_dictionary=texts, compression="none", column_encoding=encodings)
    return sink.getvalue()
