"""Options and help texts that several commands share."""

import argparse
import csv
import math
import textwrap
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.terminal import quoted

if TYPE_CHECKING:
    from holdfast.io.sources import Reading

Group = Any  # a parser, or a group of argparse, which has no public type

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
    sources = "files in this order, patterns such as 'logs/*.csv.gz' (by name), or - for standard input"
    found: Any = parser.add_argument("sources", metavar="SOURCE", nargs="+", help=sources)
    found.complete = _FILES
    add_reading(parser)


def add_reading(parser: ArgumentParser) -> None:
    """How sources are read, where their names and contents do not show it."""
    group = parser.add_argument_group("reading the source")
    group.add_argument("--format", choices=FORMATS, help="if the name and content of SOURCE do not show it")
    no_header = "CSV or TSV without a line of names: columns are 1, 2, ..., or those of --schema"
    group.add_argument("--no-header", dest="header", action="store_false", help=no_header)
    decimal = "the mark in numbers of CSV or TSV (default: what the first rows look like)"
    group.add_argument("--decimal", choices=("auto", "point", "comma"), default="auto", help=decimal)
    schema = (
        'types of columns that are not to be guessed: TOML with lines such as price = "number"; '
        "learn --print-schema prints one"
    )
    group.add_argument("--schema", action=_Schema, metavar="FILE", help=schema)
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


def add_moved(parser: ArgumentParser) -> None:
    moved = (
        "where a source of the run is now, if it was moved or came from a pipe; may be given several times"
    )
    parser.add_argument("--source", action="append", default=[], metavar="FILE", help=moved)


def add_receivers(parser: Group, what: str) -> None:
    """Where alarms go (`outputs.receivers`)."""
    parser.add_argument(
        "--alarms", type=Path, metavar="FILE", help=f"add each alarm to this file, a line of JSON{what}"
    )
    parser.add_argument("--webhook", metavar="URL", help="send each alarm to this address, by HTTP POST")


def share(text: str) -> float:
    """A share such as 20% or 0.2."""
    try:
        found = float(text.strip().removesuffix("%")) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        found = math.nan
    if not 0.0 <= found < 1.0:
        raise argparse.ArgumentTypeError(f"a share such as 20% or 0.2: got {quoted(text)}")
    return found


def interval(text: str) -> float:
    """A share for which intervals are tracked; 80 is 80 %."""
    try:
        found = share(f"{text}%" if float(text) >= 1.0 else text)
    except ValueError:
        found = share(text)
    if not 0.5 <= found <= 0.99:
        raise argparse.ArgumentTypeError(f"must be from 50% to 99%, such as 90%: got {quoted(text)}")
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


# -- `--config FILE`: options from a TOML file, with the names that they have on the command line


def add_config(parser: ArgumentParser) -> None:
    """Let a command read options from a file. Those on the command line count more."""
    config = (
        'a TOML file with options, such as outliers = "1%%", no-scale = true, drop = ["id", "url"]; '
        "those on the command line replace them"
    )
    parser.add_argument("--config", metavar="FILE", help=config)


def with_config(parser: ArgumentParser, args: Sequence[str]) -> Sequence[str]:
    """The arguments, after those of the file that --config names, if it does.

    An option of the file is left out if one of the arguments excludes it, such as --into excludes --to.
    """
    options = {name: action for action in parser._actions for name in action.option_strings}
    if "--config" not in options:
        return args
    given = _given(options, args)
    path = given.get("--config")
    if path is None:
        return args
    found, excluded = [], _excluded(parser, [options[name] for name in given])
    for name, value in _read(parser, path).items():
        action = options.get(f"--{name}")
        if action is None or name in ("config", "help"):
            parser.error(f"{path}: there is no option {quoted(name)}; see holdfast learn --help")
        arguments = _as_arguments(parser, path, name, value, action.nargs == 0)
        found += arguments if action not in excluded else []
    return [*found, *args]


def _given(options: dict[str, argparse.Action], args: Sequence[str]) -> dict[str, str | None]:
    """The long options among the arguments, and what follows each. Names may be abbreviated."""
    found = {}
    for arg, after in zip(args, [*args, "--"][1:], strict=True):
        if arg == "--":
            break
        start, has_value, value = arg.partition("=")
        names = [name for name in options if name.startswith(start)] if start.startswith("--") else []
        names = [start] if start in names else names
        if len(names) == 1:
            found[names[0]] = value if has_value else None if after.startswith("--") else after
    return found


def _excluded(parser: ArgumentParser, actions: list[argparse.Action]) -> list[argparse.Action]:
    """The options that cannot be used together with one of these."""
    groups = [group._group_actions for group in parser._mutually_exclusive_groups]
    return [other for group in groups if any(action in group for action in actions) for other in group]


def _read(parser: ArgumentParser, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as problem:
        parser.error(f"--config {path}: {problem.strerror or problem}")
    except (ValueError, RecursionError) as problem:
        parser.error(f"--config {path} is not TOML: {problem}")


def _as_arguments(parser: ArgumentParser, path: str, name: str, value: Any, is_flag: bool) -> list[str]:
    """The option as it is written on the command line."""
    if is_flag:
        if not isinstance(value, bool):
            parser.error(f"{path}: {name} is true or false: got {quoted(value)}")
        return [f"--{name}"] if value else []
    items = value if isinstance(value, list) else [value]
    if not all(type(item) in (str, int, float) for item in items):
        parser.error(f"{path}: {name} is a text, a number or a list of these: got {quoted(value)}")
    try:
        text = as_names(map(str, items)) if isinstance(value, list) else str(value)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        parser.error(f"{path}: {name} has a number of too many digits")
    if "\0" in text:
        parser.error(f"{path}: {name} has a character that no option can have: NUL")
    return [f"--{name}={text}"]
