"""holdfast retract: take rows back, so that the run is one that never saw them."""

import contextlib
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.arguments import (
    STOPPED_EXITS,
    add_json,
    add_moved,
    add_reading,
    add_run,
    describe,
    reading_of,
)
from holdfast.cli.exits import StopSignals, handled_by
from holdfast.cli.progress import progress_for
from holdfast.terminal import DONE, Refusal, print_error, print_json, print_note, tell

if TYPE_CHECKING:
    import numpy as np

    from holdfast.runs.retraction import Plan
    from holdfast.runs.run import Run

_WAYS = ("rows", "between", "where", "key", "file", "resume")


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        (
            "Take rows back from the run in RUN: learn again without them, from the last state before them.\n"
            "Afterwards the run has the same bits as one that never saw these rows. The source must still\n"
            "be there, and is checked. Until the end the run stays as it was. With keys, only the keys that\n"
            "can differ are learned again, if the run has recorded the answers of the others. The ledger of\n"
            "the run records what was taken back, when and why; holdfast restore undoes it."
        ),
        [
            "holdfast retract meter.run --rows 120-180,999 --why 'in kW' --dry-run",
            "holdfast retract meter.run --between 2026-03-03 2026-03-03 --time when",
            "holdfast retract meter.run --where firmware=1.4.2",
            "holdfast retract fleet.run --key machine-7",
            "holdfast retract meter.run --from wrong.csv        # with a column skipped_row",
            "holdfast retract meter.run --resume                # after Ctrl-C or kill -9",
        ],
        STOPPED_EXITS,
    )
    add_run(parser)
    which = parser.add_argument_group("which rows").add_mutually_exclusive_group()
    which.add_argument("--rows", metavar="ROWS", help="numbers and ranges, as in the audit: 120-180,999")
    between = "rows with a time from A to B, both included; a date is its whole day. With --time"
    which.add_argument("--between", nargs=2, metavar=("A", "B"), help=between)
    which.add_argument("--where", metavar="COLUMN=VALUE", help="rows with this text in a column")
    which.add_argument("--key", metavar="KEY", help="all rows of a key")
    of_file = "rows of a file such as audit --skipped writes"
    which.add_argument("--from", dest="file", metavar="FILE", help=of_file)
    which.add_argument("--resume", action="store_true", help="go on with a retraction that was stopped")
    parser.add_argument("--time", metavar="COLUMN", help="the column of --between: times, or numbers")
    add_replaying(parser)
    add_reading(parser)


