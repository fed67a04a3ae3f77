"""How commands end: with an exit status, with one sentence if something went wrong, and on signals."""

import contextlib
import errno
import importlib.util
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from holdfast.terminal import (
    DONE,
    FAILED,
    HUNG_UP,
    STOPPED,
    TERMINATED,
    WRONG,
    OutputLost,
    Refusal,
    print_error,
    print_json,
)

_STATUSES = {"SIGINT": STOPPED, "SIGTERM": TERMINATED, "SIGHUP": HUNG_UP}
STATUSES = {getattr(signal, name): status for name, status in _STATUSES.items() if hasattr(signal, name)}
_CLI = ("jinja2", "pyarrow", "safetensors", "shtab", "tqdm")
_SERVE = ("starlette", "uvicorn", "httptools", "msgspec", "prometheus_client")
_PACKAGES = {"": (), "cli": _CLI, "serve": (*_CLI, *_SERVE)}  # by extra


class Failure(BaseException):
    """Ends a command with this exit status. The message is already printed."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def check_packages(extra: str) -> None:
    """Raise if a package of this extra is missing, before the work begins that needs it at its end."""
    for name in _PACKAGES[extra]:
        if importlib.util.find_spec(name) is None:
            raise Refusal(f"{name} is not installed: pip install 'holdfast[{extra}]'")


@contextlib.contextmanager
def errors_in_words(as_json: bool) -> Iterator[None]:
    """Print what went wrong in one sentence, and end with the exit status that fits."""
    try:
        yield
    except (Refusal, OSError, MemoryError) as problem:
        text, status = _in_words(problem)
        print_error(text)
        if as_json:
            print_json_error(text, status)
        raise Failure(status) from None


def print_json_error(text: object, status: int) -> None:
    """Print the last line of a command with --json that failed."""
    with contextlib.suppress(OutputLost):
        print_json({"event": "error", "text": str(text), "status": status})


def _in_words(problem: Refusal | OSError | MemoryError) -> tuple[str, int]:
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


# -- signals


@contextlib.contextmanager
def handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call this handler for the signals. One that is ignored, as SIGHUP after nohup, stays ignored."""
    before = {}
    if threading.current_thread() is threading.main_thread():  # elsewhere, signals cannot be handled
        for number in STATUSES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old if old is not None else signal.SIG_DFL)


def end(number: int, frame: FrameType | None) -> None:
    """End the command, so that it removes its temporary files."""
    raise Failure(STATUSES[number])


class StopSignals:
    """While a run learns (`wait`), the first signal is stored, and the run stops after a round."""

    def __init__(self) -> None:
        self._number: int | None = None
        self.wait = False

    def store(self, number: int, frame: FrameType | None) -> None:
        if self._number is not None or not self.wait:
            end(number, frame)
        self._number = number

    def arrived(self) -> bool:
        return self._number is not None

    def status(self) -> int:
        return DONE if self._number is None else STATUSES[self._number]
