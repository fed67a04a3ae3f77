"""A command must not replace a file that it reads, nor a device."""

import os
from pathlib import Path


def check_output(path, option, inputs, run=None):
    """Raise if an option names one of the inputs, a file of the run in this folder, or no file at all."""
    from holdfast.runs.files import RunError, check_replaceable
    from holdfast.runs.folder import Folder

    if path is None:
        return
    check_replaceable(path)
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
