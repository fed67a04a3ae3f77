"""Begin a run or resume one: what the first rows show, and which sources are left to learn from."""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.io.columns import Number
from holdfast.io.delimited import Delimited
from holdfast.io.guess_columns import feature_columns, guess_encoding, guess_layout, types_in
from holdfast.io.guess_numbers import is_code
from holdfast.io.guess_target import guess_target
from holdfast.io.head import Head, first_blocks
from holdfast.io.schema import CATEGORY, DROP, LABEL, NUMBER, as_lines, task_of, types_of
from holdfast.io.sources import PACKED, SUFFIXES, SourceError, keys_of
from holdfast.options import TERMINAL, read_loss
from holdfast.runs.config import CONFIG, Config, Settings, read_config
from holdfast.runs.files import RunError, to_json
from holdfast.runs.folder import Folder
from holdfast.runs.inputs import Columns, Inputs, Item
from holdfast.runs.learning import learn
from holdfast.runs.run import Run, open_run
from holdfast.terminal import as_lines_below, percent, visible

LOSS_OF = {True: "absolute_error", False: "log_loss"}  # by default, for numbers and for labels
Say = Callable[[str], object]
Begun = tuple[Run, Inputs, Iterator[Item]]  # a run, its sources, and what to learn from


def begin(paths: Sequence[str], settings: Settings, to: str | Path, say: Say, follow: bool = False) -> Begun:
    """A new run, its sources, and what to learn from."""
    settings.check()
    folder, inputs = Folder(to), Inputs(paths, settings.reading(), follow=follow, say=say)
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        on_error.callback(inputs.close)
        guess = Guess(inputs, settings, say)
        config = guess.config()
        folder.create()
        folder.write([(CONFIG, to_json(config.to_json()))])
        run, items = Run(folder, config), inputs.from_first(guess.all_blocks(), Columns.of(config))
        on_error.pop_all()
        return run, inputs, items


def learned(path: str | Path, settings: Settings, to: str | Path, progress: Any, expected: int = 0) -> Run:
    """A run that has learned from a whole source. `expected`: about how many rounds it will have."""
    run, inputs, items = begin([str(path)], settings, to, lambda text: None)
    run.compiling.expected = expected
    with contextlib.closing(inputs):
        return learn(run, inputs, items, (math.inf, 30.0), progress, lambda: False)


def can_resume(to: str | Path, settings: Settings, follow: bool) -> bool:
    """Whether this folder has a run to go on with.

    One without a checkpoint begins again, except if it follows a log: that may have been rotated meanwhile,
    and only the first file may have the names of the columns.
    """
    folder = Folder(to)
    waits = follow and folder.is_begun(CONFIG) and read_config(folder).settings == settings
    return folder.is_begun() or waits


def resume(
    paths: Sequence[str],
    settings: Settings,
    to: str | Path,
    say: Say,
    follow: bool = False,
    strict: bool = True,
) -> Begun:
    """The run in this folder, its sources, and what is left to learn from."""
    folder = Folder(to)
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        folder.lock()
        run = open_run(folder.path, folder)
        _check_settings(run, settings, strict)
        inputs = Inputs(paths, run.settings.reading(), run.source_records(), follow, strict, say)
        run.check_states()
        run.clean_up()
        say(f"going on after round {run.trace.rounds:,}")
        run.finished = False
        on_error.pop_all()
        return run, inputs, inputs.from_all(Columns.of(run.config))


def _check_settings(run: Run, settings: Settings, strict: bool) -> None:
    """Raise if these settings differ from those of the run. Unless `strict`, defaults are not compared."""
    changed = settings.changed()
    for name, value in settings.to_json().items():
        known = getattr(run.settings, name)
        given = strict or (name in changed and (name != "target" or value))
        if given and value != known:
            raise RunError(
                f"{run.folder.path} was begun {_in_words(name, known)}, and cannot go on "
                f"{_in_words(name, value, 'it')}: leave it as it was"
            )
    for name, found, made in (
        ("loss", run.config.loss, run.loss),
        ("player", run.config.player, run.player),
    ):
        if found != repr(made):
            raise RunError(
                f"{run.folder.path} was begun by another version of holdfast, with another {name}: learn "
                "again into another folder with --to; predict, inspect and audit still read this run"
            )


def _in_words(name: str, value: Any, again: str | None = None) -> str:
    """Such as: with --drop a,b; without --no-scale. A flag that was named before is called `again`."""
    if isinstance(value, bool):  # the flag is --no-NAME
        return f"{'without' if value else 'with'} {again or f'--no-{name}'}"
    if value in (None, (), []):
        return f"without --{name}"
    text = value if isinstance(value, str | int) else ",".join(value)
    return f"with --{name} {visible(text, 80)}"


