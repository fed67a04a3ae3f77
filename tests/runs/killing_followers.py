"""Follow a log that is rotated. The follower is killed again and again, and the log goes on in the meantime.

The steps of the log are made by this process. A follower that waits asks for the next one over a pipe. No
clock is read: it is killed at a random call of its main thread, or at a random call of a function of `os`.
"""

import os
import random
import signal
import sys
from pathlib import Path

import pandas  # noqa: F401  (imported before the fork, since pyarrow would import it after)

sys.path.insert(0, str(Path(__file__).parents[1]))

from runs.killing import Calls
from runs.rotating import Log, rows, script

from holdfast.cli.main import main
from holdfast.io import following
from holdfast.runs import learning  # noqa: F401
from holdfast.runs.run import Run

LINES = rows(180)
NEXT, OVER = b"n", b"o"
TERMINATED = 143


def follow(log, steps, args, calls):
    """Follow the log in another process, which may be killed; return its exit status and its calls."""
    ask, answer, report = os.pipe(), os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        for handle in (ask[0], answer[1]):
            os.close(handle)
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(os.open(log.path.with_name("errors"), os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        runs, stopped, begin = [], [], Run.__init__
        Run.__init__ = lambda run, *a: (runs.append(run), begin(run, *a))[1]

        def wait():
            os.write(ask[1], NEXT)
            over = os.read(answer[0], 1) == OVER and runs and runs[-1].trace.rounds == len(LINES)
            if over and not stopped:
                stopped.append(True)
                os.kill(os.getpid(), signal.SIGTERM)

        following.wait = wait
        sys.setprofile(calls)
        status = main(["learn", str(log.path), "--follow", "--resume", "--checkpoint", "25", *args])
        sys.setprofile(None)
        os.write(report[1], "{} {}".format(*calls.counts).encode())
        os._exit(status)
    for handle in (ask[1], answer[0], report[1]):
        os.close(handle)
    while os.read(ask[0], 1):
        if steps:
            log.step(*steps.pop(0))
            reply = NEXT
        else:
            reply = OVER
        try:
            os.write(answer[1], reply)
        except BrokenPipeError:
            break
    status = os.waitpid(pid, 0)[1]
    made = os.read(report[0], 100)
    for handle in (ask[0], answer[1], report[0]):
        os.close(handle)
    return status, list(map(int, made.split()))


def chain(folder, args, plan):
    """A log and its followers, until one is not killed; return how many were, and the calls of the last."""
    folder.mkdir()
    log, steps, killed = Log(folder), script(LINES), 0
    while True:
        calls, away = plan()
        status, made = follow(log, steps, [*args, "--to", str(folder / "run")], calls)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status) != TERMINATED:
                sys.exit(log.path.with_name("errors").read_text())
            return killed, made
        killed += 1
        # Before the first checkpoint, a follower starts with the log alone: rows in rotated files are lost.
        is_begun = (folder / "run" / "checkpoint.safetensors").exists()
        for _ in range(away):
            if steps and (is_begun or steps[0][0] == "add"):
                log.step(*steps.pop(0))


def kill_until(kills, seed, folder, *args):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    rng, done, chains = random.Random(seed), 0, 0
    _, totals = chain(folder / "counted", args, lambda: (Calls(), 0))

    def plan():
        nonlocal left
        if not left:
            return Calls(), 0
        left -= 1
        of_os = rng.random() < 0.5
        return Calls(rng.randint(1, totals[of_os]), of_os), rng.randint(0, 2)

    while done < kills:
        left = kills - done
        done += chain(folder / str(chains), args, plan)[0]
        chains += 1
    print(done, chains)


if __name__ == "__main__":
    kill_until(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
