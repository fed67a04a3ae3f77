"""How the commands speak: results on standard output, all else on standard error."""

import contextlib
import errno
import json
import os
import sys

DONE, FAILED, WRONG, STOPPED, TERMINATED = 0, 1, 2, 130, 143


def complain(text):
    print(f"holdfast: {text}", file=sys.stderr)


def say(text):
    print(text, file=sys.stderr, flush=True)


def show(found):
    """For machines: an object on a line."""
    print(json.dumps(found, ensure_ascii=False), flush=True)


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

        from holdfast.runs.folder import RunError
        from holdfast.sources import SourceError
    except ImportError as problem:
        complain(f"{problem}; pip install 'holdfast[cli]'")
        raise Failure(WRONG) from None
    try:
        yield
    except (RunError, SourceError) as problem:
        complain(problem)
        raise Failure(WRONG) from None
    except BrokenPipeError:
        with contextlib.suppress(OSError):  # nobody reads on: be quiet about it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Failure(DONE) from None
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