def add_replaying(parser: ArgumentParser) -> None:
    """What retract and restore share."""
    parser.add_argument("--why", default="", metavar="TEXT", help="the reason, for the ledger")
    parser.add_argument("--dry-run", action="store_true", help="say how many rows, how far back, how long")
    add_moved(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    add_json(parser)


def run(options: Namespace) -> int:
    _check(options)
    with opened(options.run, not options.dry_run) as found:
        if options.resume:
            return carry_out(options, found, None)
        from holdfast.runs.retraction import to_retract

        return carry_out(options, found, lambda: to_retract(found, _rows(options, found), options.why))


def _check(options: Namespace) -> None:
    """Raise if options do not go together."""
    if not any(getattr(options, name) for name in _WAYS):
        raise Refusal("which rows? Name them with --rows, --between, --where, --key or --from")
    if (options.between is None) != (options.time is None):
        raise Refusal("--between A B and --time COLUMN go together")
    if options.where is not None and "=" not in options.where:
        raise Refusal(f"--where is COLUMN=VALUE: got {options.where!r}")
    if options.resume and options.dry_run:
        raise Refusal("--dry-run is about a new retraction: leave out --resume")


def _rows(options: Namespace, found: "Run") -> "np.ndarray":
    from holdfast.runs import choosing
    from holdfast.runs.recorded import has_record
    from holdfast.runs.rereading import find_files

    if options.rows is not None:
        return choosing.by_number(found, options.rows)
    if options.file is not None:
        return choosing.by_file(options.file, reading_of(options))
    if options.key is not None and has_record(found):
        return choosing.by_key(found, options.key)
    files = find_files(found, options.source)
    if options.between is not None:
        return choosing.by_time(found, files, options.time, *options.between)
    if options.where is not None:
        return choosing.by_value(found, files, *options.where.split("=", 1))
    if found.settings.key is None:
        raise Refusal("--key names a key, and this run has none: use --where COLUMN=VALUE")
    return choosing.by_value(found, files, found.settings.key, options.key)


@contextlib.contextmanager
def opened(path: Path, to_change: bool = True) -> "Iterator[Run]":
    """The run in this folder, locked."""
    from holdfast.runs.folder import Folder
    from holdfast.runs.run import open_run

    folder = Folder(path)
    folder.load()
    folder.lock()
    with contextlib.closing(folder):
        found = open_run(path, folder)
        found.check_states()
        if to_change:
            found.clean_up()
        yield found


def carry_out(options: Namespace, found: "Run", plan: "Callable[[], Plan] | None") -> int:
    """Do what is planned, or go on with what was stopped if there is no plan."""
    from holdfast.runs import retraction
    from holdfast.runs.run import open_run

    signals, start, before = StopSignals(), time.monotonic(), found.trace.rounds
    if plan is None:
        begun = retraction.resume(found)
        if begun is None:
            hint = "inspect lists what was taken back"
            raise Refusal(f"{options.run} has no retraction to go on with: {hint}; begin one with --rows")
        again, entry = begun
    else:
        planned = plan()
        if options.dry_run:
            return _tell_plan(options, found, planned)
        again, entry = retraction.begin(found, planned, options.source), planned.entry
        if planned.node is None and planned.changed is None and not options.quiet and not options.json:
            print_note("there is no earlier state before these rows: learning from the start")
    bar = progress_for(options.quiet, options.json)
    with contextlib.closing(again.folder), handled_by(signals.store):
        signals.wait = True
        done = retraction.replay(found, again, options.source, bar, signals.arrived)
    bar.end()
    if not done:
        print_error(f"stopped: the run is as it was; holdfast retract {options.run} --resume goes on")
        return signals.status()
    now = open_run(options.run, found.folder)
    if found.folder.has("report.html"):
        from holdfast.cli.page import page

        found.folder.write([("report.html", page(now))])
        found.folder.write_manifest()
    result = {"rounds": now.trace.rounds, "rounds_before": before}
    seconds = round(time.monotonic() - start, 3)
    if options.json:
        print_json({"event": "end"} | entry.to_json() | result | {"seconds": seconds})
    elif not options.quiet:
        undo = f"; holdfast restore {options.run} {entry.number} undoes it" if not entry.of else ""
        tell(
            f"{entry.words()}. {before:,} rounds before, {now.trace.rounds:,} now, in {seconds:.1f} s. "
            f"Entry {entry.number} of the ledger{undo}."
        )
    return DONE


def _tell_plan(options: Namespace, found: "Run", plan: "Plan") -> int:
    seconds, rounds = plan.seconds(found), plan.rounds_again(found)
    about = plan.about()
    answer: dict[str, Any] = {"rows": len(about.rows), "first_row": plan.first, "rounds": rounds}
    answer |= {"from_round": found.trace.rounds - rounds, "of_rounds": found.trace.rounds, "seconds": seconds}
    how_long = f", about {seconds:.1f} s" if seconds is not None else ""
    keys = f" These are the rounds of all keys: {plan.why_all}." if found.settings.key is not None else ""
    if plan.changed is not None:
        names, played = len(plan.changed.keys), plan.changed.rounds
        answer |= {"keys": names, "played": played}
        keys = (
            f" Only {played:,} of them are played, of {names:,} key{'s' if names != 1 else ''}: "
            "what other keys answered is recorded."
        )
    if options.json:
        print_json(answer)
        return DONE
    what = f"{answer['rows']:,} row{'s' if answer['rows'] != 1 else ''}, the first is row {plan.first:,}"
    what = f"to undo entry {about.number} ({about.words()})" if plan.entry.of else what
    tell(
        f"{what}: {rounds:,} of {found.trace.rounds:,} rounds would be "
        f"learned again, from round {answer['from_round']:,} on{how_long}.{keys} Nothing was changed."
    )
    return DONE
