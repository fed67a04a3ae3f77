"""Write tables as files of every format that holdfast reads."""

import gzip
import json

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq


def written(table, path):
    """Write a table in the format that the name of the file says."""
    kind = path.name.partition(".")[2]
    if kind == "csv":
        pacsv.write_csv(pa.table(table), path)
    elif kind == "csv.gz":
        with gzip.open(path, "wb") as file:
            pacsv.write_csv(pa.table(table), file)
    elif kind == "tsv":
        pacsv.write_csv(pa.table(table), path, pacsv.WriteOptions(delimiter="\t"))
    elif kind == "jsonl":
        rows = pa.table(table).to_pylist()
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "parquet":
        pq.write_table(pa.table(table), path, row_group_size=100)
    elif kind == "arrow":
        feather.write_feather(pa.table(table), path, compression="uncompressed")
    elif kind == "arrows":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, pa.table(table).schema) as writer:
            writer.write_table(pa.table(table), max_chunksize=90)
    return path
