"""The `holdfast` command: parse the arguments, run the command, return the exit status."""

import sys

from holdfast.cli.exits import Failure, errors_in_words
from holdfast.cli.lean_start import lean_start
from holdfast.cli.parser import new_parser
from holdfast.cli.signals import end, handled_by
from holdfast.terminal import OutputLost, open_streams


def main(argv=None):
    """Run a command; return the exit status: 0 for success, 1 for a failure, 2 for a wrong call.

    141 if nothing reads its output any more, like a process that SIGPIPE ended.
    """
    open_streams()
    if argv is None:  # this process is the command
        lean_start(*sys.argv[1:2])
    try:
        with handled_by(end):
            options = new_parser().parse_args(argv)
            with errors_in_words(getattr(options, "json", False)):
                return options.command(options)
    except Failure as failure:
        return failure.status
    except OutputLost as lost:
        return lost.report()


if __name__ == "__main__":
    sys.exit(main())
