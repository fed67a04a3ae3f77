"""Garbage collection in the Python workers of Spark."""

import gc
import sys

_SEEN = {"modules": 0}


def leave_out_loaded_modules():
    """Let the garbage collector leave out all objects that exist by now, if modules were loaded since the last time.

    A worker of Spark collects garbage after every task, and looks at every object: with numba and pandas this
    takes longer than the task.
    """
    if len(sys.modules) > _SEEN["modules"]:
        gc.collect()
        gc.freeze()
        _SEEN["modules"] = len(sys.modules)
