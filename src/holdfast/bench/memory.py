"""Goal 5: memory that does not grow with the rounds, and files larger than memory."""

import json
import os
import shutil

import numpy as np

from holdfast.bench.limits import limited
from holdfast.bench.processes import probe
from holdfast.bench.streams import dense
from holdfast.bench.table import Row, Section

_DIM = 100


def measure(run):
    yield _sizes(run)
    yield _file(run)


def _sizes(run):
    """How much the resident memory of a process grows over a game of many rounds with d = 1, in parts."""
    rounds = run.amount(100_000_000, 10_000_000, 300)
    title = f"memory: growth over {rounds:,} sizes, each filter in a process of its own"
    rows = []
    for name in ("TopShare", "Quantile"):
        run.say(f"{title}: {name}")
        grown = probe(run, "sizes", name, rounds, json.dumps(run.compiled))
        known = {"note": "not measured: this system does not tell"} if grown is None else {}
        rows.append(Row(f"{name}, {rounds:,} rounds", grown, most=1.0, **known))
    run.say("")
    return Section(title, "MB", rows, headline=True)


def _file(run):
    """One `play` over a memory-mapped file, beside the same rounds played part by part from memory."""
    part, parts, limit = run.amount((500_000, 16, 1000), (100_000, 20, 500), (20, 3, 500))
    gigabytes = 4e-9 * part * parts * _DIM
    title = f"memory: play over a memory-mapped file of {gigabytes:.1f} GB, float32, d = {_DIM}"
    rows = [Row("memory-mapped", most=1.2, note="not measured: the disk is too full")]
    if shutil.disk_usage(run.scratch).free < 2e9 * gigabytes:
        return Section(title, "ns a round", rows)
    path = run.scratch / "rows.f32"
    run.say(f"{title}: writing it")
    X, _ = dense(part, _DIM, share=0.01, dtype=np.float32)
    _write(path, X, parts)
    args = ("file", path, parts, run.amount(5, 3, 1))
    run.say(f"{title}: playing without a limit")
    free = probe(run, *args, "", json.dumps(run.compiled))
    _forget(path)
    run.say(f"{title}: playing with a limit")
    with limited(limit * 1_000_000) as group:
        tight = probe(run, *args, group or "", json.dumps(run.compiled))
    path.unlink()
    run.say("")
    held = (
        f"may hold {limit} MB (memory cgroup)" if tight["limited"] else "could hold it all (no cgroup here)"
    )
    rows = [
        Row("in memory", tight["held"]),
        Row("memory-mapped, without a limit", free["mapped"], free["ratio"]),
        Row(f"memory-mapped{_from_disk(tight)}", tight["mapped"], tight["ratio"], most=1.2),
        Row("only reading the file", tight["alone"], tight["alone"] / tight["held"]),
    ]
    return Section(f"{title}, in a process that {held}", "ns a round", rows, "x in memory", headline=True)


def _from_disk(found):
    return "" if found["read"] is None else f", {1e-9 * found['read']:.1f} GB a turn from disk"


def _write(path, X, parts):
    with path.open("wb") as file:
        for _ in range(parts):
            X.tofile(file)


def _forget(path):
    """Leave nothing of the file in the cache of the system, where no limit would count it."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
