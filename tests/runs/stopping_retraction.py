"""Take rows back, killed before the first write, before the second, and so on; then go on, or begin again.

A write is a call that flushes, renames or removes a file. Each time the run must be as before until it is as
after. Only model and metrics may be ahead, as after a kill of `learn`.
"""

import shutil
import sys
from pathlib import Path

import pandas  # noqa: F401  (imported before the fork, as pyarrow would after it)
from runs.histories import digest
from runs.stopping import in_a_child

from holdfast.cli import inspect, restore, retract, verify  # noqa: F401
from holdfast.runs import checkpoint_tree, retraction, run

_KILLED = 9


def state(run):
    return {name: value for name, value in digest(run).items() if name not in ("metrics", "model")}


def stop_everywhere(original, folder, first, every, *args):
    checkpoint_tree.INTERVAL, run._INTERPRETED, retraction._EVERY = 16, 11, (40, 1e9)
    original, step, status = Path(original), int(first), _KILLED
    before, outcomes = state(original), {"as before": 0, "as after": 0}
    whole = Path(folder) / "whole"
    shutil.copytree(original, whole)
    if in_a_child([*args[:1], str(whole), *args[1:]]) != 0:
        sys.exit("the retraction failed")
    after, results = state(whole), digest(whole)
    while status == _KILLED:
        copied = Path(folder) / str(step)
        shutil.copytree(original, copied)
        argv = [args[0], str(copied), *args[1:]]
        status = in_a_child(argv, step)
        found = state(copied)
        if found not in (before, after) or in_a_child(["inspect", str(copied)]) != 0:
            sys.exit(f"at write {step}: the run is damaged")
        outcomes["as after" if found == after else "as before"] += 1
        if found != after:
            resumed = in_a_child(["retract", str(copied), "--resume", "--quiet"])
            if resumed != 0 and in_a_child(argv) != 0:  # it was killed before there was anything to resume
                sys.exit(f"at write {step}: it does not go on")
        elif in_a_child(["retract", str(copied), "--resume", "--quiet"]) not in (0, 2):
            sys.exit(f"at write {step}: it does not end")
        if digest(copied) != results or in_a_child(["verify", str(copied)]) != 0:
            sys.exit(f"at write {step}: the run is not as after the retraction")
        shutil.rmtree(copied)
        step += int(every)
    print(step, outcomes["as before"], outcomes["as after"])


if __name__ == "__main__":
    stop_everywhere(*sys.argv[1:])
