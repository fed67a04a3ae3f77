"""The checkpoint of a run: written, and read back. Everything is checked before it is used."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from holdfast.flatten import digest
from holdfast.fleet.games import TENSORS as GAMES
from holdfast.fleet.key_table import CHANGED, KEY_COLUMNS
from holdfast.fleet.parts import COLUMNS
from holdfast.fleet.states import KeyStates, read_states
from holdfast.fleet.tensor_file import read_tensors, tensor_buffers
from holdfast.io.typed import is_count, typed
from holdfast.runs import manifest
from holdfast.runs.answers import Answers
from holdfast.runs.checkpoint_tree import Node, read_nodes
from holdfast.runs.files import damaged, of_another_layout, reading, table_bytes, to_json
from holdfast.runs.folder import Content, Folder
from holdfast.runs.manifest import STATES, TREE, part_name
from holdfast.runs.source_records import SourceRecord, read_record
from holdfast.runs.trace import Skips, Trace

if TYPE_CHECKING:
    from holdfast.runs.run import Run

TIMES = "times.json"
CHECKPOINT, FORMAT = manifest.CHECKPOINT, "holdfast checkpoint"  # digests distinguish the layouts
_PART = "holdfast states 3"
# The columns of every tensor, by name. `state_layout` is the digest of the columns of a tape.
_COUNTED = {"trace": Trace.TENSORS, "answers": Answers.TENSORS, "skips": Skips.TENSORS}  # parts of a run
_ALWAYS = {f"{part}.{name}": columns for part, found in _COUNTED.items() for name, columns in found.items()}
_ONE_KEY = _ALWAYS | {"keys": KEY_COLUMNS} | {f"games.{name}": columns for name, columns in GAMES.items()}
_KEYED = _ALWAYS | {f"keys.{name}": () for name in ("serials", "parts", "count")}
_WITH_STATES = ("states",)  # of an earlier state of a run with keys: the content of a part
_KEYED |= {f"prior.{game}.{name}": columns for game in ("pool", "ready") for name, columns in GAMES.items()}


class Times(NamedTuple):
    """How long a run has learned the rounds that it has, and when it was saved: for the report. They are not
    in the checkpoint, so that two runs of the same rows have the same one.
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
    tree: list[Node]  # earlier states in the folder
    # Parts of tables that count no more, from the first number to below the second:
    replaced: list[tuple[int, int]]

    @staticmethod
    def from_json(found: dict[str, Any]) -> "CheckpointHeader":
        """The header; raises ValueError if an entry is not valid."""
        fields = {name: found.get(name) for name in CheckpointHeader.__dataclass_fields__}
        readers = {"sources": _read_sources, "counts": _read_counts}
        readers |= {"tree": read_nodes, "replaced": _read_replaced}
        header = typed(CheckpointHeader, fields, readers, parts=(0, 1 << 53))
        if len(set(header.keys)) < len(header.keys):
            raise ValueError("its keys are not those of a checkpoint")
        return header

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"sources": [record._asdict() for record in self.sources]}


def _read_sources(found: Any) -> list[SourceRecord]:
    if not isinstance(found, list):
        raise ValueError("its sources are not those of a checkpoint")
    return [read_record(each) for each in found]


def _read_counts(found: Any) -> dict[str, int]:
    if not isinstance(found, dict) or not all(map(is_count, found.values())):
        raise ValueError("its counts are not those of a checkpoint")
    return found


def _read_replaced(found: Any) -> list[tuple[int, int]]:
    pairs = found if isinstance(found, list) else [None]
    if not all(isinstance(each, list) and len(each) == 2 and all(map(is_count, each)) for each in pairs):
        raise ValueError("its replaced parts are not those of a checkpoint")
    return [(first, end) for first, end in found]


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
    for number, state in run.tree.new():
        yield part_name(TREE, number), state.buffers()
    yield CHECKPOINT, tensor_buffers(_tensors(run), _header(run))


def _header(run: "Run") -> dict[str, Any]:
    keys = () if run.upkeep is not None else tuple(run.games.keys)
    header = CheckpointHeader(
        list(run.sources),
        run.parts + 1,
        run.finished,
        dict(run.log.counts),
        keys,
        run.games.layout,
        list(run.tree.nodes),
        list(run.folder.replaced),
    )
    return {"format": FORMAT, "table_layout": digest(table_layout())} | header.to_json()


