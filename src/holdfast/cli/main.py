"""The `holdfast` command: parse the arguments, run the command, return the exit status."""

import gc
import importlib.abc
import logging
import sys
from collections.abc import Sequence
from typing import Any

from holdfast.cli.exits import Failure, check_packages, end, errors_in_words, handled_by
from holdfast.cli.parser import new_parser
from holdfast.terminal import OutputLost, open_streams, print_note

LEAN = ("audit", "inspect", "learn", "predict", "release", "report", "restore", "retract", "serve", "verify")
# pyarrow imports pandas, and numba imports scipy and cffi, whenever they are installed. These commands need
# none of them. Without them, and with fewer garbage collections, `learn` on 60,000 rows takes 1.4 s of CPU
# time instead of 2.1, and 270 MB instead of 315.
_NOT_NEEDED = ("cffi", "pandas", "scipy")
_NEW_OBJECTS = 100_000  # between two garbage collections; modules being imported leave little garbage


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status: 0 for success, 1 for a failure, 2 for a wrong call.

    141 if nothing reads its output any more, like a process that SIGPIPE ended.
    """
    open_streams()
    if argv is None:  # this process is the command
        lean_start(*sys.argv[1:2])
        logging.getLogger("holdfast").addHandler(_Notes())
    try:
        with handled_by(end):
            options = new_parser().parse_args(argv)
            with errors_in_words(getattr(options, "json", False)):
                check_packages(options.extra)
                return options.command(options)
    except Failure as failure:
        return failure.status
    except OutputLost as lost:
        return lost.report()


class _Notes(logging.Handler):
    """Prints what the library logs as the notes of a command, in lines that fit a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        print_note(self.format(record))


class _Absent(importlib.abc.MetaPathFinder):
    """Lets packages appear as not installed."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name in _NOT_NEEDED:
            raise ModuleNotFoundError(f"holdfast does not import {name} here", name=name)


def lean_start(command: str | None = None) -> None:
    """Let this command start with less time and memory. It changes how all later imports work."""
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    if command in LEAN:
        sys.meta_path.insert(0, _Absent())


if __name__ == "__main__":
    sys.exit(main())
