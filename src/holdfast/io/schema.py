"""A schema file: a TOML table with the type of each column, for those that should not be guessed."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from holdfast.io.byte_stream import SourceError
from holdfast.terminal import quoted

NUMBER, CATEGORY, LABEL, DROP = "number", "category", "label", "drop"
TYPES = (NUMBER, "truth", "time", CATEGORY, "hashed", LABEL, DROP)
# What the first rows of a column may have (`Head.kind`) if it has this type.
_FITS = {
    NUMBER: ("number", "truth", "text", "empty"),
    "truth": ("truth",),
    "time": ("time",),
    "category": ("number", "truth", "time", "text"),
    "hashed": ("number", "truth", "time", "text"),
}
_WORDS = {"number": "numbers", "truth": "truth values", "time": "times", "text": "texts", "empty": "nothing"}


def read_schema(path: str | Path) -> str:
    """The types by column, in the order of the file, as JSON."""
    try:
        with open(path, "rb") as file:
            found = tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as problem:
        raise SourceError(f"--schema {path}: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise SourceError(f"--schema {path} is not TOML: {str(problem)[:80]}") from None
    for name, kind in found.items():
        if kind not in TYPES:
            got = quoted(kind, 40) if isinstance(kind, str) else "something else"
            raise SourceError(
                f"--schema {path}, column {quoted(name)}: must be one of {', '.join(TYPES)}, in quotes: "
                f"got {got}"
            )
    if not found:
        raise SourceError(f'--schema {path}: no columns; expected lines such as price = "number"')
    return json.dumps(found)


def types_of(schema: str | None) -> dict[str, str]:
    """The types by column, from what `read_schema` returned; none if it is None."""
    return json.loads(schema) if schema is not None else {}


def check_fit(name: str, kind: str, found: str) -> None:
    """Raise if a column whose first rows are of kind `found` cannot have this type."""
    if kind == LABEL:
        raise SourceError(f"--schema, column {quoted(name)}: only the target can be a label; use category")
    if found not in _FITS.get(kind, (found,)):
        raise SourceError(
            f"--schema, column {quoted(name)} cannot be read as {kind}: its first rows have "
            f"{_WORDS.get(found, 'something else')}"
        )


def task_of(kind: str | None, name: str) -> str | None:
    """The task, from the type of the target in the schema; None if it has none."""
    if kind not in (None, NUMBER, LABEL):
        raise SourceError(f"--schema, column {quoted(name)}: the target is a number or a label, not {kind}")
    return None if kind is None else {NUMBER: "regression", LABEL: "classification"}[kind]


def as_lines(types: Mapping[str, str], notes: Mapping[str, str]) -> list[str]:
    return [
        f"{_in_quotes(name)} = {_in_quotes(kind)}" + (f"  # {notes[name]}" if name in notes else "")
        for name, kind in types.items()
    ]


def _in_quotes(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
