"""Begin a run or resume one, and learn from its sources."""

import contextlib
from pathlib import Path

from holdfast.io.sources import PACKED, SUFFIXES, SourceError
from holdfast.runs.checkpoint import CONFIG, read_config
from holdfast.runs.files import RunError, to_json
from holdfast.runs.folder import Folder
from holdfast.runs.guess import Guess
from holdfast.runs.inputs import Columns, Inputs, SourceEnd
from holdfast.runs.read_ahead import ReadAhead
from holdfast.runs.run import Run, open_run
from holdfast.runs.schedule import Schedule
from holdfast.runs.source_records import SourceRecord
from holdfast.terminal import OutputLost, visible

_MOST_WAITING = 500_000  # rounds in the log; then there is a checkpoint in any case


def begin(paths, settings, to, say, follow=False):
    """A new run, its sources, and what to learn from."""
    settings.check()
    folder, inputs = Folder(to), Inputs(paths, settings.reading(), follow=follow, say=say)
    with _closed_on_error(folder, inputs):
        guess = Guess(inputs, settings, say)
        config = guess.config()  # raises if settings do not go together
        folder.create()
        folder.write([(CONFIG, to_json(config))])
        run = Run(folder, guess.source.name, settings, guess.layout, guess.target)
        run.notes = guess.notes
        columns = Columns(guess.layout, guess.target, settings.key, config["names"])
        return run, inputs, inputs.from_first(guess.all_blocks(), columns)


def can_resume(to, settings, follow):
    """Whether this folder has a run to go on with.

    One without a checkpoint begins again, except if it follows a log: that may have been rotated meanwhile,
    and only the first file may have the names of the columns.
    """
    folder = Folder(to)
    waits = follow and folder.is_begun(CONFIG) and read_config(folder)["settings"] == settings
    return folder.is_begun() or waits


def resume(paths, settings, to, say, follow=False, strict=True):
    """The run in this folder, its sources, and what is left to learn from."""
    folder = Folder(to)
    with _closed_on_error(folder):
        folder.lock()
        run, config = open_run(folder.path, folder), read_config(folder)
        _check_settings(run, config, settings, strict)
        records = run.sources or [SourceRecord(config["source"], config["source_begins"])]
        inputs = Inputs(paths, run.settings.reading(), records, follow, strict, say)
        run.check_states()
        run.clean_up()
        say(f"going on after round {run.trace.rounds:,}")
        run.finished = False
        columns = Columns(run.layout, run.target, run.settings.key, config.get("names"))
        return run, inputs, inputs.from_all(columns)


def _check_settings(run, config, settings, strict):
    """Raise if these settings differ from those of the run. Unless `strict`, defaults are not compared."""
    default = type(settings)(settings.target).to_json()
    for name, value in settings.to_json().items():
        known = getattr(config["settings"], name)
        given = strict or value != default[name] or (name == "target" and value)
        if given and value != known:
            raise RunError(
                f"{run.folder.path} was begun {_in_words(name, known)}, and cannot go on "
                f"{_in_words(name, value, 'it')}: leave it as it was"
            )
    for name, found in (("loss", run.loss), ("player", run.player)):
        if config[name] != repr(found):
            raise RunError(
                f"{run.folder.path} was begun by another version of holdfast, with another {name}: learn "
                "again into another folder with --to; predict, inspect and audit still read this run"
            )


def _in_words(name, value, again=None):
    """Such as: with --drop a,b; without --no-scale. A flag that was named before is called `again`."""
    if isinstance(value, bool):  # the flag is --no-NAME
        return f"{'without' if value else 'with'} {again or f'--no-{name}'}"
    if value in (None, (), []):
        return f"without --{name}"
    text = value if isinstance(value, str | int) else ",".join(value)
    return f"with --{name} {visible(text, 80)}"


@contextlib.contextmanager
def _closed_on_error(*things):
    try:
        yield
    except BaseException:
        for thing in things:
            thing.close()
        raise


def default_folder(source_path):
    """The run folder if none was named: SOURCE.run in the current folder, without the suffix of a format."""
    name = "standard-input" if source_path == "-" else Path(source_path).name
    for suffix in (*PACKED, *SUFFIXES):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return Path(f"{name or 'rows'}.run")


def learn(run, inputs, items, every, progress, stopped, written=lambda run: None):
    """Learn until there are no more rows or `stopped()`. `every`: rounds and seconds between checkpoints.

    `written` is called after each checkpoint.
    """
    schedule = Schedule(run, every)
    run.start_clock()

    def save_if_due():
        if schedule.is_due() or run.log.waiting >= _MOST_WAITING:
            run.checkpoint()
            written(run)
            schedule.done()

    def after():
        save_if_due()
        share = (run.sources[-1].done - piece.first) / len(piece.rows)
        progress(run, inputs, piece.read and piece.read[0] + share * (piece.read[1] - piece.read[0]))
        return stopped()

    ahead = ReadAhead(items)
    try:
        while not stopped():
            piece = ahead.next(stopped, save_if_due)
            if piece is None:
                break
            if isinstance(piece, SourceEnd):
                run.note_source(*piece)
                continue
            run.compiling.expected = max(run.compiling.expected, inputs.rows(piece))
            run.compiling.decide(piece, run.trace.rounds, progress)
            if run.learn(piece, after, schedule.limit):
                break
        run.finished = not stopped()
        if inputs.unfinished and run.finished:
            progress.note(
                "the last line has no line end, so it may be unfinished: not learned from; --resume learns "
                "from it when its end is there"
            )
    except (SourceError, OutputLost):
        run.save()  # the rest cannot be read, or the output has no reader: keep what was learned
        raise
    finally:
        inputs.stop()
        inputs.is_waited_for = not ahead.stop()
    run.save()
    return run
