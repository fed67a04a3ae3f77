"""holdfast predict: predictions for other rows with the model of a run."""

import contextlib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.arguments import add_run, add_source, column_names, describe, interval, reading_of
from holdfast.cli.outputs import check_output, check_path, table_writer
from holdfast.terminal import DONE, Refusal, print_note, quoted

if TYPE_CHECKING:
    from holdfast.io.sources import Piece, Source
    from holdfast.runs.model import Model


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Predict each row with the model in RUN. Columns are found by name; the target\n"
        "may be missing. Rows of a pipe are answered as they come.\n\n"
        "A cell that is missing, cannot be read, or is too far from the rows learned from\n"
        "does not count. The other cells do, and the column `note` says which cell it is.\n"
        "A row of which nothing can be read gets no prediction, nor does one with an\n"
        "unknown key, if the run has no prior (docs/keys.md).\n\n"
        "The answers are row, key (with --key), prediction, low and high for numbers or\n"
        "probability and labels (those that may be right) for labels, outlier (1 if a\n"
        "cell is too far), outlier_column and note. docs/run-folder.md says how each is computed.",
        [
            "holdfast predict sensors.run today.csv                     # answers on standard output",
            "holdfast predict sensors.run today.csv --to answers.parquet --all-columns",
            "holdfast predict sensors.run today.csv --pass x,u --interval 80%",
            "cat today.jsonl | holdfast predict sensors.run - --format jsonl",
        ],
    )
    add_run(parser)
    add_source(parser)
    to = "a .csv or .parquet file (default: CSV on standard output)"
    parser.add_argument("--to", type=Path, metavar="FILE", help=to)
    passed = parser.add_mutually_exclusive_group()
    also = (
        "columns of SOURCE to write, too, after the answers; one with the name of an answer is called "
        "source_NAME"
    )
    names: Any = {"dest": "passed", "type": column_names, "default": (), "metavar": "A,B,..."}
    passed.add_argument("--pass", help=also, **names)
    passed.add_argument("--all-columns", action="store_true", help="write all columns of SOURCE, too")
    interval_help = (
        "the share of the targets that low and high enclose, or that are among the labels, from 50%% to "
        "99%%, such as 80%% or 0.8 (default: 90%%)"
    )
    parser.add_argument("--interval", type=interval, default=0.9, metavar="SHARE", help=interval_help)
    follow = (
        "wait for more lines at the end of SOURCE, also after it was rotated, until Ctrl-C; use the "
        "model of the last checkpoint while RUN is learning"
    )
    parser.add_argument("--follow", action="store_true", help=follow)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options: Namespace) -> int:
    if options.to is not None and options.follow:
        raise Refusal("--follow writes to standard output: leave out --to, or redirect it with >")
    if options.to is not None:
        check_path(options.to, "--to")
        check_output(options.to, "--to", (options.source, options.schema_file), options.run)
    counts = {"rows": 0, "empty": 0, "outliers": 0}
    with table_writer(options.to) as write:
        for table in _predictions(options, counts):
            write(table)
    if not options.quiet:
        rows, empty, far = (f"{counts[name]:,}" for name in ("rows", "empty", "outliers"))
        print_note(f"Rows: {rows}; without a prediction: {empty}; outliers: {far}")
    return DONE


def _predictions(options: Namespace, counts: dict[str, int]) -> Iterator[Any]:
    """The answers, a table for each piece of the source; an empty one if there are no rows."""
    from holdfast.io.sources import open_source, pieces
    from holdfast.runs.folder import Folder
    from holdfast.runs.model import read_model

    if options.follow:
        yield from _tables(_followed(options), options.interval, counts)
        return
    model = read_model(Folder(options.run))
    with contextlib.closing(open_source(options.source, eager=True, reading=reading_of(options))) as source:
        passed = _passed(options, source)
        found = pieces(source, source.blocks(), model.layout, None, model.key, also=passed)
        tables = _tables(((model, piece) for piece in found), options.interval, counts)
        first = next(tables, None)
        yield _without_rows(model, passed) if first is None else first
        yield from tables


def _followed(options: Namespace) -> "Iterator[tuple[Model, Piece]]":
    """The pieces of a source that is followed, each with the newest model."""
    from holdfast.io.delimited import Delimited
    from holdfast.io.sources import Piece
    from holdfast.runs.inputs import Columns, Inputs  # they import all that learns
    from holdfast.runs.model import NewestModel

    newest = NewestModel(options.run)
    with contextlib.closing(Inputs([options.source], reading_of(options), follow=True)) as inputs:
        source, model = inputs.open_first(), newest.get()
        names = source.names if type(source) is Delimited else None
        columns = Columns(model.layout, None, model.key, names, _passed(options, source))
        for item in inputs.from_first(source.blocks(), columns):
            if isinstance(item, Piece):
                yield newest.get(), item


def _passed(options: Namespace, source: "Source") -> tuple[str, ...]:
    """The columns of the source to write; raises if one is not there."""
    for name in options.passed:
        if name not in source.names:
            raise Refusal(f"{source.name} has no column {quoted(name)}: leave it out of --pass")
    return tuple(source.names) if options.all_columns else options.passed


def _tables(pieces: Iterable[tuple["Model", "Piece"]], share: float, counts: dict[str, int]) -> Iterator[Any]:
    """The answers for pieces, each given with its model."""
    import pyarrow.compute as pc

    from holdfast.runs.predicting import answers

    before, known = None, {}
    for model, piece in pieces:
        if model is not before:
            before, known = model, model.key_indices()
        table, without = answers(model, known, piece, share)
        counts["rows"] += table.num_rows
        counts["empty"] += without
        counts["outliers"] += pc.sum(table.column("outlier")).as_py() or 0
        yield _with_columns(table, piece.also)


def _without_rows(model: "Model", passed: tuple[str, ...]) -> Any:
    import pyarrow as pa

    from holdfast.runs.predicting import answer_types

    table = pa.schema(answer_types(model)).empty_table()
    return _with_columns(table, {name: pa.array([], pa.string()) for name in passed})


def _with_columns(table: Any, columns: dict[str, Any]) -> Any:
    """The table and more columns; one whose name is taken gets another name."""
    for name, column in columns.items():
        while name in table.column_names:
            name = f"source_{name}"
        table = table.append_column(name, column)
    return table
