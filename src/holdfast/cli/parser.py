"""The command line: the name and one line of help of every command. A command is imported when it is used."""

import argparse
import shutil
import sys
from functools import partial
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, NoReturn

from holdfast import __version__
from holdfast.cli.arguments import WIDTH, with_config
from holdfast.cli.exits import print_json_error
from holdfast.terminal import WRONG, print_error, quoted, tell, visible

# One line of help for each command; `add` in the module of its name adds its options.
COMMANDS = {
    "demo": "learn from real sensors with real outliers, in a few seconds",
    "learn": "learn to predict a column from a stream of rows, some of which are outliers",
    "watch": "follow one number: its level, and alarms for glitches, changes and frozen values",
    "predict": "predict the target of other rows with the model of a run",
    "serve": "answer predictions over HTTP, and learn from labels that come later",
    "audit": "see what a run skipped and why, and what another budget would have skipped",
    "release": "learn from rows that a run has skipped, after a look at them",
    "retract": "take rows back: learn as if the run had never seen them",
    "restore": "undo a retraction or a release",
    "report": "write a page about a run: errors, sizes and thresholds, weights, skipped rows",
    "inspect": "see how a run was set up, how far it is, and which features weigh most",
    "export": "write the model of a run for scikit-learn or ONNX",
    "verify": "check that every file of a run is what the run wrote",
    "warm": "compile in advance what estimators and holdfast learn need, for an image or a CI job",
    "doctor": "see what this installation is, and why it is not faster",
    "completion": "print a script with which your shell completes commands and options",
}
# The same for those of the repository's folder lab/, which is not in the wheel.
LAB_COMMANDS = {
    "reproduce": "run the experiments behind every result of the paper, and write a report",
    "bench": "measure the speed of holdfast and of other libraries on this machine",
    "trials": "measure what outliers cost on real data, for holdfast and for other libraries",
    "gauntlet": "let learners and spike-skippers run through corruption, yours too, and rank them",
    "learners": "measure every learner: its regret with and without outliers, its time, its worst case",
}
_LAB = "holdfast_lab"
_EXTRAS = {"doctor": "", "serve": "serve"}  # whose packages a command needs; all others those of `cli`


def new_parser() -> argparse.ArgumentParser:
    """The parser of `holdfast`. It imports a command when it parses its name."""
    parser, _ = _parsers()
    return parser


def whole_parser() -> argparse.ArgumentParser:
    """The parser with the options of all commands, for shell completion."""
    parser, commands = _parsers()
    for command in commands:
        command.load()
    return parser


def _parsers() -> tuple["_Parser", list["_Command"]]:
    parser = _Parser(prog="holdfast", description="Online learning that outliers cannot derail.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Command)
    listed = [
        commands.add_parser(name, help=does, add=f"holdfast.cli.{name}:add", extra=_EXTRAS.get(name, "cli"))
        for name, does in COMMANDS.items()
    ]
    for name, does in LAB_COMMANDS.items():
        if find_spec(_LAB) is not None:
            listed.append(commands.add_parser(name, help=does, add=f"{_LAB}.commands:add_{name}"))
        else:
            commands.add_parser(name, add="holdfast.cli.parser:no_lab")  # without help it is not listed
    return parser, listed


def no_lab(parser: argparse.ArgumentParser) -> None:
    """For a command of the laboratory, if that is not installed: say where it is, and end."""
    print_error(
        f"{parser.prog} is not in the wheel but in the folder lab/ of the repository and of the source "
        "package: pip install ./lab"
    )
    parser.exit(WRONG)


class _Parser(argparse.ArgumentParser):
    """A parser that prints with `tell`; argparse itself ignores errors while it prints."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("type", int, partial(_number, int, "a whole number"))
        self.register("type", float, partial(_number, float, "a number"))

    def print_help(self, file: Any = None) -> None:
        tell(*self.format_help().removesuffix("\n").split("\n"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        _Command.parsed = ""
        self._json = "--json" in (sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        if self._json:
            print_json_error(message, WRONG)
        print_error(f"{visible(message)}; see {_Command.parsed or self.prog} --help")
        self.exit(WRONG)


def _number(kind: type[float], words: str, text: str) -> float:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be {words}: got {quoted(text)}") from None


class _Command(_Parser):
    """The parser of a command. It has no options until it is loaded."""

    parsed = ""  # the command whose options are read: of a wrong one, the parser of all commands complains

    def __init__(self, add: str, extra: str = "", **settings: Any) -> None:
        super().__init__(formatter_class=_Help, **settings)
        self._add: str | None = add
        self._extra = extra
        self.set_defaults(extra=extra)

    def load(self) -> None:
        """Import the command and add its options, the first time."""
        if self._add is not None:
            try:
                resolve_name(self._add)(self)
            except ModuleNotFoundError as problem:
                print_error(f"{problem.name} is not installed: pip install 'holdfast[{self._extra}]'")
                self.exit(WRONG)
            self._add = None
            named = [str(action.metavar or action.dest) for action in self._get_positional_actions()]
            several = ["..."] if any(a.nargs == "+" for a in self._get_positional_actions()) else []
            self.usage = " ".join([self.prog.replace("%", "%%"), *named, *several, "[options]"])

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.load()
        self._json = "--json" in args  # an error may be in the file
        found = super().parse_known_args(with_config(self, args), namespace)
        _Command.parsed = self.prog
        return found


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of at most 80 columns, also on a wider terminal: long lines are hard to read."""

    def __init__(self, prog: str, **settings: Any) -> None:
        columns = min(shutil.get_terminal_size().columns, WIDTH)
        super().__init__(prog, max_help_position=24, width=columns)


class _Version(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        tell(f"holdfast {__version__}")
        parser.exit()
