"""How commands end: with an exit status, and with one sentence if something went wrong."""

import contextlib
import errno
import functools
import importlib.util

from holdfast.terminal import FAILED, WRONG, OutputLost, Refusal, print_error, print_json

_NEEDED = ("jinja2", "pyarrow", "safetensors", "shtab", "tqdm")


class Failure(BaseException):
    """Ends a command with this exit status. The message is already printed."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


@contextlib.contextmanager
def report_errors():
    """Errors inside end the command with one sentence, which `main` prints; so does a missing package."""
    for name in _NEEDED:
        if not _is_installed(name):
            raise Refusal(f"{name} is not installed: pip install 'holdfast[cli]'")
    yield


@functools.cache
def _is_installed(name):
    return importlib.util.find_spec(name) is not None


@contextlib.contextmanager
def errors_in_words(as_json):
    """Print what went wrong in one sentence, and end with the exit status that fits."""
    try:
        yield
    except (Refusal, OSError, MemoryError) as problem:
        text, status = _in_words(problem)
        print_error(text)
        if as_json:
            print_json_error(text, status)
        raise Failure(status) from None


def print_json_error(text, status):
    """Print the last line of a command with --json that failed."""
    with contextlib.suppress(OutputLost):
        print_json({"event": "error", "text": str(text), "status": status})


def _in_words(problem):
    """A sentence and an exit status."""
    if isinstance(problem, Refusal):
        return str(problem), WRONG
    if isinstance(problem, MemoryError):
        return "not enough memory: are there rows with very many columns?", FAILED
    place = f"{problem.filename}: " if problem.filename else ""
    if problem.errno == errno.ENOSPC:
        text = (
            "the disk is full; what was saved before stands: make room, then run this again "
            "(learn: with --resume)"
        )
    elif problem.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        text = "may not be written to: choose another folder with --to"
    else:
        text = f"{problem.strerror or problem}; what was saved before stands"
    return f"{place}{text}", FAILED
