"""Garbage collection in the Python workers of Spark."""

import gc
import sys

_DONE = {"modules": 0}


def leave_out_loaded_modules():
    """If modules were loaded since the last call, let garbage collection leave out all that exists by now.

    A Python worker of Spark collects garbage after every task. With numba and pandas loaded this takes 0.1 s,
    which is more than the task.
    """
    if len(sys.modules) > _DONE["modules"]:
        gc.collect()
        gc.freeze()
        _DONE["modules"] = len(sys.modules)
