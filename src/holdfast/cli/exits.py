"""How the commands end: with an exit status, and with a sentence if something went wrong."""

import contextlib
import errno

from holdfast.terminal import FAILED, WRONG, complain


class Failure(Exception):  # noqa: N818  (a failure ends a command, and need not be an error)
    """Ends a command with this exit status; what there was to say has been said."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


@contextlib.contextmanager
def mistakes_said():
    """Say what went wrong in a sentence, and end with the exit status that fits."""
    try:
        import safetensors  # noqa: F401
        import shtab  # noqa: F401

        from holdfast.io.sources import SourceError
        from holdfast.runs.files import RunError
    except ImportError as problem:
        complain(f"{problem}; pip install 'holdfast[cli]'")
        raise Failure(WRONG) from None
    try:
        yield
    except (RunError, SourceError) as problem:
        complain(problem)
        raise Failure(WRONG) from None
    except OSError as problem:
        complain(_in_words(problem))
        raise Failure(FAILED) from None
    except MemoryError:
        complain("not enough memory: are there rows of very many columns?")
        raise Failure(FAILED) from None


def _in_words(problem):
    place = f"{problem.filename}: " if problem.filename else ""
    if problem.errno == errno.ENOSPC:
        return f"{place}the disk is full; the last checkpoint stands: make room, then go on with --resume"
    if problem.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"{place}may not be written to: choose another folder with --to"
    return f"{place}{problem.strerror or problem}; what was saved before stands"
