"""holdfast completion: a script with which the shell completes commands and options."""

from argparse import ArgumentParser, Namespace

from holdfast.cli.arguments import describe
from holdfast.terminal import DONE, write_bytes

SHELLS = ("bash", "zsh", "tcsh")


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Print a script for your shell.",
        [
            'eval "$(holdfast completion bash)"                        # now, or in ~/.bashrc',
            "holdfast completion zsh > ~/.zsh/completions/_holdfast    # in a folder of $fpath",
        ],
        exits=None,
    )
    parser.add_argument("shell", choices=SHELLS)


def run(options: Namespace) -> int:
    import shtab

    from holdfast.cli.parser import whole_parser

    write_bytes(f"{shtab.complete(whole_parser(), options.shell)}\n".encode())
    return DONE
