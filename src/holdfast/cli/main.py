"""holdfast …: parse, call, and turn how it ended into an exit status."""

import sys

from holdfast.cli.exits import Failure
from holdfast.cli.parser import new_parser
from holdfast.terminal import STOPPED, OutputLost, open_streams


def main(argv=None):
    """Run a command; return the exit status: 0 if all went well, 1 if a result failed, 2 for a wrong call.

    141 if it printed to a pipe without a reader, as if SIGPIPE had ended it.
    """
    open_streams()
    try:
        options = new_parser().parse_args(argv)
        return options.command(options)
    except Failure as failure:
        return failure.status
    except OutputLost as lost:
        return lost.complained()
    except KeyboardInterrupt:
        return STOPPED


if __name__ == "__main__":
    sys.exit(main())
