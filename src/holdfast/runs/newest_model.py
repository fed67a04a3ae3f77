"""The model of a run that may be learning: each time it is asked for, the one of the last checkpoint."""

import contextlib
import os

from holdfast.runs.files import RunError
from holdfast.runs.folder import Folder
from holdfast.runs.model import FILE, read_model


class NewestModel:
    """Reads the model again when its file was replaced. If the new one cannot be read, the old one stays."""

    def __init__(self, path):
        self._path, self._seen = path, _identity(path)
        self.model = read_model(Folder(path))

    def is_replaced(self):
        """Read the model if there is a newer one; return whether there was."""
        found = _identity(self._path)
        if found is None or found == self._seen:
            return False
        with contextlib.suppress(RunError):
            self.model, self._seen = read_model(Folder(self._path)), found
            return True
        return False


def _identity(path):
    """What changes when the file of the model is replaced; None if it is not there."""
    try:
        found = os.stat(os.path.join(path, FILE))
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
