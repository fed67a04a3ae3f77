"""What a checkpoint has of a run: written, and read again."""

import dataclasses
import json

import numpy as np
from safetensors.numpy import save

from holdfast.flatten import digest
from holdfast.runs.checkpoint import (
    CHECKPOINT,
    FORMAT,
    TIMES,
    CheckpointHeader,
    read_checkpoint,
    table_layout,
)
from holdfast.runs.files import RunError, damaged, to_json
from holdfast.runs.manifest import part_name
from holdfast.runs.tables import table_bytes


def checkpoint_files(run):
    """Names and contents. The checkpoint comes last, because it counts the parts."""
    for name, table in run.log.tables().items():
        yield part_name(name, run.parts), table_bytes(table)
    yield TIMES, to_json(run.times._asdict())
    keyed = run.settings.key is not None
    if keyed:
        yield from run.states.next_files(run.games, run.keys.sums)
    keys, layout = [] if keyed else list(run.games.keys), run.games.layout
    sources = [record.to_json() for record in run.sources]
    header = CheckpointHeader(sources, run.parts + 1, run.finished, run.log.counts, keys, layout)
    formats = {"format": FORMAT, "table_layout": digest(table_layout())}
    yield CHECKPOINT, save(_tensors(run), {"holdfast": json.dumps(formats | dataclasses.asdict(header))})


def _tensors(run):
    found = {f"trace.{name}": np.array(array, order="C") for name, array in run.trace.state().items()}
    found |= {f"answers.{name}": array for name, array in run.answers.state().items()}
    if run.settings.key is not None:
        return found | run.states.tensors(run.games.table) | run.upkeep.tensors()
    found |= {f"games.{name}": array for name, array in run.games.state().items()}
    return found | {"keys": run.keys.sums}


def load_checkpoint(run):
    """Load the tables and states of the last checkpoint; return its header, and whether it is older.

    Of a checkpoint of another layout only the header can be read.
    """
    path = run.folder.path / CHECKPOINT
    try:
        header, tensors = read_checkpoint(run.folder)
        if tensors is None or (len(run.games.labels) > 1 and header.state_layout != run.games.layout):
            return header, True  # in the second case there may be other games than in this version
        run.trace.load(_with_prefix(tensors, "trace."))
        run.answers.load(_with_prefix(tensors, "answers."))
        if run.settings.key is None:
            run.games.load(header.keys, _with_prefix(tensors, "games."), path, header.state_layout)
            run.keys.load(tensors["keys"], len(header.keys))
        else:
            sums = run.states.read(run.folder, run.games, tensors, path, header.state_layout)
            run.keys.load(sums, len(run.games.keys))
            run.upkeep.load(_with_prefix(tensors, "prior."), path, header.state_layout)
        header.records()
    except (ValueError, KeyError) as problem:
        raise problem if isinstance(problem, RunError) else damaged(path, problem) from None
    return header, False


def _with_prefix(tensors, prefix):
    return {name.removeprefix(prefix): a for name, a in tensors.items() if name.startswith(prefix)}
