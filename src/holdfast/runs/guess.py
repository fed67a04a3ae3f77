"""What the first rows of the first source show: the columns, the target and the loss of a new run."""

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
from holdfast.runs.checkpoint import CONFIG_FORMAT
from holdfast.runs.settings import loss_for


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
        self.notes = [sentence]
        say(sentence)
        if settings.key is not None:
            # Raises if it cannot be a key.
            keys_of(self._head.columns[settings.key], settings.key, self.source.name)
        self.layout, sentences = guess_layout(self._head, self._names, settings.missing, self._types)
        self.notes += sentences
        for sentence in sentences:
            say(sentence)
        if not self.layout.columns:
            raise SourceError(f"{self.source.name}: no column is left to predict from")
        self.loss = loss_for(settings.loss, self.target.regression)
        delay = f", delay: {settings.delay:,} rows" if settings.delay > 1 else ""
        say(
            f"features: {self.layout.feature_count():,}, loss: {self.loss!r}, outliers: {settings.outliers}"
            + delay
        )

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
            "notes": self.notes,
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
