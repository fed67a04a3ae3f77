"""holdfast predict: predictions for other rows with the model of a run."""

import contextlib
import io
from pathlib import Path

from holdfast.cli.exits import report_errors
from holdfast.cli.options import add_run, add_source, describe, reading_of
from holdfast.terminal import DONE, print_note, write_bytes


def add(parser):
    describe(
        parser,
        run,
        (
            "Predict each row with the model in RUN. Columns are found by name; the target may be missing.\n"
            "If a cell is missing, the prediction is that of an average row. A row that cannot be read, or\n"
            "has a key that is not in the run, gets an empty prediction."
        ),
        [
            "holdfast predict sensors.run today.csv                     # row,prediction on standard output",
            "holdfast predict sensors.run today.csv --to answers.parquet",
            "cat today.jsonl | holdfast predict sensors.run - --format jsonl",
        ],
    )
    add_run(parser)
    add_source(parser)
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="a .csv or .parquet file (default: CSV on standard output)"
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="wait for more lines at the end of SOURCE, also after it was rotated, until Ctrl-C; use the "
        "model of the last checkpoint while RUN is learning",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options):
    with report_errors():
        from holdfast.runs.files import RunError

        if options.to is not None and options.to.suffix not in (".csv", ".parquet"):
            raise RunError(f"--to must end in .csv or .parquet: got {options.to}")
        if options.to is not None and options.follow:
            raise RunError("--follow writes to standard output: leave out --to, or redirect it with >")
        counts = {"rows": 0, "empty": 0}
        with _output(options.to) as write:
            for table in _predictions(options, counts):
                write(table)
        if not options.quiet:
            print_note(f"{counts['rows']:,} rows, {counts['empty']:,} of them without a prediction")
    return DONE


def _predictions(options, counts):
    from holdfast.io.sources import open_source, pieces
    from holdfast.runs.folder import Folder
    from holdfast.runs.model import read_model
    from holdfast.runs.newest_model import followed_pieces

    if options.follow:
        yield from _tables(followed_pieces(options.run, options.source, reading_of(options)), counts)
        return
    model = read_model(Folder(options.run))
    with contextlib.closing(open_source(options.source, reading=reading_of(options))) as source:
        found = pieces(source, source.blocks(), model.layout, None, model.key)
        yield from _tables(((model, piece) for piece in found), counts)


def _tables(pieces, counts):
    """The predictions for pieces, each given with its model."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    before, places = None, {}
    for model, piece in pieces:
        if model is not before:
            before, places = model, {key: i for i, key in enumerate(model.keys)}
        kind = pa.float64() if model.target.regression else pa.string()
        models = np.zeros(len(piece.rows), int)
        if model.key is not None:
            coded = pc.dictionary_encode(piece.keys)
            known = np.array([places.get(key, -1) for key in coded.dictionary.to_pylist()], int)
            models = known[coded.indices.to_numpy()]
        outcomes = model.outcomes(piece.features, models)
        answers, empty = model.answers(outcomes), np.isnan(outcomes).all(axis=1)
        empty[list(piece.faults)] = True
        counts["rows"] += len(answers)
        counts["empty"] += int(empty.sum())
        yield pa.table({"row": piece.rows, "prediction": pa.array(answers, kind, mask=empty)})


@contextlib.contextmanager
def _output(path):
    """A function that writes one table after the other. A file gets its name when it is complete."""
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    from holdfast.runs.files import atomic_file

    writer = None

    def write(table):
        nonlocal writer
        if writer is None:
            if path is not None and path.suffix == ".parquet":
                writer = pq.ParquetWriter(target, table.schema)
            else:
                target.write(b"row,prediction\n")
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
        yield write
        if writer is not None:
            writer.close()
