"""Run `holdfast learn` again and again, killed at random moments, until that happened N times.

Every run is a process of its own, forked from this one, which has everything imported and does nothing else.
"""

import os
import random
import select
import signal
import sys

from holdfast.cli import main
from holdfast.runs import beginning  # noqa: F401  (imported before the fork, to be fast after it)


def fork(argv):
    pid = os.fork()
    if pid == 0:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        os._exit(main(argv))
    return pid


def ended_within(pid, seconds):
    """Whether the process ends by itself in time."""
    handle = os.pidfd_open(pid)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def kill_until(kills, seed, folder, source, *args):
    rng, done, chains = random.Random(seed), 0, 0
    while done < kills:
        argv = ["learn", source, "--to", f"{folder}/{chains}", "--resume", "--checkpoint", "60", *args]
        while done < kills:
            pid = fork(argv)
            if not ended_within(pid, rng.uniform(0.0, 0.25)):
                os.kill(pid, signal.SIGKILL)
                done += os.waitpid(pid, 0)[1] == signal.SIGKILL
            elif os.waitpid(pid, 0)[1] == 0:
                chains += 1
                break
            else:
                sys.exit("a run failed")
    pid = fork(["learn", source, "--to", f"{folder}/{chains}", "--resume", "--checkpoint", "60", *args])
    os.waitpid(pid, 0)
    print(done, chains + 1)


if __name__ == "__main__":
    kill_until(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
