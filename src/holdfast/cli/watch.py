"""holdfast watch: what is usual for one number, and alarms if it is not."""

import contextlib
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.arguments import WATCH_EXITS, add_receivers, add_sources, describe, share
from holdfast.cli.exits import Failure, StopSignals, handled_by
from holdfast.cli.outputs import check_output, check_path, receivers, table_writer
from holdfast.terminal import OutputLost, Refusal, print_error, print_json, print_note, tell, visible

if TYPE_CHECKING:
    from holdfast.levels import Event
    from holdfast.runs.watching import Watched

_EVERY = 30.0  # seconds between two writes of the state


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Follow one column of numbers and print alarms, each once: a glitch (some odd values), a\n"
        "change (the values are different since a row), frozen (the same value too long). It needs no\n"
        "settings, is robust from the 16th value on, and follows changes. docs/intervals.md says how.\n\n"
        "With --state, a second call goes on where the first one ended, and reads new rows only.",
        [
            "holdfast watch sensors.csv --value temperature",
            "holdfast watch meters.csv --value kwh --by meter --season 24 --json",
            "holdfast watch log.csv --value ms --follow --webhook http://localhost:9000",
            "holdfast watch day.csv --value ms --state ms.json     # tomorrow with the next file",
            "holdfast watch sensors.csv --value load --to rows.csv   # level and interval of each row",
        ],
        WATCH_EXITS,
    )
    add_sources(parser)
    parser.add_argument("--value", required=True, metavar="COLUMN", help="the column of numbers to watch")
    parser.add_argument("--by", metavar="COLUMN", help="watch each value of this column on its own")
    level = parser.add_argument_group("the level")
    season = "values repeat after so many rows, such as 24 for hours (default: they do not)"
    level.add_argument("--season", type=int, default=0, metavar="ROWS", help=season)
    patience = "so many odd values in a row are a change, fewer are a glitch (default: %(default)s)"
    level.add_argument("--patience", type=int, default=20, metavar="ROWS", help=patience)
    odd = "at most this share of the values of a clean stream is odd (default: 0.1%%)"
    level.add_argument("--alarm-rate", type=share, default=0.001, metavar="SHARE", help=odd)
    coverage = "the share of the values in the intervals (default: 90%%)"
    level.add_argument("--interval", type=share, default=0.9, metavar="SHARE", help=coverage)
    out = parser.add_argument_group("what is written")
    rows = "write level, spread and interval of each row to a .csv or .parquet file"
    out.add_argument("--to", type=Path, metavar="FILE", help=rows)
    add_receivers(out, "")
    state = "go on from this file, if it is there, and write it at the end"
    out.add_argument("--state", type=Path, metavar="FILE", help=state)
    out.add_argument("--follow", action="store_true", help="wait for more lines, also if the file is rotated")
    out.add_argument("--json", action="store_true", help="alarms as lines of JSON on standard output")
    out.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options: Namespace) -> int:
    from holdfast.runs.inputs import expand

    _check(options)
    paths, signals = expand(options.sources), StopSignals()
    with handled_by(signals.store), receivers(options.alarms, options.webhook) as send:
        watched = _watched(options, _teller(options, send))
        _watch(watched, options, paths, signals)
    _report(watched, options)
    return signals.status()


def _check(options: Namespace) -> None:
    """Raise if options do not go together."""
    if options.to is not None and options.follow:
        raise Refusal("--to is complete at the end, and --follow has none: leave one of them out")
    if options.to is not None:
        check_path(options.to, "--to")
    inputs = (*options.sources, options.schema_file)
    for name in ("to", "alarms", "state"):
        check_output(getattr(options, name), f"--{name}", inputs)
    if options.by == options.value:
        raise Refusal("--by names the same column as --value: name the column of keys")


def _watched(options: Namespace, on_event: Callable[["Event"], None]) -> "Watched":
    from holdfast.levels import Level
    from holdfast.runs.watching import Watched

    settings = (options.interval, options.season, options.patience, options.alarm_rate)
    try:
        Level(*settings)
    except ValueError as problem:
        name, _, words = str(problem).partition(" ")
        option = {"coverage": "interval", "alarms": "alarm-rate"}.get(name, name)
        raise Refusal(f"--{option} {words}") from None
    watched = Watched(options.value, options.by, settings, on_event)
    if options.state is not None and options.state.exists():
        watched.load(options.state)
    return watched


def _teller(options: Namespace, send: Callable[["Event"], None] | None) -> Callable[["Event"], None]:

    def told(event: "Event") -> None:
        if options.json:
            print_json({"event": "alarm"} | event.as_dict())
        elif not options.quiet:
            tell(visible(event))
        if send is not None:
            send(event)

    return told


def _watch(watched: "Watched", options: Namespace, paths: list[str], signals: StopSignals) -> None:
    """Follow all rows. The state is written now and then, and at the end, also after a signal."""
    from holdfast.cli.arguments import reading_of
    from holdfast.runs.inputs import Inputs
    from holdfast.runs.learning import ReadAhead

    say = (lambda text: None) if options.quiet or options.json else print_note
    inputs = Inputs(paths, reading_of(options), watched.sources, options.follow, say=say)
    ahead, last = ReadAhead(watched.items(inputs)), time.monotonic()
    write_rows = table_writer(options.to) if options.to is not None else contextlib.nullcontext()
    signals.wait = True
    try:
        with write_rows as write:
            while (item := ahead.next(signals.arrived)) is not None:
                table = watched.add(item)
                if write is not None and table is not None:
                    write(table)
                if options.state is not None and time.monotonic() - last > _EVERY:
                    watched.save(options.state)
                    last = time.monotonic()
    except OutputLost as lost:
        if lost.words:
            print_error(lost.words)
        raise Failure(lost.status) from None
    finally:
        inputs.stop()
        inputs.is_waited_for = not ahead.stop()
        inputs.close()
        if options.state is not None:
            watched.save(options.state)


def _report(watched: "Watched", options: Namespace) -> None:
    counts = watched.counts
    if options.json:
        print_json({"event": "end"} | counts)
    elif not options.quiet:
        of = f" of {len(watched.levels):,} keys" if options.by else ""
        glitches = _many(counts["glitch"], "glitch", "glitches")
        changes = _many(counts["change"], "change", "changes")
        times = _many(counts["frozen"], "time", "times")
        print_note(
            f"{counts['values']:,} values of {visible(options.value, 40)}{of}: {glitches}, {changes}, frozen "
            f"{times}; {counts['odd']:,} values were odd, {counts['unreadable']:,} no numbers"
        )


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"
