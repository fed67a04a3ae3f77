"""holdfast release: learn from rows that a run has skipped."""

import contextlib
from argparse import ArgumentParser, Namespace

from holdfast.cli.arguments import add_json, add_run, add_source, describe, reading_of
from holdfast.terminal import DONE, print_json, tell


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        (
            "Learn from rows that the run in RUN has skipped, although its filters refused them. SOURCE is\n"
            "a file that audit --skipped has written: look at it, delete the rows that are wrong, correct\n"
            "values if you like, and release the others. They are learned from after the last row of the\n"
            "run. Each row is released once, and the ledger of the run records it; the audit still has it,\n"
            "too. holdfast restore undoes a release.\n"
            "No certificate and no theorem covers released rows."
        ),
        [
            "holdfast audit sensors.run --skipped quarantine.csv",
            "holdfast release sensors.run quarantine.csv",
        ],
    )
    add_run(parser)
    add_source(parser)
    parser.add_argument("--why", default="", metavar="TEXT", help="the reason, for the ledger")
    add_json(parser)


def run(options: Namespace) -> int:
    from holdfast.cli.retract import opened
    from holdfast.io.sources import open_source
    from holdfast.runs.release import release

    with (
        opened(options.run) as found,
        contextlib.closing(open_source(options.source, reading=reading_of(options))) as source,
    ):
        counts = release(found, source, options.why)
    if options.json:
        print_json(counts)
    else:
        tell(f"{counts['released']:,} rows released and learned from, {counts['others']:,} not released")
        if counts["others"]:
            tell("A row is released if the run has skipped it, if it can be read, and once.")
    return DONE
