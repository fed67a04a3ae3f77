"""Begin a run or resume one, and learn from its sources."""

import contextlib
import math
import sys
import time
from pathlib import Path

from holdfast.io.delimited import Delimited
from holdfast.io.guess_columns import (
    Head,
    feature_columns,
    first_blocks,
    guess_encoding,
    guess_layout,
    types_in,
)
from holdfast.io.guess_target import guess_target
from holdfast.io.schema import LABEL, NUMBER, as_lines, task_of, types_of
from holdfast.io.sources import SourceError, keys_of
from holdfast.runs.checkpoint import CONFIG, CONFIG_FORMAT, read_config
from holdfast.runs.files import RunError
from holdfast.runs.folder import Folder
from holdfast.runs.inputs import Columns, Inputs, SourceEnd
from holdfast.runs.read_ahead import ReadAhead
from holdfast.runs.run import Run, open_run, to_json
from holdfast.runs.settings import loss_for
from holdfast.runs.source_records import SourceRecord
from holdfast.terminal import OutputLost

_MOST_WAITING = 500_000  # rounds in the log; then there is a checkpoint in any case
_LEAST = 500  # rounds between two looks at the clock


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
        columns = Columns(guess.layout, guess.target, settings.key, config["names"])
        return run, inputs, inputs.from_first(guess.all_blocks(), columns)


class Guess:
    """What the first rows of the first source show: the columns and the target."""

    def __init__(self, inputs, settings, say):
        self.settings, self.source, self.path = settings, inputs.open_first(), inputs.paths[0]
        self._names = feature_columns(self.source, settings)
        self._types = types_of(settings.schema)
        self._blocks = self.source.blocks()
        has_more = self.source.has_more if inputs.follow else (lambda: True)
        self._first, batches = first_blocks(self.source, self._blocks, has_more)
        self._head = Head.of(batches, self.source.decimal)
        self.target, sentence = guess_target(
            self._head, settings.target, self._task(), settings.labels, self.source.name
        )
        say(sentence)
        if settings.key is not None:
            # Raises if it cannot be a key.
            keys_of(self._head.columns[settings.key], settings.key, self.source.name)
        self.layout, sentences = guess_layout(self._head, self._names, settings.missing, self._types)
        for sentence in sentences:
            say(sentence)
        if not self.layout.columns:
            raise SourceError(f"{self.source.name}: no column is left to predict from")
        self.loss = loss_for(settings.loss, self.target.regression)
        say(f"features: {self.layout.feature_count():,}, loss: {self.loss!r}, outliers: {settings.outliers}")

    def _task(self):
        """The task, from the settings or from the type of the target in the schema."""
        by_type = task_of(self._types.get(self.settings.target), self.settings.target)
        return by_type if by_type and self.settings.task == "auto" else self.settings.task

    def all_blocks(self):
        """The blocks of the source, with those that were read for the guess."""
        yield from self._first
        self._first.clear()
        yield from self._blocks

    def config(self):
        """The content of config.json."""
        return {
            "format": CONFIG_FORMAT,
            "source": str(self.path),
            "source_begins": self.source.fingerprint(),
            "names": self.source.names if type(self.source) is Delimited else None,
            "settings": self.settings.to_json(),
            "layout": self.layout.to_json(),
            "target": self.target.to_json(),
            "loss": repr(self.loss),
            "player": repr(self.settings.player(self.target.regression, self.layout)),
        }

    def schema_lines(self):
        """A schema file with the types of all columns; those that were guessed are marked."""
        settings, names = self.settings, [name for name in self.source.names if name in self._names]
        _, notes = guess_encoding(self._head, names, self._types)
        types = types_in(self.layout, names) | {settings.target: NUMBER if self.target.regression else LABEL}
        notes |= {settings.target: "the target"}
        for name in types:
            if name not in self._types:
                notes[name] = "guessed" + (f": {notes[name]}" if name in notes else "")
        ordered = {name: types[name] for name in self.source.names if name in types}
        return as_lines(ordered, notes)


def resume(paths, settings, to, say, follow=False, strict=True):
    """The run in this folder, its sources, and what is left to learn from."""
    folder = Folder(to)
    with _closed_on_error(folder):
        folder.lock()
        run, config = open_run(folder.path, folder), read_config(folder)
        _check_settings(run, config, settings, strict)
        records = run.sources or [SourceRecord(config["source"], config["source_begins"])]
        inputs = Inputs(paths, run.settings.reading(), records, follow, strict, say)
        run.games.check()
        folder.clean_up(run.parts)
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
                f"{run.folder.path} was begun with --{name} {known}, so it cannot go on with {value}: leave "
                "it as it was"
            )
    for name, found in (("loss", run.loss), ("player", run.player)):
        if config[name] != repr(found):
            raise RunError(
                f"{run.folder.path} was begun by another version of holdfast, with another {name}: learn "
                "again into another folder with --to; predict, inspect and audit still read this run"
            )


@contextlib.contextmanager
def _closed_on_error(*things):
    try:
        yield
    except BaseException:
        for thing in things:
            thing.close()
        raise


def default_folder(source_path):
    """The run folder if none was named: SOURCE.run in the current folder."""
    stem = "standard-input" if source_path == "-" else Path(source_path).name.split(".")[0]
    return Path(f"{stem}.run")


class Schedule:
    """When the next checkpoint is due, by rounds and by seconds."""

    def __init__(self, run, every):
        self._run, (self._rounds, self._seconds) = run, every
        self._speed = 0.0  # rounds a second; 0 if unknown
        self.done()

    def done(self):
        """A checkpoint was written."""
        self._since, self._last = self._run.trace.rounds, time.monotonic()

    def is_due(self):
        new, spent = self._progress()
        return new >= self._rounds or (new > 0 and spent >= self._seconds)

    def limit(self):
        """How many rounds to play until a checkpoint is due, at the speed so far."""
        new, spent = self._progress()
        self._speed = new / spent if new and spent > 0.0 else self._speed
        by_time = max(self._speed * (self._seconds - spent), _LEAST) if self._speed else math.inf
        return int(max(min(self._rounds - new, by_time, sys.maxsize), 1))

    def _progress(self):
        """Rounds and seconds since the last checkpoint."""
        return self._run.trace.rounds - self._since, time.monotonic() - self._last


def learn(run, inputs, items, every, progress, stopped, written=lambda run: None):
    """Learn until there are no more rows or `stopped()`. `every`: rounds and seconds between checkpoints.

    `written` is called after each checkpoint.
    """
    schedule = Schedule(run, every)

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
            run.expected = max(run.expected, inputs.rows(piece))
            run.choose_compiled(piece, progress)
            if run.learn(piece, after, schedule.limit):
                break
        run.finished = not stopped()
        if inputs.unfinished and run.finished:
            progress.note(
                "the last line has no line end, so it may be unfinished: not learned from; --resume learns "
                "from it when its end is there"
            )
    except (SourceError, OutputLost):
        _save(run)  # the rest cannot be read, or the output has no reader: keep what was learned
        raise
    finally:
        inputs.stop()
        inputs.is_waited_for = not ahead.stop()
    _save(run)
    return run


def _save(run):
    run.checkpoint()
    run.folder.write_manifest()
