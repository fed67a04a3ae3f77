"""Compile in a process of its own, while this one goes on in Python.

One such process runs at a time. It has a low priority, prints nothing and ends with this process, however
this one ends. A file in the cache folder keeps other processes from compiling the same.
`HOLDFAST_BACKGROUND=0` turns all of it off.
"""

import atexit
import contextlib
import hashlib
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time
from typing import Literal

from holdfast._compiled.argument_types import AnyFunction, Arguments, can_be_sent, example, outline
from holdfast._compiled.cache_folder import writable

Kind = Literal["call", "state"]  # for `calls.call`, or for `calls.bind_state`

_LONGEST = 1_800.0  # seconds; an older lock was left behind
_lock = threading.Lock()
_running: "Compilation | None" = None  # the compilation in this process
_asked: set[str] = set()  # the requests that this process has made
_elsewhere: set[str] = set()  # the requests that another process works on


class Compilation:
    """A running process, and the request that it works on."""

    def __init__(self, request: str, data: bytes, path: pathlib.Path) -> None:
        self.request, self.path, self.owner = request, path, os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast._compiled.background"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, self.process.pid, os.nice(0) + 2)
        assert self.process.stdin is not None
        self.pipe = self.process.stdin
        with contextlib.suppress(OSError):
            self.pipe.write(pickle.dumps(([*sys.path], path)) + data)
            self.pipe.flush()  # and not closed: its end says that this process has ended

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> None:
        """Stop the process, if it still runs, and remove the lock."""
        if self.owner != os.getpid():
            return  # a copy, after a fork
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.pipe.close()
        self.path.unlink(missing_ok=True)


def is_possible(args: Arguments) -> bool:
    """Whether another process can compile for these arguments, and store the result."""
    return (
        os.environ.get("HOLDFAST_BACKGROUND", "1") != "0"
        and os.environ.get("HOLDFAST_PUBLIC_NUMBA", "0") in ("", "0")  # that path stores nothing
        and not getattr(sys, "frozen", False)  # sys.executable is not Python
        and bool(sys.executable)
        and not _is_child()
        and can_be_sent(args)
        and writable() is not None
    )


def compile_soon(kind: Kind, function: AnyFunction, args: Arguments) -> bool:
    """Start to compile, unless that was done before. True once, when it may be on disk: look there."""
    global _running
    data = pickle.dumps((kind, function, outline(args)))
    request = hashlib.sha256(data).hexdigest()[:32]
    folder = writable()
    if folder is None:
        return False
    path = folder / f"{request}.lock"
    with _lock:
        if _running is not None and _running.owner == os.getpid():
            if not _running.is_over():
                return False
            _running.end()
            ended, _running = _running.request, None
            if ended == request:
                return True
        if request in _asked:
            return False
        if not _take(path):
            _elsewhere.add(request)
            return False
        if request in _elsewhere:  # the other process has finished
            _elsewhere.discard(request)
            path.unlink(missing_ok=True)
            return True
        _asked.add(request)
        _running = Compilation(request, data, path)
        return False


def wait(seconds: float) -> None:
    """Wait until the compilation that this process has started is over, at most so long."""
    if _running is not None and _running.owner == os.getpid():
        with contextlib.suppress(subprocess.TimeoutExpired):
            _running.process.wait(seconds)


def _is_child() -> bool:
    """Whether `multiprocessing` or joblib has started this process: its pools start many alike."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def _take(path: pathlib.Path) -> bool:
    """Make the file, if it is not there; one that is too old counts as not there."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _LONGEST:
            path.unlink()
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError:
        return False
    return True


@atexit.register
def _end() -> None:
    if _running is not None:
        _running.end()


# -- the other process


def main() -> None:
    """Compile one function for given types, and store it: `python -m holdfast._compiled.background`.

    Standard input has, pickled: the import path and the file that marks this compilation; then the kind of
    the function ("call" or "state"), the function and an outline of its arguments. When standard input is
    closed, because the process that started this one has ended, this one removes the file and ends too.
    """
    sys.path[:], mark = pickle.load(sys.stdin.buffer)
    kind, function, outlined = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_parent, args=(mark,), daemon=True).start()
    from holdfast._compiled.calls import bind_state, prepare

    {"call": prepare, "state": bind_state}[kind](function, *example(outlined))


def _end_with_the_parent(mark: pathlib.Path) -> None:
    os.read(0, 1)
    mark.unlink(missing_ok=True)
    os._exit(1)


if __name__ == "__main__":
    main()
