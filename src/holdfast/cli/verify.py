"""holdfast verify: check that every file of a run is what the run wrote."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from holdfast.audit import WARM_UP
from holdfast.cli.arguments import add_json, add_run, describe
from holdfast.runs.checkpoint import CHECKPOINT, load_checkpoint
from holdfast.runs.files import RunError, damaged
from holdfast.runs.folder import Folder
from holdfast.runs.ledger import read_ledger
from holdfast.runs.manifest import TABLES, TREE, part_name
from holdfast.runs.model import FILE, read_model
from holdfast.runs.recorded import read_rounds
from holdfast.runs.run import Run, open_run
from holdfast.terminal import DONE, WRONG, print_error, print_json, tell

T = TypeVar("T")


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Check every file of a run: its SHA-256 is the one in the manifest, the model and the\n"
        "checkpoint can be read, and the parts of the audit belong together. Nothing is changed. The\n"
        "exit status is 2 if a file is damaged, missing, or not of this run.",
        ["holdfast verify sensors.run", "holdfast verify sensors.run --json"],
    )
    add_run(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    found = verify(options.run)
    if options.json:
        print_json(found)
    for problem in found["problems"]:
        print_error(problem)
    if found["problems"]:
        return WRONG
    if not options.json:
        left = len(found["temporary"])
        tell(
            f"{found['files']:,} files, {found['bytes']:,} bytes: all as the run wrote them",
            *([f"{left} temporary files of a killed process: --resume removes them"] if left else []),
        )
    return DONE


def verify(path: str | Path) -> dict[str, Any]:
    """What is in the folder, and a sentence for everything that is wrong with it.

    Raises if there is no run, or its manifest cannot be read: then nothing else can be checked.
    """
    folder = Folder(path)
    names = sorted(folder.load().files)
    problems: list[str] = []
    files = [name for name in names if folder.has(name)]
    sizes = [len(_checked(problems, partial(folder.read, name)) or b"") for name in files]
    if not problems:
        _checked(problems, lambda: _check_contents(path))
    temporary = [str(path) for path in folder.temporary_files()]
    return {"files": len(files), "bytes": sum(sizes), "problems": problems, "temporary": temporary}


def _checked(problems: list[str], work: Callable[[], T]) -> T | None:
    """The result of the work; None, and one problem more, if it raises."""
    try:
        return work()
    except RunError as problem:
        problems.append(str(problem))
        return None


def _check_contents(path: str | Path) -> None:
    """Raise if files with right checksums do not belong together."""
    run = open_run(path)
    run.check_states()
    if run.folder.has(FILE):
        model = read_model(run.folder)
        if (model.layout, model.target, model.key) != (run.layout, run.target, run.settings.key):
            raise damaged(run.folder.path / FILE, "its columns are not those of the run")
    for table in TABLES:
        for _ in run.read(table):  # raises if a part cannot be read
            pass
    retracted = read_ledger(run).retracted()
    for _ in read_rounds(run):  # raises if a part of the forecasts has other rows than that of the sizes
        pass
    for table in ("audit", "sizes"):
        for part in run.read(table, ["row"]):
            if np.isin(part.column("row").to_numpy(), retracted).any():
                raise damaged(run.folder.path / table, "it has a row that the ledger says was taken back")
    for node in run.tree.nodes:
        earlier = Run(run.folder, run.config)
        load_checkpoint(earlier, part_name(TREE, node.number))
        earlier.check_states()
        if earlier.trace.rounds != node.round:
            raise damaged(run.folder.path / part_name(TREE, node.number), "it is the state of another round")
    skipped = sum(len(np.unique(part.column("round").to_numpy())) for part in run.read("audit", ["round"]))
    if skipped != run.trace.skipped + run.log.counts.get(WARM_UP, 0):
        raise damaged(
            run.folder.path / CHECKPOINT, f"it does not count {skipped:,} skipped rounds, as in audit"
        )