def default_folder(source_path: str | Path) -> Path:
    """The run folder if none was named: SOURCE.run in the current folder, without the suffix of a format."""
    name = "standard-input" if source_path == "-" else Path(source_path).name
    for suffix in (*PACKED, *SUFFIXES):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return Path(f"{name or 'rows'}.run")


class Guess:
    """What the first rows of the first source show: the columns and the target."""

    def __init__(self, inputs: Inputs, settings: Settings, say: Say) -> None:
        self.settings, self.source = settings, inputs.open_first()
        self._names = feature_columns(self.source, settings)
        self._types = types_of(settings.schema) | dict.fromkeys(settings.category, CATEGORY)
        self._blocks = self.source.blocks()
        has_more = self.source.has_more if inputs.follow else (lambda: True)
        self._first, batches = first_blocks(self.source, self._blocks, has_more)
        self._head = Head.of(batches, self.source.decimal, settings.dates)
        by_type = task_of(self._types.get(settings.target), settings.target)
        task = by_type if by_type and settings.task == "auto" else settings.task
        self.target, sentence = guess_target(
            self._head, settings.target, task, settings.labels, self.source.name
        )
        self.notes = [sentence]
        say(sentence)
        if settings.key is not None:
            # Raises if it cannot be a key.
            keys_of(self._head.columns[settings.key], settings.key, self.source.name)
        self.layout, sentences = guess_layout(
            self._head, self._names, settings.missing, self._types, settings.features, self.target
        )
        self.notes += sentences
        for sentence in sentences:
            say(sentence)
        if not self.layout.columns:
            raise SourceError(f"{self.source.name}: no column is left to predict from")
        read_loss(settings.loss, self.target.regression, TERMINAL)  # raises if it does not fit
        self.summary = self._summary()
        say(self.summary)

    def _summary(self) -> str:
        """What will be learned with, in a sentence."""
        settings, count = self.settings, self.layout.feature_count()
        loss = settings.loss if settings.loss != "auto" else LOSS_OF[self.target.regression]
        words = [f"{count:,} feature{'s' if count != 1 else ''}", f"loss: {loss.replace('_', ' ')}"]
        words += [f"outliers: {settings.outliers}"]
        words += [f"delay: {settings.delay:,} rows"] if settings.delay > 1 else []
        return ", ".join(words)

    def all_blocks(self) -> Iterator[Any]:
        """The blocks of the source, with those that were read for the guess."""
        yield from self._first
        self._first.clear()
        yield from self._blocks

    def config(self) -> Config:
        """What the run is; raises if settings do not go together."""
        return Config.new(
            self.settings,
            self.layout,
            self.target,
            source=self.source.name,
            source_begins=self.source.fingerprint(),
            names=tuple(self.source.names) if type(self.source) is Delimited else None,
            notes=tuple(self.notes),
            codes=tuple(
                column.name
                for column in self.layout.columns
                if isinstance(column, Number) and is_code(self._head.numbers(column.name))
            ),
        )

    def _column_notes(self) -> dict[str, str]:
        names = [name for name in self.source.names if name in self._names]
        return guess_encoding(self._head, names, self._types, self.settings.features, self.target)[1]

    def table_lines(self) -> list[str]:
        """What each column is read as, with examples, the share of missing cells, and notices below."""
        notes, target = self._column_notes(), self.target.name
        kinds = types_in(self.layout, [name for name in self.source.names if name in self._names])
        kinds = {name: "left out" if kind == DROP else kind for name, kind in kinds.items()}
        kinds |= dict.fromkeys(self.settings.drop, "left out")
        kinds |= {target: "target", **({self.settings.key: "key"} if self.settings.key else {})}
        notes |= {target: self.notes[0]}
        rows = []
        for name in self.source.names:
            if name not in kinds:
                continue
            share = self._head.missing(name).sum() / max(self._head.rows, 1)
            examples = "  ".join(visible(text, 20) for text in self._head.examples(name))
            rows.append(((name or "(no name)", kinds[name], examples, percent(share)), notes.get(name, "")))
        return as_lines_below(("column", "read as", "examples", "missing"), rows)

    def schema_lines(self) -> list[str]:
        """A schema file with the types of all columns; those that were guessed are marked."""
        settings, notes = self.settings, self._column_notes()
        names = [name for name in self.source.names if name in self._names]
        types = types_in(self.layout, names) | {settings.target: NUMBER if self.target.regression else LABEL}
        notes |= {settings.target: "the target"}
        for name in types:
            if name not in self._types:
                notes[name] = "guessed" + (f": {notes[name]}" if name in notes else "")
        ordered = {name: types[name] for name in self.source.names if name in types}
        return as_lines(ordered, notes)
