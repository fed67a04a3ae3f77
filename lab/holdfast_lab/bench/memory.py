"""Goal 5: memory that does not grow with the rounds, and files larger than the memory."""

import json
import os
import shutil
import tempfile

import numpy as np

from holdfast_lab.bench.limits import limited
from holdfast_lab.bench.processes import probe
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section

_DIM = 100


def measure(run):
    yield _sizes(run)
    yield _file(run)


def _sizes(run):
    """The growth of the resident memory over a game of many rounds with d = 1, played in parts."""
    rounds = run.amount(100_000_000, 10_000_000, 300)
    title = f"memory: growth over {rounds:,} sizes, each filter in a process of its own"
    rows = []
    for name in ("TopShare", "Quantile"):
        run.show(f"{title}: {name}")
        grown = probe(run, "sizes", name, rounds, json.dumps(run.compiled))
        note = "not measured: this system does not report it" if grown is None else ""
        rows.append(Row(f"{name}, {rounds:,} rounds", grown, most=1.0, note=note))
    run.show("")
    return Section(title, "MB", rows, headline=True)


def _file(run):
    """One `play` over a memory-mapped file, beside the same rounds played part by part from memory.

    The goal is for the fastest disk. If reading alone takes longer than the game, the disk is what is
    measured.
    """
    part, parts, limit = run.amount((500_000, 16, 1000), (100_000, 20, 500), (20, 3, 500))
    size = 4 * part * parts * _DIM
    title = f"memory: play over a memory-mapped file of {1e-9 * size:.1f} GB, float32, d = {_DIM}"
    disks = {"disk": run.scratch} | ({"the disk of --disk": run.disk} if run.disk else {})
    rows, found = [], {}
    for name, folder in disks.items():
        if shutil.disk_usage(folder).free < 1.02 * size:
            rows.append(Row(f"memory-mapped, from {name}", most=1.2, note="not measured: too full"))
        else:
            run.show(f"{title}: from {name}")
            found[name] = _played(run, folder, part, parts, limit)
    run.show("")
    held = "could hold it all (no cgroup here)"
    if any(times["limited"] for times in found.values()):
        held = f"may hold {limit} MB (memory cgroup)"
    fastest = min(found, key=lambda name: found[name]["alone"], default=None)
    for name, times in found.items():
        read = "" if times["read"] is None else f"{1e-9 * times['read']:.1f} GB a turn "
        most = 1.2 if name == fastest else None
        rows += [
            Row("in memory", times["held"]),
            Row(f"memory-mapped, {read}from {name}", times["mapped"], times["ratio"], most=most),
            Row(f"only reading it from {name}", times["alone"], times["alone"] / times["held"]),
        ]
    return Section(f"{title}, in a process that {held}", "ns a round", rows, "x in memory", headline=True)


def _played(run, folder, part, parts, limit):
    """The times for a file in this folder; the process may hold `limit` MB of it."""
    X, _ = dense(part, _DIM, share=0.01, dtype=np.float32)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".f32") as file, limited(limit * 1_000_000) as group:
        for _ in range(parts):
            X.tofile(file)
        _forget(file)
        return probe(
            run, "file", file.name, parts, run.amount(5, 3, 1), group or "", json.dumps(run.compiled)
        )


def _forget(file):
    """Remove the file from the cache of the system, which no limit counts."""
    file.flush()
    if hasattr(os, "posix_fadvise"):
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
