"""The checkpoint of a run: written, and read back. Everything is checked before it is used."""

import dataclasses
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from holdfast.flatten import digest
from holdfast.fleet.games import TENSORS as GAMES
from holdfast.fleet.key_states import KeyStates, read_states
from holdfast.fleet.key_sums import KEY_COLUMNS
from holdfast.fleet.parts import COLUMNS
from holdfast.fleet.tensor_file import read_tensors, tensor_buffers
from holdfast.io.typed import typed
from holdfast.runs.answers import TENSORS as ANSWERS
from holdfast.runs.files import damaged, of_another_layout, reading, to_json
from holdfast.runs.folder import Content, Folder
from holdfast.runs.manifest import STATES, part_name
from holdfast.runs.source_records import SourceRecord, read_record
from holdfast.runs.tables import table_bytes
from holdfast.runs.trace import TENSORS as TRACE

if TYPE_CHECKING:
    from holdfast.runs.run import Run

TIMES = "times.json"
CHECKPOINT, FORMAT = "checkpoint.safetensors", "holdfast checkpoint"  # digests distinguish the layouts
_PART = "holdfast states 3"
# The columns of every tensor, by name. `state_layout` is the digest of the columns of a tape.
_ALWAYS = {f"trace.{name}": columns for name, columns in TRACE.items()}
_ALWAYS |= {f"answers.{name}": columns for name, columns in ANSWERS.items()}
_ONE_KEY = _ALWAYS | {"keys": KEY_COLUMNS} | {f"games.{name}": columns for name, columns in GAMES.items()}
_KEYED = _ALWAYS | {f"keys.{name}": () for name in ("serials", "parts", "count")}
_KEYED |= {f"prior.{game}.{name}": columns for game in ("pool", "ready") for name, columns in GAMES.items()}


class Times(NamedTuple):
    """How long a run has learned, and when it was saved: for the report. They are not in the checkpoint, so
    that two runs of the same rows have the same one.
    """

    seconds: float = 0.0
    saved: str = ""  # date and time


def read_times(folder: Folder) -> Times:
    """The content of times.json; nothing if there is none."""
    if not folder.has(TIMES):
        return Times()
    with reading(folder.path / TIMES):
        return typed(Times, json.loads(folder.read(TIMES)))


@dataclasses.dataclass(frozen=True)
class CheckpointHeader:
    """What a checkpoint contains beside its tensors."""

    sources: list[SourceRecord]
    parts: int
    finished: bool
    counts: dict[str, int]  # skipped rounds by reason
    keys: tuple[str, ...]  # empty with --key: the parts of the states have them
    state_layout: str  # digest of the states of the games; compared at their first use

    @staticmethod
    def from_json(found: dict[str, Any]) -> "CheckpointHeader":
        """The header; raises ValueError if an entry is not valid."""
        fields = {name: found.get(name) for name in CheckpointHeader.__dataclass_fields__}
        header = typed(
            CheckpointHeader, fields, {"sources": _read_sources, "counts": _read_counts}, parts=(0, 1 << 53)
        )
        if len(set(header.keys)) < len(header.keys):
            raise ValueError("its keys are not those of a checkpoint")
        return header

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"sources": [record.to_json() for record in self.sources]}


def _read_sources(found: Any) -> list[SourceRecord]:
    if not isinstance(found, list):
        raise ValueError("its sources are not those of a checkpoint")
    return [read_record(each) for each in found]


def _read_counts(found: Any) -> dict[str, int]:
    if not isinstance(found, dict) or not all(type(n) is int and 0 <= n < 1 << 53 for n in found.values()):
        raise ValueError("its counts are not those of a checkpoint")
    return found


def table_layout() -> list[Any]:
    """The entries of the header, the tensors and their columns, without the states of the games."""
    parts = {name: [column.dtype.name, column.shape[1:]] for name, column in COLUMNS.items()}
    return [list(CheckpointHeader.__dataclass_fields__), _ONE_KEY, _KEYED, parts]


