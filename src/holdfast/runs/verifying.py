"""Check all files of a run, also those that no command reads back."""

import numpy as np

from holdfast.audit import WARM_UP
from holdfast.runs.checkpoint import CHECKPOINT
from holdfast.runs.files import RunError, damaged
from holdfast.runs.folder import Folder
from holdfast.runs.manifest import TABLES
from holdfast.runs.model import FILE, read_model
from holdfast.runs.run import open_run
from holdfast.runs.trace import SUMS


def verify(path):
    """What is in the folder, and a sentence for everything that is wrong with it.

    Raises if there is no run, or its manifest cannot be read: then nothing else can be checked.
    """
    folder = Folder(path)
    names = sorted(folder.load().files)
    found = {"files": 0, "bytes": 0, "problems": []}
    for name in names:
        if folder.has(name):
            found["bytes"] += _checked(found["problems"], lambda name=name: len(folder.read(name))) or 0
            found["files"] += 1
    if not found["problems"]:
        _checked(found["problems"], lambda: _check_contents(path))
    return found | {"temporary": [str(path) for path in folder.temporary_files()]}


def _checked(problems, work):
    """The result of the work; None, and one problem more, if it raises."""
    try:
        return work()
    except RunError as problem:
        problems.append(str(problem))
        return None


def _check_contents(path):
    """Raise if files with right checksums do not belong together."""
    run = open_run(path, older=True)
    if not run.is_older():
        run.check_states()
    if run.folder.has(FILE):
        model = read_model(run.folder)
        if (model.layout, model.target, model.key) != (run.layout, run.target, run.settings.key):
            raise damaged(run.folder.path / FILE, "its columns are not those of the run")
    for table in TABLES:
        for _ in run.read(table):  # raises if a part cannot be read
            pass
    if run.is_older():
        return  # its states and sums cannot be read
    skipped = sum(len(np.unique(part.column("round").to_numpy())) for part in run.read("audit", ["round"]))
    if skipped != run.trace.sums[SUMS.index("skipped")] + run.log.counts.get(WARM_UP, 0):
        raise damaged(
            run.folder.path / CHECKPOINT, f"it does not count {skipped:,} skipped rounds, as in audit"
        )
