"""Limit the memory of a process, including its file pages, with a memory cgroup where one can be made."""

import contextlib
import os
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


@contextlib.contextmanager
def limited(size):
    """The folder of a new cgroup with a limit of `size` bytes, removed afterwards; None if it cannot be made.

    A process joins by writing its number to `cgroup.procs`. Without permission, or on another system than
    Linux, nothing is limited.
    """
    group = next(filter(None, (_made(parent, file, size) for parent, file in _places())), None)
    try:
        yield group
    finally:
        if group is not None:
            with contextlib.suppress(OSError):
                group.rmdir()


def join(group):
    """Add this process to the group; whether that worked."""
    try:
        (Path(group) / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        return False
    return True


def _places():
    """Below our group in version 1; beside it in version 2, where only leaves may have processes."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        own = path.lstrip("/")
        if "memory" in controllers.split(","):
            yield _ROOT / "memory" / own, "memory.limit_in_bytes"
        elif number == "0" and not controllers:
            yield (_ROOT / own).parent if own else _ROOT, "memory.max"


def _made(parent, file, size):
    group = parent / f"holdfast-bench-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        if not (group / file).exists():  # no memory controller; do not make a plain file
            raise OSError
        (group / file).write_text(str(size))
        return group
    except OSError:
        group.rmdir()
        return None