# -- writing


def checkpoint_files(run: "Run") -> Iterator[tuple[str, Content]]:
    """Names and contents. The checkpoint comes last, because it counts the parts."""
    for name, table in run.log.tables().items():
        yield part_name(name, run.parts), table_bytes(table)
    yield TIMES, to_json(run.times._asdict())
    if run.upkeep is not None:
        for number, states in run.states.next_parts(run.games, run.keys.sums):
            yield part_name(STATES, number), states.buffers(_PART)
    keys = () if run.upkeep is not None else tuple(run.games.keys)
    header = CheckpointHeader(
        run.sources, run.parts + 1, run.finished, run.log.counts, keys, run.games.layout
    )
    formats = {"format": FORMAT, "table_layout": digest(table_layout())}
    yield CHECKPOINT, tensor_buffers(_tensors(run), formats | header.to_json())


def _tensors(run: "Run") -> dict[str, np.ndarray]:
    found = {f"trace.{name}": array for name, array in run.trace.state().items()}
    found |= {f"answers.{name}": array for name, array in run.answers.state().items()}
    if run.upkeep is not None:
        table = run.games.table
        found |= {"keys.serials": table.serials, "keys.parts": table.parts}
        return found | {"keys.count": np.array([table.count])} | run.upkeep.tensors()
    found |= {f"games.{name}": array for name, array in run.games.state().items()}
    return found | {"keys": run.keys.sums}


# -- reading


def load_checkpoint(run: "Run") -> CheckpointHeader:
    """Load the tables and states of the last checkpoint; return its header.

    Raises if they have another layout than in this version.
    """
    path = run.folder.path / CHECKPOINT
    with reading(path):
        found, tensors = read_tensors(run.folder.read(CHECKPOINT), FORMAT)
        if found.get("table_layout") != digest(table_layout()):
            raise of_another_layout(path, "the tables")
        header = CheckpointHeader.from_json(found)
        if set(tensors) != set(_ONE_KEY if run.upkeep is None else _KEYED):
            raise ValueError("its tensors are not those of a checkpoint")
        if header.state_layout != run.games.layout:
            raise of_another_layout(path, "the states")
        run.trace.load(_with_prefix(tensors, "trace."))
        run.answers.load(_with_prefix(tensors, "answers."))
        if run.upkeep is None:
            run.games.load(header.keys, _with_prefix(tensors, "games."), lambda why: damaged(path, why))
            run.keys.load(tensors["keys"], len(header.keys))
        else:
            run.keys.load(_load_parts(run, _with_prefix(tensors, "keys.")), len(run.games.keys))
            run.upkeep.load(_with_prefix(tensors, "prior."), lambda why: damaged(path, why))
    return header


def _load_parts(run: "Run", tensors: dict[str, np.ndarray]) -> np.ndarray:
    """Load the states of all keys; return the sums of the keys."""
    for tensor in tensors.values():
        if tensor.dtype != np.int64 or tensor.ndim != 1:
            raise ValueError(f"its keys cannot be {tensor.dtype} of shape {tensor.shape}")
    serials, parts, count = (tensors[name] for name in ("serials", "parts", "count"))
    if len(serials) != len(parts) or len(count) != 1 or (parts < 0).any():
        raise ValueError("its keys are not those of a checkpoint")
    found: list[KeyStates] = []
    for number in np.unique(parts).tolist():
        name = part_name(STATES, number)
        with reading(run.folder.path / name):
            part = read_states(run.folder.read(name), _PART, len(run.games.labels), COLUMNS)
            found.append(run.states.add(run.games, number, part, serials[parts == number]))
    path = run.folder.path / CHECKPOINT
    how = (serials, parts, int(count[0]), lambda why: damaged(path, why))
    return run.states.finish(run.games, found, *how)


def _with_prefix(tensors: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): a for name, a in tensors.items() if name.startswith(prefix)}
