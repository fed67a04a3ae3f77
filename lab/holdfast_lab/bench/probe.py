"""What is measured in a new process: `python -m holdfast_lab.bench.probe WHAT ...` prints JSON."""

import contextlib
import ctypes
import gc
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import holdfast as hf
from holdfast_lab.bench.limits import join
from holdfast_lab.bench.race import BenchRun, race, timed
from holdfast_lab.bench.streams import sizes

_DIM = 100


def growth(name, rounds, compiled):
    """MB by which the peak of resident memory exceeds the memory after the first twentieth of a long game.

    Until then the allocator still grows.
    """
    _only_small_pages()
    rounds = int(rounds)
    filters: dict[str, Any] = {"TopShare": hf.TopShare(0.01), "Quantile": hf.Quantile(0.99, horizon=rounds)}
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), filters[name])
    part = sizes(min(1_000_000, rounds // 10)).astype(np.float32)[:, None]
    record = before = None
    for done in range(0, rounds, len(part)):
        if done == 5 * len(part):
            gc.collect()
            before = _resident()
        gradients = hf.Gradients(part[: rounds - done])
        record = hf.play(player, gradients, keep=(), after=record, compiled=json.loads(compiled))
    after = _peak()
    return None if before is None or after is None else (after - before) / 1e6


def _only_small_pages():
    """A huge page is 2 MB: one more of them would look like growth."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE


def _resident():
    """Bytes resident now, after a reset of the peak; None where the system does not report it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    except OSError:
        return None
    return _peak()


def _peak():
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    return None


def mapped(path, parts, turns, group, compiled):
    """Nanoseconds a round over a memory-mapped file of equal parts, and over one part as often from memory.

    They take turns, after a warm-up in which the game is compiled and the cache of the system is filled. Then
    the time of only reading the file is measured.
    """
    bound = bool(group) and join(group)
    parts, turns = int(parts), int(turns)
    player = hf.Filtered(hf.OGD(hf.Ball(10.0)), hf.TopK(200))
    file = np.memmap(path, np.float32, mode="r").reshape(-1, _DIM)
    part = np.array(file[: len(file) // parts])
    y = np.where(part[:, 0] > 0.0, 1.0, -1.0)
    whole = np.tile(y, parts)
    options = {"keep": (), "compiled": json.loads(compiled)}

    def often():
        record = None
        for _ in range(parts):
            record = hf.play(player, hf.Replay(part, y, hf.Logistic()), after=record, **options)

    def once():
        hf.play(player, hf.Replay(file, whole, hf.Logistic()), **options)

    cases = {name: timed(case, per=len(file)) for name, case in (("held", often), ("mapped", once))}
    before = _read_from_disk()
    times = race(BenchRun("full", Path(), Path()), "file", cases, turns)
    found = {name: 1e9 * times.median(name) for name in cases}
    read = None if before is None else (_read_from_disk() - before) / (turns + 1)
    alone = race(BenchRun("full", Path(), Path()), "file", {"read": timed(_read, path, per=len(file))}, 3)
    alone = 1e9 * alone.median("read")
    found |= {"ratio": times.ratio("mapped", "held"), "read": read, "alone": alone}
    return found | {"limited": bound}


def _read(path):
    buffer = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def _read_from_disk():
    """Bytes that this process read from the disk; None where the system does not report it."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/io").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("read_bytes")).split()[1])
    return None


if __name__ == "__main__":
    what, *args = sys.argv[1:]
    print(json.dumps(growth(*args) if what == "sizes" else mapped(*args)))
