"""The parts of the tables of a run, in Parquet."""

import pyarrow as pa


def read_table(data: bytes, schema: pa.Schema) -> pa.Table:
    """The table of one part; raises if it has other columns or a null."""
    import pyarrow.parquet as pq  # which imports clients of clouds: not for commands that need no tables

    try:
        # Not `pq.read_table`, which always reads in threads of Arrow. One that still holds
        # `data` when the process exits aborts it (apache/arrow#34314).
        table = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise ValueError(str(problem).splitlines()[0][:160]) from None
    if table.schema.remove_metadata() != schema or any(column.null_count for column in table.columns):
        raise ValueError("its columns are not those that a run writes")
    return table


def table_bytes(table: pa.Table) -> pa.Buffer:
    """The content of a Parquet file with this table."""
    import pyarrow.parquet as pq

    texts = [column for column in ("key", "label") if column in table.column_names]
    encodings = {"row": "DELTA_BINARY_PACKED"} if "row" in table.column_names else None
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, use_dictionary=texts, compression="none", column_encoding=encodings)
    return sink.getvalue()
