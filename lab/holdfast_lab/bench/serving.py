"""Predictions and labels over HTTP: `holdfast serve`, River in a FastAPI app, and Vowpal Wabbit's daemon.

Each server is one process, and the client another one, on the same machine, in turns. The client waits for
each answer on each of its connections. Ours stores every prediction before the answer; the others store
nothing. Ours gets 50 labels in a call; the others get one, because they have no call for several.
"""

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np

from holdfast_lab.bench.processes import environment
from holdfast_lab.bench.serving_load import COLUMNS, target
from holdfast_lab.bench.table import Row, Section

_TURNS = 3
_HOLDFAST = sys.executable, "-m", "holdfast.cli.main"
_PATIENCE = 120.0  # seconds until a server answers


def measure(run):
    ours = ("holdfast serve", "holdfast serve --durable power", "holdfast serve --durable no")
    servers = dict.fromkeys(ours, ("http", 32, 50))
    servers |= (
        {"River in a FastAPI app": ("http", 32, 1)} if _installed("river", "fastapi", "uvicorn") else {}
    )
    servers |= {"Vowpal Wabbit's daemon": ("lines", 4, 1)} if _installed("vowpalwabbit") else {}
    seconds = run.amount(10, 5, 1)
    found: dict[str, list] = {name: [] for name in servers}
    _learn(run)
    for turn in range(run.amount(_TURNS, _TURNS, 1)):
        for name, (kind, connections, per_call) in servers.items():
            run.show(f"serving, turn {turn + 1}: {name}")
            with _server(run, name) as port:
                alone = _load(run, kind, port, seconds, connections, 0)
                beside = _load(run, kind, port, seconds, connections, per_call)
                found[name].append((alone, beside))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    about = f"one row of {COLUMNS} columns in a call, 32 connections, one process, load {load:.0f}"
    wanted = {"holdfast serve": (5_000.0, 3_000.0, 20.0)}
    nothing = (None, None, None)
    median = {name: _median(turns) for name, turns in found.items()}
    yield Section(
        f"serving: predictions without labels; {about}",
        "predictions/s",
        [Row(name, median[name]["alone"]) for name in servers],
    )
    yield Section(
        f"serving: predictions while labels are learned; {about}",
        "a second",
        [
            row
            for name in servers
            for row in (
                Row(f"{name}: predictions", median[name]["predictions"], least=wanted.get(name, nothing)[0]),
                Row(f"{name}: labels", median[name]["labels"], least=wanted.get(name, nothing)[1]),
            )
        ],
        headline=True,
    )
    yield Section(
        "serving: 99 of 100 predictions were answered within, while labels are learned",
        "ms",
        [Row(name, median[name]["p99"], most=wanted.get(name, nothing)[2]) for name in servers],
        headline=True,
    )


def _median(turns):
    figures = {"alone": [alone["predictions"] for alone, _ in turns]}
    figures |= {name: [beside[name] for _, beside in turns] for name in ("predictions", "labels", "p99")}
    return {name: float(np.median(values)) for name, values in figures.items()}


def _learn(run):
    """A run to serve. The game is compiled, if it did not come with this holdfast: a server compiles none."""
    if run.amount(True, True, False):
        command = [*_HOLDFAST, "warm", "--only", "regressor", "--rows", "dense", "--learn"]
        subprocess.run(command, env=environment(run.scratch), check=True, stdout=subprocess.DEVNULL)
    rng, rows = np.random.default_rng(0), run.amount(20_000, 20_000, 300)
    names = [f"x{i}" for i in range(COLUMNS)]
    X = rng.normal(size=(rows, COLUMNS)).tolist()
    noise = (0.1 * rng.normal(size=rows)).tolist()
    lines = [",".join(map(repr, [*row, target(row) + e])) for row, e in zip(X, noise, strict=True)]
    (run.scratch / "served.csv").write_text("\n".join([",".join([*names, "y"]), *lines]) + "\n")
    arguments = ["learn", str(run.scratch / "served.csv"), "--target", "y", "--quiet"]
    arguments += ["--to", str(run.scratch / "served.run")]
    subprocess.run([*_HOLDFAST, *arguments], env=environment(run.scratch), check=True)


@contextlib.contextmanager
def _server(run, name):
    """The port of a server, which ends afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    if name.startswith("holdfast"):
        command = ["holdfast.cli.main", "serve", str(run.scratch / "served.run"), "--port", str(port)]
        command += name.split()[2:]
    else:
        command = ["holdfast_lab.bench.serving_peers", "river" if "River" in name else "vw", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env=environment(run.scratch),
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if process.poll() is not None:
                raise RuntimeError(f"{name} did not start: exit status {process.returncode}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
                break
            time.sleep(0.1)
        yield port
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _load(run, *arguments):
    command = [sys.executable, "-m", "holdfast_lab.bench.serving_load", *map(str, arguments)]
    done = subprocess.run(
        command, env=environment(run.scratch), stdout=subprocess.PIPE, text=True, check=True
    )
    found = json.loads(done.stdout)
    if found["failed"]:
        raise RuntimeError(f"{found['failed']:,} calls failed")
    return found


def _installed(*names):
    return all(importlib.util.find_spec(name) is not None for name in names)
