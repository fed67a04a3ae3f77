"""Read back the configuration and the checkpoint of a run. Everything is checked before it is used."""

import dataclasses
import json
from typing import Any, NamedTuple

from holdfast.flatten import digest
from holdfast.io.columns import read_layout, read_target
from holdfast.io.typed import typed
from holdfast.runs.answers import TENSORS as ANSWERS
from holdfast.runs.files import RunError, damaged
from holdfast.runs.games import TENSORS as GAMES
from holdfast.runs.model import read_tensors
from holdfast.runs.settings import Settings
from holdfast.runs.source_records import is_fingerprint, read_record
from holdfast.runs.state_parts import TENSORS as STATES
from holdfast.runs.trace import KEY_COLUMNS
from holdfast.runs.trace import TENSORS as TRACE

CONFIG, CONFIG_FORMAT = "config.json", "holdfast run 1"
TIMES = "times.json"
CHECKPOINT, FORMAT = "checkpoint.safetensors", "holdfast checkpoint"  # digests distinguish the layouts
# The columns of every tensor, by name. `state_layout` is the digest of the columns of a tape.
_ALWAYS = {f"trace.{name}": columns for name, columns in TRACE.items()}
_ALWAYS |= {f"answers.{name}": columns for name, columns in ANSWERS.items()}
_ONE_KEY = _ALWAYS | {"keys": KEY_COLUMNS} | {f"games.{name}": columns for name, columns in GAMES.items()}
_KEYED = _ALWAYS | {f"keys.{name}": () for name in ("serials", "parts", "count")}
_KEYED |= {f"prior.{game}.{name}": columns for game in ("pool", "ready") for name, columns in GAMES.items()}


def read_config(folder):
    """The content of config.json, with the settings, the layout and the target as objects."""
    path = folder.path / CONFIG
    try:
        config = json.loads(folder.read(CONFIG))
        if not isinstance(config, dict) or config.get("format") != CONFIG_FORMAT:
            raise ValueError(f"it is not {CONFIG_FORMAT!r}")
        if not all(isinstance(config.get(name), str) for name in ("source", "loss", "player")):
            raise ValueError("source, loss and player are texts")
        if not is_fingerprint(config.get("source_begins")):
            raise ValueError("source_begins has bytes and crc32")
        names = config.get("names")  # earlier versions did not write it
        if names is not None and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
            raise ValueError("names is a list of texts")
        readers = {"settings": Settings.from_json, "layout": read_layout, "target": read_target}
        config |= {name: read(config.get(name)) for name, read in readers.items()}
        notes = config.setdefault("notes", [])
        if not (isinstance(notes, list) and all(isinstance(note, str) for note in notes)):
            raise ValueError("notes are texts")
        config["settings"].player(config["target"].regression, config["layout"])
    except (ValueError, TypeError, OverflowError, RecursionError) as problem:
        raise problem if isinstance(problem, RunError) else damaged(path, problem) from None
    return config


class Times(NamedTuple):
    """How long a run has learned, and when it was saved: for the report. They are not in the checkpoint, so
    that two runs of the same rows have the same one.
    """

    seconds: float = 0.0
    saved: str = ""  # date and time


def read_times(folder):
    """The content of times.json; nothing if there is none."""
    if not folder.has(TIMES):
        return Times()
    try:
        return typed(Times, json.loads(folder.read(TIMES)))
    except (ValueError, RecursionError) as problem:
        raise problem if isinstance(problem, RunError) else damaged(folder.path / TIMES, problem) from None


@dataclasses.dataclass(frozen=True)
class CheckpointHeader:
    """What a checkpoint contains beside its tensors."""

    sources: list[Any]  # a `SourceRecord` for each, as a dictionary
    parts: int
    finished: bool
    counts: dict[str, int]  # skipped rounds by reason
    keys: list[str]  # empty with --key: the parts of the states have them
    state_layout: str  # digest of the states of the games; compared at their first use

    def check(self):
        """Raise ValueError if an entry is not valid."""
        if not (_is_count(self.parts) and isinstance(self.finished, bool)):
            raise ValueError("parts and finished are not those of a checkpoint")
        if not isinstance(self.counts, dict):  # another version may have other reasons
            raise ValueError("its reasons are not those of a checkpoint")
        if not all(map(_is_count, self.counts.values())):
            raise ValueError("its counts are not those of a checkpoint")
        texts = isinstance(self.keys, list) and all(isinstance(key, str) for key in self.keys)
        if not texts or len(set(self.keys)) < len(self.keys):
            raise ValueError("its keys are not those of a checkpoint")
        if not isinstance(self.sources, list):
            raise ValueError("its sources are not those of a checkpoint")

    def records(self):
        """The sources; raises ValueError if they are not valid."""
        return [read_record(found) for found in self.sources]


def read_checkpoint(folder):
    """The header and the tensors of the checkpoint; raises ValueError if an entry is not valid.

    If the tables have another layout, there are no tensors: only parts, finished, counts and keys are read.
    """
    path = folder.path / CHECKPOINT
    found, tensors = read_tensors(path, folder.read(CHECKPOINT), FORMAT)
    older = found.get("table_layout") != digest(table_layout())
    if older:
        found |= {"sources": []}
    header = CheckpointHeader(**{name: found.get(name) for name in CheckpointHeader.__dataclass_fields__})
    header.check()
    if older:
        return header, None
    if set(tensors) not in (set(_ONE_KEY), set(_KEYED)):
        raise ValueError("its tensors are not those of a checkpoint")
    return header, tensors


def table_layout():
    """The entries of the header, the tensors and their columns, without the states of the games."""
    return [list(CheckpointHeader.__dataclass_fields__), _ONE_KEY, _KEYED, STATES]


def _is_count(value):
    return type(value) is int and 0 <= value < 1 << 53
