"""Measure all sections, print each, and write them as JSON, pictures and a table."""

import datetime
import importlib
import os
import platform
import tempfile
from pathlib import Path

from holdfast import __version__
from holdfast.terminal import overwrite, tell
from holdfast_lab.bench import drawing, peers
from holdfast_lab.bench.race import BenchRun
from holdfast_lab.bench.table import goals_summary, markdown, put_between_markers, text, to_json

MODULES = {
    "dense": "dense",
    "robustness": "robustness",
    "guard": "guard",
    "sparse": "sparse",
    "single": "single",
    "many": "many",
    "memory": "memory",
    "growth": "growth",
    "filters": "filters",
    "levels": "levels",
    "import": "importing",
    "start": "starting",
    "latency": "latency",
    "long": "long_streams",
    "command": "command",
    "serve": "serving",
}
NAMES = tuple(MODULES)
ON_REQUEST = {"spark": "spark"}  # measured only if it is named


def bench(names, scale, folder, page=None, disk=None):
    """Measure; write bench.json and the pictures to the folder and, with `page`, the table to that file.

    With `disk`, a folder on another disk, a large file is played from there as well.
    """
    folder.mkdir(parents=True, exist_ok=True)
    about = describe() | {"scale": scale}
    tell(*(f"{name:<14}{value}" for name, value in _lines(about)))
    if scale == "tiny":
        tell("", "Nothing is compiled: the figures below have no meaning.")
    sections = []
    with tempfile.TemporaryDirectory(prefix="scratch-", dir=folder) as scratch:
        run = BenchRun(scale, folder, Path(scratch), overwrite, disk)
        for name in names:
            for section in importlib.import_module(
                f"holdfast_lab.bench.{(MODULES | ON_REQUEST)[name]}"
            ).measure(run):
                sections.append(section if run.compiled else section.without_goals())
                tell("", *text(sections[-1]).split("\n"))
                (folder / "bench.json").write_text(to_json(about, sections), encoding="utf-8")
    contests = [section for section in sections if section.headline and section.against == peers.AGAINST]
    if contests and drawing.possible():
        drawing.speed(contests, folder / "speed.png")
    if page is not None:
        put_between_markers(page, markdown(about, sections, _command(scale, page, disk)))
    tell("", f"The figures{' and pictures' if drawing.possible() else ''}: {folder}")
    if not drawing.possible():
        tell("For the pictures: pip install './lab[bench]'")
    if run.compiled:
        tell(*goals_summary(sections).split("\n"))


def describe():
    """The machine, the date, and the versions of all libraries."""
    versions = {"holdfast": __version__, "Python": platform.python_version()}
    versions |= {name: peers.version(name) or "not installed" for name in ("numpy", "numba", *peers.PACKAGES)}
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "versions": versions,
    }


def _lines(about):
    yield from about["versions"].items()
    yield "machine", about["machine"]
    if hasattr(os, "getloadavg"):
        yield "load", f"{os.getloadavg()[0]:.1f}"


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line for line in lines if line.startswith("model name")).partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _command(scale, page, disk):
    words = ["holdfast bench", *([f"--{scale}"] if scale != "full" else []), "--write", page.name]
    return " ".join([*words, *(["--disk", "FOLDER"] if disk else [])])