def _tensors(run: "Run") -> dict[str, np.ndarray]:
    parts = {part: getattr(run, part).state() for part in _COUNTED}
    found = {f"{part}.{name}": array for part, state in parts.items() for name, array in state.items()}
    if run.upkeep is not None:
        table = run.games.table
        found |= {"keys.serials": table.serials, "keys.parts": table.parts}
        return found | {"keys.count": np.array([table.count])} | run.upkeep.tensors()
    found |= {f"games.{name}": array for name, array in run.games.state().items()}
    return found | {"keys": run.keys.sums}


class EarlierState(NamedTuple):
    """A checkpoint that may be written later: it shares no array with the run."""

    header: dict[str, Any]
    tensors: dict[str, np.ndarray]
    states: KeyStates | None  # of all keys

    @staticmethod
    def of(run: "Run") -> "EarlierState":
        tensors, states, header = _tensors(run), None, _header(run) | {"tree": [], "replaced": []}
        if run.upkeep is not None:
            keys, table = np.arange(len(run.games.keys)), run.games.table
            columns = {"serials": table.serials, "last": table.last, "sums": run.keys.sums}
            states = run.games.packed(keys, {name: column.copy() for name, column in columns.items()})
        return EarlierState(header, {name: array.copy() for name, array in tensors.items()}, states)

    def byte_count(self) -> int:
        states = 0 if self.states is None else sum(map(len, self.states.states))
        return states + sum(array.nbytes for array in self.tensors.values())

    def buffers(self) -> list[Any]:
        tensors = self.tensors
        if self.states is not None:
            part = b"".join(self.states.buffers(_PART))
            tensors = tensors | {"states": np.frombuffer(part, np.uint8)}
        return tensor_buffers(tensors, self.header)


# -- reading


def load_checkpoint(run: "Run", name: str = CHECKPOINT, folder: Folder | None = None) -> CheckpointHeader:
    """Load the tables and states of the last checkpoint, or of an earlier state; return its header.

    Raises if they have another layout than in this version.
    """
    folder = folder or run.folder
    path, is_earlier = folder.path / name, name != CHECKPOINT
    with reading(path):
        found, tensors = read_tensors(folder.read(name), FORMAT)
        if found.get("table_layout") != digest(table_layout()):
            raise of_another_layout(path, "the tables")
        header = CheckpointHeader.from_json(found)
        names = set(_ONE_KEY) if run.upkeep is None else {*_KEYED, *(_WITH_STATES if is_earlier else ())}
        if set(tensors) != names:
            raise ValueError("its tensors are not those of a checkpoint")
        if header.state_layout != run.games.layout:
            raise of_another_layout(path, "the states")
        for part in _COUNTED:
            getattr(run, part).load(_with_prefix(tensors, f"{part}."))
        if run.upkeep is None:
            run.games.load(header.keys, _with_prefix(tensors, "games."), lambda why: damaged(path, why))
            run.keys.load(tensors["keys"], len(header.keys))
        else:
            states = [tensors["states"]] if is_earlier else None
            sums = _load_parts(run, path, _with_prefix(tensors, "keys."), states)
            run.keys.load(sums, len(run.games.keys))
            run.upkeep.load(_with_prefix(tensors, "prior."), lambda why: damaged(path, why))
    return header


def _load_parts(
    run: "Run", path: Path, tensors: dict[str, np.ndarray], states: list[np.ndarray] | None
) -> np.ndarray:
    """Load the states of all keys, from parts of the folder or from these; return the sums of the keys."""
    for tensor in tensors.values():
        if tensor.dtype != np.int64 or tensor.ndim != 1:
            raise ValueError(f"its keys cannot be {tensor.dtype} of shape {tensor.shape}")
    serials, parts, count = (tensors[name] for name in ("serials", "parts", "count"))
    if len(serials) != len(parts) or len(count) != 1 or (states is None and (parts < 0).any()):
        raise ValueError("its keys are not those of a checkpoint")
    labels, found = len(run.games.labels), []
    if states is not None:
        for data in states:
            part = read_states(data.tobytes(), _PART, labels, COLUMNS)
            run.games.add(part)
            found.append(part._replace(states=[]))
        parts = np.full(len(serials), CHANGED)
    for number in np.unique(parts).tolist() if states is None else ():
        name = part_name(STATES, number)
        with reading(run.folder.path / name):
            part = read_states(run.folder.read(name), _PART, labels, COLUMNS)
            found.append(run.states.add(run.games, number, part, serials[parts == number]))
    how = (serials, parts, int(count[0]), lambda why: damaged(path, why))
    return run.states.finish(run.games, found, *how)


def _with_prefix(tensors: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): a for name, a in tensors.items() if name.startswith(prefix)}
