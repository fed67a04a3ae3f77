"""Kill in this process: from a given write on, no write is done any more."""

import contextlib
import os


class Killed(BaseException):
    """Raised in place of a write. What catches it cannot write either."""


@contextlib.contextmanager
def killed_at(last=None):
    """Run a block that is killed at this write, if it comes so far; yield the number of its writes.

    A write is a call that flushes, renames, makes or removes. Flushing is left out: no power fails here.
    """
    done, names = [0], ("fsync", "replace", "unlink", "mkdir", "rmdir")
    real = {name: getattr(os, name) for name in names}

    def faulty(name):
        def call(*args, **options):
            done[0] += 1
            if last is not None and done[0] >= last:
                raise Killed
            return None if name == "fsync" else real[name](*args, **options)

        return call

    for name in names:
        setattr(os, name, faulty(name))
    try:
        with contextlib.suppress(Killed):
            yield done
    finally:
        for name, function in real.items():
            setattr(os, name, function)
