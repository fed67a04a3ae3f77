"""holdfast completion: what makes the shell complete commands and options."""

import argparse

from holdfast.cli.exits import DONE, mistakes_said
from holdfast.terminal import pour

SHELLS = ("bash", "zsh", "tcsh")


def add(commands, parser):
    completion = commands.add_parser(
        "completion",
        help="print what makes your shell complete commands and options",
        description="Print a script for your shell.",
        epilog=(
            "examples:\n"
            '  eval "$(holdfast completion bash)"                        # now, or in ~/.bashrc\n'
            "  holdfast completion zsh > ~/.zsh/completions/_holdfast    # in a folder of $fpath"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(command=lambda options: run(options, parser))


def run(options, parser):
    with mistakes_said():
        import shtab

        pour(f"{shtab.complete(parser, options.shell)}\n".encode())
    return DONE
