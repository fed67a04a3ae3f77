"""Read a run folder: its newest model while another process learns, and all files to verify them."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from holdfast.audit import WARM_UP
from holdfast.io.delimited import Delimited
from holdfast.io.sources import Piece, Reading, Source
from holdfast.runs.checkpoint import CHECKPOINT, load_checkpoint
from holdfast.runs.files import RunError, damaged
from holdfast.runs.folder import Folder
from holdfast.runs.inputs import Columns, Inputs
from holdfast.runs.ledger import read_ledger
from holdfast.runs.manifest import TABLES, TREE, part_name
from holdfast.runs.model import FILE, Model, read_model
from holdfast.runs.run import Run, open_run
from holdfast.runs.trace import SUMS

T = TypeVar("T")


class NewestModel:
    """The model of a run that may be learning. It is read again when its file was replaced.

    If the new file cannot be read, or is that of a run with other columns, the model stays.
    """

    def __init__(self, path: str | Path) -> None:
        self._path, self._seen = path, _identity(path)
        self._model = read_model(Folder(path))

    def get(self) -> Model:
        """The model of the last checkpoint."""
        found = _identity(self._path)
        if found is not None and found != self._seen:
            with contextlib.suppress(RunError):
                model = read_model(Folder(self._path))
                if (model.layout, model.key) == (self._model.layout, self._model.key):
                    self._model, self._seen = model, found
        return self._model


def followed_pieces(
    run: str | Path,
    path: str | Path,
    reading: Reading,
    also: Callable[[Source], tuple[str, ...]] = lambda source: (),
) -> Iterator[tuple[Model, Piece]]:
    """The pieces of a source that is followed, each with the newest model.

    `also(source)` names columns that each piece has as they are in the source.
    """
    newest, inputs = NewestModel(run), Inputs([path], reading, follow=True)
    with contextlib.closing(inputs):
        source, model = inputs.open_first(), newest.get()
        names = source.names if type(source) is Delimited else None
        columns = Columns(model.layout, None, model.key, names, also(source))
        for item in inputs.from_first(source.blocks(), columns):
            if isinstance(item, Piece):
                yield newest.get(), item


def _identity(path: str | Path) -> tuple[int, int, int] | None:
    """What changes when the file of the model is replaced; None if it is not there."""
    try:
        found = os.stat(os.path.join(path, FILE))
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


# -- verify


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
    if skipped != run.trace.sums[SUMS.index("skipped")] + run.log.counts.get(WARM_UP, 0):
        raise damaged(
            run.folder.path / CHECKPOINT, f"it does not count {skipped:,} skipped rounds, as in audit"
        )
