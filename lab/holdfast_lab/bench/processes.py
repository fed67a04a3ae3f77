"""Measure in a new process."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import holdfast as hf
import holdfast_lab


def environment(folder):
    """Environment variables: this holdfast and this laboratory, and a folder where bytecode is cached."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = [str(Path(file).parents[1]) for file in (hf.__file__, holdfast_lab.__file__) if file]
    path += filter(None, [ours.get("PYTHONPATH")])
    return ours | {"PYTHONPATH": os.pathsep.join(path), "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}


def wall_time(command, env):
    """Seconds from start to end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], env=env, check=True)
    return time.perf_counter() - start


def printed(code, env):
    """What a program prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout


def probe(run, *args):
    """The result of `holdfast_lab.bench.probe` in a new process."""
    command = [sys.executable, "-m", "holdfast_lab.bench.probe", *map(str, args)]
    done = subprocess.run(
        command, env=environment(run.scratch), stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)
