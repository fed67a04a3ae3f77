"""Run `holdfast learn` again and again. Each process is killed at a random call, until N were killed.

Each run is forked from this process, which has imported everything. No clock is read: a run is killed at a
random call of its main thread, or at a random call of a function of `os`.
"""

import os
import random
import signal
import sys

import pandas  # noqa: F401  (imported before the fork, since pyarrow would import it after)

from holdfast.cli.main import main
from holdfast.runs import learning, run  # noqa: F401  (the same)


class Calls:
    """Count all calls of this thread, and those of `os`; kill the process at a given call."""

    def __init__(self, last=None, of_os=False):
        self.counts, self.last, self.of_os = [0, 0], last, of_os

    def __call__(self, frame, event, arg):
        is_of_os = event.startswith("c_") and arg.__module__ == "posix"  # before the call, and after it
        self.counts[0] += 1
        self.counts[1] += is_of_os
        if self.counts[self.of_os] == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def fork(argv, calls, report_to=None):
    pid = os.fork()
    if pid == 0:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        sys.setprofile(calls)
        status = main(argv)
        sys.setprofile(None)
        if report_to is not None:
            os.write(report_to, "{} {}".format(*calls.counts).encode())
        os._exit(status)
    return pid


def calls_of_a_whole_run(argv):
    reading, writing = os.pipe()
    finish(fork(argv, Calls(), writing))
    return list(map(int, os.read(reading, 100).split()))


def finish(pid):
    """Wait for the run; return whether it was killed."""
    status = os.waitpid(pid, 0)[1]
    if status not in (0, signal.SIGKILL):
        sys.exit("a run failed")
    return status == signal.SIGKILL


def kill_until(kills, seed, folder, source, *args):
    def argv(name):
        sources = source.split(os.pathsep)
        return ["learn", *sources, "--to", f"{folder}/{name}", "--resume", "--checkpoint", "60", *args]

    rng, done, chains, run._INTERPRETED_KEYS = random.Random(seed), 0, 0, 45
    totals = calls_of_a_whole_run(argv("counted"))
    while done < kills:
        of_os = rng.random() < 0.5
        if finish(fork(argv(chains), Calls(rng.randint(1, totals[of_os]), of_os))):
            done += 1
        else:
            chains += 1
    finish(fork(argv(chains), Calls()))
    print(done, chains + 1)


if __name__ == "__main__":
    kill_until(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
