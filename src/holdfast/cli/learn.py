"""holdfast learn: learn from a file or a pipe; write a model, an audit and a report."""

import contextlib
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.exits import Failure, StopSignals, handled_by, report_errors
from holdfast.cli.learn_options import add_options
from holdfast.cli.learn_summary import skipped_status, summary
from holdfast.cli.outputs import check_output, receivers
from holdfast.cli.progress import progress_for
from holdfast.terminal import DONE, OutputLost, Refusal, listed, print_error, print_json, print_note, tell

if TYPE_CHECKING:
    from holdfast.runs.config import Settings


def add(parser: ArgumentParser) -> None:
    add_options(parser, run)


def run(options: Namespace) -> int:
    with report_errors():
        from holdfast.runs.beginning import default_folder
        from holdfast.runs.inputs import expand
        from holdfast.runs.learning import learn

        if options.report:
            from holdfast.cli import page as report

        _check(options)
        paths = expand(options.sources)
        if options.dry_run or options.print_schema:
            return _dry_run(options, paths)
        start, to = time.monotonic(), options.into or options.to or default_folder(paths[0])
        inputs = (*paths, options.config, options.schema_file)
        check_output(options.metrics, "--metrics", inputs, to)
        check_output(options.alarms, "--alarms", inputs, to)
        signals = StopSignals()
        with handled_by(signals.store), contextlib.ExitStack() as closing:
            found, inputs, items = _open(options, paths, to)
            closing.callback(inputs.close)
            closing.enter_context(contextlib.closing(found.folder))
            bar, before = progress_for(options.quiet, options.json), found.trace.rounds
            skipped_before = int(found.trace.sums[4])
            if options.metrics:
                found.write_metrics_to(options.metrics)
            on_event = closing.enter_context(receivers(options.alarms, options.webhook))
            if on_event is not None:
                found.tell_events_to(on_event)
            signals.wait = True
            try:
                written = report.writer(found) if options.report else lambda run: None
                learn(found, inputs, items, options.checkpoint, bar, signals.arrived, written)
            except OutputLost as lost:
                why = lost.words or "nothing reads standard output any more"
                print_error(f"{why}: stopped, and saved; the same command with --resume goes on")
                raise Failure(lost.status) from None
        bar.end()
        seconds = time.monotonic() - start
        page = report.write(found) if options.report else None
        if options.json:
            written_to = {"run": str(to), "report": str(page) if page else None}
            print_json(
                {"event": "end"}
                | found.metrics()
                | written_to
                | {"new_rounds": found.trace.rounds - before, "seconds": round(seconds, 3)}
            )
        elif not options.quiet:
            tell(*summary(found, to, page, seconds, signals.status()))
        skipped = int(found.trace.sums[4]) - skipped_before
        new = found.trace.rounds - before
        return signals.status() or skipped_status(options.fail_if_skipped, new, skipped)


def _check(options: Namespace) -> None:
    """Raise if options do not go together."""
    if options.target is None and options.into is None:
        raise Refusal("--target COLUMN is missing: name the column to predict")
    if (options.dry_run or options.print_schema) and (options.follow or options.into):
        raise Refusal("--dry-run reads the first rows of a file: leave out --follow and --into")


def _open(options: Namespace, paths: list[Any], to: Path) -> tuple[Any, Any, Any]:
    """Begin a run or resume it: the run, its sources, and what to learn from."""
    from holdfast.runs.beginning import begin, can_resume, resume

    say = (lambda text: None) if options.quiet or options.json else print_note
    if len(paths) > 1:
        say(f"{len(paths):,} sources, in this order: {listed(paths, 20)}")
    settings = settings_of(options)
    begun = can_resume(to, settings, options.follow)
    if options.into is not None and not begun:
        raise Refusal(f"{to} holds no run: begin one with --target COLUMN and --to {to}")
    if begun and (options.resume or options.into):
        return resume(paths, settings, to, say, options.follow, strict=options.into is None)
    return begin(paths, settings, to, say, options.follow)


def _dry_run(options: Namespace, paths: list[Any]) -> int:
    from holdfast.runs.beginning import Guess
    from holdfast.runs.inputs import Inputs

    settings = settings_of(options)
    settings.check()
    inputs = Inputs(paths, settings.reading())
    with contextlib.closing(inputs):
        guess = Guess(inputs, settings, lambda text: None)
        if options.print_schema:
            tell(f"# {listed(paths, 20)}", *guess.schema_lines())
        else:
            tell(*guess.table_lines(), "", guess.summary)
    return DONE


def settings_of(options: Namespace) -> "Settings":
    from holdfast.runs.config import Settings

    names = Settings.__dataclass_fields__
    return Settings(**{name: getattr(options, name) for name in names} | {"target": options.target or ""})
