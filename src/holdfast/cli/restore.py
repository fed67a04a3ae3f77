"""holdfast restore: undo an entry of the ledger of a run."""

from argparse import ArgumentParser, Namespace

from holdfast.cli.arguments import STOPPED_EXITS, add_run, describe
from holdfast.cli.retract import add_replaying, carry_out, opened


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        (
            "Undo an entry of the ledger of the run in RUN: rows that were taken back are learned from\n"
            "again, at their place, and rows that were released are not. Afterwards the run has the same\n"
            "bits as one without this entry. holdfast inspect lists the entries."
        ),
        ["holdfast inspect meter.run", "holdfast restore meter.run 2 --why 'the meter was right'"],
        STOPPED_EXITS,
    )
    add_run(parser)
    parser.add_argument("entry", type=int, metavar="ENTRY", help="its number")
    add_replaying(parser)


def run(options: Namespace) -> int:
    with opened(options.run, not options.dry_run) as found:
        from holdfast.runs.retraction import to_restore

        return carry_out(options, found, lambda: to_restore(found, options.entry, options.why))
