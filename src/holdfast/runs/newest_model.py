"""Predict the rows of a source that grows, each with the model of the last checkpoint of the run."""

import contextlib
import os

from holdfast.io.delimited import Delimited
from holdfast.runs.files import RunError
from holdfast.runs.folder import Folder
from holdfast.runs.inputs import Columns, Inputs, SourceEnd
from holdfast.runs.model import FILE, read_model


class NewestModel:
    """The model of a run that may be learning. It is read again when its file was replaced.

    If the new file cannot be read, or is that of a run with other columns, the model stays.
    """

    def __init__(self, path):
        self._path, self._seen = path, _identity(path)
        self._model = read_model(Folder(path))

    def get(self):
        """The model of the last checkpoint."""
        found = _identity(self._path)
        if found is not None and found != self._seen:
            with contextlib.suppress(RunError):
                model = read_model(Folder(self._path))
                if (model.layout, model.key) == (self._model.layout, self._model.key):
                    self._model, self._seen = model, found
        return self._model


def followed_pieces(run, path, reading, also=lambda source: ()):
    """The pieces of a source that is followed, each with the newest model.

    `also(source)` names columns that each piece has as they are in the source.
    """
    newest, inputs = NewestModel(run), Inputs([path], reading, follow=True)
    with contextlib.closing(inputs):
        source, model = inputs.open_first(), newest.get()
        names = source.names if type(source) is Delimited else None
        columns = Columns(model.layout, None, model.key, names, also(source))
        for item in inputs.from_first(source.blocks(), columns):
            if not isinstance(item, SourceEnd):
                yield newest.get(), item


def _identity(path):
    """What changes when the file of the model is replaced; None if it is not there."""
    try:
        found = os.stat(os.path.join(path, FILE))
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
