"""How commands end: with an exit status, and with one sentence if something went wrong."""

import contextlib
import errno
import importlib.util

from holdfast.terminal import FAILED, WRONG, print_error

_NEEDED = ("jinja2", "pyarrow", "safetensors", "shtab", "tqdm")


class Failure(Exception):  # noqa: N818  (it ends a command, and need not be an error)
    """Ends a command with this exit status. The message is already printed."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


@contextlib.contextmanager
def report_errors():
    """Print what went wrong in one sentence, and end with the exit status that fits."""
    for name in _NEEDED:
        if importlib.util.find_spec(name) is None:
            print_error(f"{name} is not installed: pip install 'holdfast[cli]'")
            raise Failure(WRONG)
    from holdfast.io.sources import SourceError
    from holdfast.runs.files import RunError

    try:
        yield
    except (RunError, SourceError) as problem:
        print_error(problem)
        raise Failure(WRONG) from None
    except OSError as problem:
        print_error(_in_words(problem))
        raise Failure(FAILED) from None
    except MemoryError:
        print_error("not enough memory: are there rows with very many columns?")
        raise Failure(FAILED) from None


def _in_words(problem):
    place = f"{problem.filename}: " if problem.filename else ""
    if problem.errno == errno.ENOSPC:
        return f"{place}the disk is full; the last checkpoint stands: make room, then go on with --resume"
    if problem.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"{place}may not be written to: choose another folder with --to"
    return f"{place}{problem.strerror or problem}; what was saved before stands"
