"""Options and help texts that several commands share."""

import argparse
import csv
import math
import textwrap
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.terminal import quoted

if TYPE_CHECKING:
    from holdfast.io.sources import Reading

EXITS = """exit status:
  0    done
  1    could not write: the disk or standard output is full or closed, or the
       folder may not be written to; the last checkpoint is valid
  2    a wrong call, or a source or run that cannot be read; what was learned
       before is saved
  129  stopped by SIGHUP, 130 by Ctrl-C, 143 by SIGTERM
  141  nothing reads the pipe on standard output any more, as after | head: what
       was learned is saved"""
_AFTER, _STOPPED = "  129  stopped", "by SIGTERM"
WATCH_EXITS = EXITS.replace(_STOPPED, f"{_STOPPED}: everything is saved, go\n       on with the same --state")
LEARN_EXITS = EXITS.replace(
    _AFTER,
    f"  3    more rows were skipped than --fail-if-skipped allows; everything is\n       saved\n{_AFTER}",
).replace(_STOPPED, f"{_STOPPED}: everything is saved, go\n       on with --resume")
STOPPED_EXITS = EXITS.replace(
    _STOPPED, f"{_STOPPED}: the run is as it was,\n       and holdfast retract RUN --resume goes on"
)
WIDTH = 79  # columns of the help
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight")
# How each shell completes files and folders, for shtab.
_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}
_FOLDERS = {"bash": "_shtab_compgen_dirs", "zsh": "_files -/", "tcsh": "d"}


def describe(
    parser: ArgumentParser,
    run: Callable[[argparse.Namespace], int],
    description: str,
    examples: Sequence[str],
    exits: str | None = EXITS,
) -> None:
    """Set the help of a command, with examples. `run` is called with the parsed options.

    An example may have a comment after two blanks and a #. The first example is shown first.
    """
    lines = [line for example in examples for line in _example(example)]
    first = examples[0].partition("  #")[0].rstrip()
    paragraphs = [wrapped(each) for each in description.split("\n\n")]
    parser.description = "\n\n".join([f"example: {first}", *paragraphs])
    listed = "\n".join(["examples:", *lines])
    parser.epilog = f"{listed}\n\n{exits}" if exits else listed
    parser.set_defaults(command=run)


def wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH)


def _example(text: str) -> list[str]:
    """The lines of an example: the call, and before it the comment, if both do not fit into one line."""
    call, mark, comment = (part.strip() for part in text.partition("  #"))
    if not mark:
        return [f"  {call}"]
    line = f"  {call}  # {comment}"
    return [line] if len(line) <= WIDTH else [f"  # {comment}", f"  {call}"]


def add_run(parser: ArgumentParser) -> None:
    found: Any = parser.add_argument("run", type=Path, metavar="RUN", help="the folder of a run")
    found.complete = _FOLDERS


def add_source(parser: ArgumentParser) -> None:
    found: Any = parser.add_argument("source", metavar="SOURCE", help="a file, or - for standard input")
    found.complete = _FILES
    add_reading(parser)


def add_sources(parser: ArgumentParser) -> None:
    """One or more sources: files, patterns such as 'logs/*.csv', or - for standard input."""
    found: Any = parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="files in this order, patterns such as 'logs/*.csv.gz' (by name), or - for standard input",
    )
    found.complete = _FILES
    add_reading(parser)


def add_reading(parser: ArgumentParser) -> None:
    """How sources are read, where their names and contents do not show it."""
    group = parser.add_argument_group("reading the source")
    group.add_argument("--format", choices=FORMATS, help="if the name and content of SOURCE do not show it")
    group.add_argument(
        "--no-header",
        dest="header",
        action="store_false",
        help="CSV or TSV without a line of names: columns are 1, 2, ..., or those of --schema",
    )
    group.add_argument(
        "--decimal",
        choices=("auto", "point", "comma"),
        default="auto",
        help="the mark in numbers of CSV or TSV (default: what the first rows look like)",
    )
    group.add_argument(
        "--schema",
        action=_Schema,
        metavar="FILE",
        help='types of columns that are not to be guessed: TOML with lines such as price = "number"; '
        "learn --print-schema prints one",
    )
    parser.set_defaults(schema_file=None)


def reading_of(options: argparse.Namespace) -> "Reading":
    from holdfast.io.sources import Reading

    return Reading(**{name: getattr(options, name) for name in Reading._fields})


class _Schema(argparse.Action):
    """Reads the types of columns from a file; `schema_file` is its path."""

    def __call__(self, parser: Any, namespace: Any, path: Any, option_string: str | None = None) -> None:
        from holdfast.io.schema import read_schema
        from holdfast.io.sources import SourceError

        try:
            namespace.schema, namespace.schema_file = read_schema(path), path
        except SourceError as problem:
            raise argparse.ArgumentError(self, str(problem).removeprefix("--schema ")) from None


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def share(text: str) -> float:
    """A share such as 20% or 0.2."""
    try:
        found = float(text.strip().removesuffix("%")) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        found = math.nan
    if not 0.0 <= found < 1.0:
        raise argparse.ArgumentTypeError(f"a share such as 20% or 0.2: got {quoted(text)}")
    return found


def column_names(text: str) -> tuple[str, ...]:
    """The names in an option such as --drop A,B. As in CSV, one that contains a comma is in quotes."""
    try:
        in_quotes = '"' in text  # then an empty name is that of a column without one
        names = next(csv.reader([text], skipinitialspace=True)) if in_quotes else text.split(",")
    except csv.Error as problem:
        raise argparse.ArgumentTypeError(f"{quoted(text)}: {problem}") from None
    found = tuple(name.strip() for name in names if name.strip() or in_quotes)
    if text.strip() and not found:
        raise argparse.ArgumentTypeError(f"{quoted(text)} names no column: write names, such as A,B")
    return found


def as_names(names: Iterable[str]) -> str:
    """Names as `column_names` reads them."""
    return ",".join(
        '"' + name.replace('"', '""') + '"' if not name or {*name} & {",", '"'} else name for name in names
    )
