"""A command must not replace a file that it reads."""

import os
from pathlib import Path


def check_output(path, option, inputs, run=None):
    """Raise if the file that an option names is one of the inputs, or a file of the run in this folder."""
    from holdfast.runs.files import RunError
    from holdfast.runs.folder import Folder

    if path is None:
        return
    for name in filter(None, inputs):
        if _is_same(path, name):
            raise RunError(f"{option} {path} would replace {name}, which is read: choose another file")
    if run is not None and Folder(run).is_own_name(Path(path)):
        raise RunError(f"{option} {path} is the name of a file of the run: choose another file")


def _is_same(path, name):
    try:
        return os.path.samefile(path, name)
    except OSError:  # one of them is not there, or standard input
        return False
