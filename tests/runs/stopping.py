"""Run `holdfast learn`, killed before its first write, before its second, and so on; then resume each run.

A write is a call that flushes, renames or removes a file.
"""

import os
import sys

import pandas  # noqa: F401  (imported before the fork, as pyarrow would after it)

from holdfast.cli.main import main
from holdfast.runs import learning, run  # noqa: F401

_KILLED = 9


def in_a_child(argv, step=None):
    """The exit status of the command in a child process, which exits before the given write."""
    pid = os.fork()
    if pid == 0:
        left = step

        def counted(function):
            def call(*args, **options):
                nonlocal left
                if left is not None:
                    left -= 1
                    if left == 0:
                        os._exit(_KILLED)
                return function(*args, **options)

            return call

        for name in ("fsync", "replace", "unlink"):
            setattr(os, name, counted(getattr(os, name)))
        os._exit(main(argv))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def stop_everywhere(source, folder, *args):
    step, status, run._INTERPRETED = 0, _KILLED, 15
    while status == _KILLED:
        step += 1
        argv = ["learn", source, "--to", f"{folder}/{step}", *args]
        status = in_a_child(argv, step)
        after = in_a_child([*argv, "--resume"])
        if status not in (0, _KILLED) or after != 0:
            sys.exit(f"at write {step}: {status}, then {after}")
    print(step)


if __name__ == "__main__":
    stop_everywhere(*sys.argv[1:])
