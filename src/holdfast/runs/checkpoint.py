"""Read back the configuration and the checkpoint of a run. Everything is checked before it is used."""

import dataclasses
import json
from typing import Any, NamedTuple

from holdfast.flatten import digest
from holdfast.io.columns import read_layout, read_target
from holdfast.io.typed import typed
from holdfast.runs.answers import TENSORS as ANSWERS
from holdfast.runs.audit import REASONS, RELEASED
from holdfast.runs.files import RunError, damaged, of_another_layout
from holdfast.runs.games import TENSORS as GAMES
from holdfast.runs.model import read_tensors
from holdfast.runs.settings import Settings
from holdfast.runs.state_parts import TENSORS as STATES
from holdfast.runs.trace import KEY_COLUMNS
from holdfast.runs.trace import TENSORS as TRACE

CONFIG, CONFIG_FORMAT = "config.json", "holdfast run 1"
TIMES = "times.json"
CHECKPOINT, FORMAT = "checkpoint.safetensors", "holdfast checkpoint"  # digests distinguish the layouts
_LONGEST_HEAD = 1 << 16  # bytes; no source has a longer fingerprint
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
        if not _is_fingerprint(config.get("source_begins")):
            raise ValueError("source_begins has bytes and crc32")
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

    mark: Any  # where the last block of the source begins; None before the first
    done: int  # rows of that block that were learned from or skipped
    parts: int
    finished: bool
    counts: dict[str, int]  # skipped rounds by reason
    keys: list[str]  # empty with --key: the parts of the states have them
    state_layout: str  # digest of the states of the games; compared at their first use

    def check(self):
        """Raise ValueError if an entry is not valid."""
        if not (_is_count(self.done) and _is_count(self.parts) and isinstance(self.finished, bool)):
            raise ValueError("done, parts and finished are not those of a checkpoint")
        if not (isinstance(self.counts, dict) and set(self.counts) <= {*REASONS, RELEASED}):
            raise ValueError("its reasons are not those of a checkpoint")
        if not all(map(_is_count, self.counts.values())):
            raise ValueError("its counts are not those of a checkpoint")
        texts = isinstance(self.keys, list) and all(isinstance(key, str) for key in self.keys)
        if not texts or len(set(self.keys)) < len(self.keys):
            raise ValueError("its keys are not those of a checkpoint")
        if self.mark is not None and not _is_mark(self.mark):
            raise ValueError("its mark is not that of a checkpoint")


def read_checkpoint(folder):
    """The header and the tensors of the checkpoint; raises ValueError if an entry is not valid."""
    path = folder.path / CHECKPOINT
    found, tensors = read_tensors(path, folder.read(CHECKPOINT), FORMAT)
    if found.get("table_layout") != digest(table_layout()):
        raise of_another_layout(path, "the tables", "; predict still reads this run")
    header = CheckpointHeader(**{name: found.get(name) for name in CheckpointHeader.__dataclass_fields__})
    header.check()
    if set(tensors) not in (set(_ONE_KEY), set(_KEYED)):
        raise ValueError("its tensors are not those of a checkpoint")
    return header, tensors


def table_layout():
    """The entries of the header, the tensors and their columns, without the states of the games."""
    return [list(CheckpointHeader.__dataclass_fields__), _ONE_KEY, _KEYED, STATES]


def _is_count(value):
    return type(value) is int and 0 <= value < 1 << 53


def _is_mark(mark):
    """Whether this is a position in a source: two counts, and the fingerprint of the bytes there."""
    if not isinstance(mark, dict) or set(mark) != {"offset", "row", "begins"}:
        return False
    counts = _is_count(mark["offset"]) and _is_count(mark["row"]) and mark["row"] > 0
    return counts and _is_fingerprint(mark["begins"])


def _is_fingerprint(found):
    """Whether this is what `holdfast.io.byte_stream.fingerprint` returns."""
    fits = isinstance(found, dict) and set(found) == {"bytes", "crc32"}
    return fits and all(map(_is_count, found.values())) and found["bytes"] <= _LONGEST_HEAD
