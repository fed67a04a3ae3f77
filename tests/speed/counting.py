"""Instructions a round of compiled games, counted by callgrind: the same on a busy machine and a quiet one.

    python tests/speed/counting.py     prints them as `test_instructions.py` has them

A game is played for 5,000 and for 10,000 rounds of the same stream, and the difference is what 5,000 rounds
take, without what comes before and after. The machine code is made for one kind of processor (x86-64-v3)
whatever this one is.
"""

import collections
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
NOWHERE = "???"  # where callgrind says that code without a file lies: what was compiled just now
_ROUNDS = 5_000


def obstacle():
    """Why nothing can be counted here, or None."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return (
            f"instructions are counted on Linux on x86-64, not on {platform.system()} on {platform.machine()}"
        )
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
        return "this processor is older than x86-64-v3, for which the games are compiled"
    if shutil.which("valgrind") is None:
        return "there is no valgrind to count instructions with"
    return None


class Count:
    """What 5,000 rounds of a game take: instructions, and the functions called, with their calls and cost."""

    def __init__(self, shorter, longer):
        (one, calls), (other, more_calls) = _game(shorter), _game(longer)
        self.instructions = (other - one) / _ROUNDS
        self.calls = {}
        for callee, (times, cost) in more_calls.items():
            before = calls.get(callee, (0, 0))
            if times > before[0]:
                self.calls[callee] = (times - before[0]) / _ROUNDS, (cost - before[1]) / (times - before[0])


def counts(folder):
    """A `Count` for each game of `games.py`, by name."""
    environment = os.environ | {
        "HOLDFAST_CACHE_DIR": str(folder / "compiled"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(HERE.parents[1] / "src"),
    }
    program = [sys.executable, str(HERE / "games.py")]
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/count"]
    for command in (program, callgrind + program):  # the first compiles
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    parts = collections.defaultdict(dict)
    for path in sorted(folder.glob("count.*"), key=lambda path: int(path.suffix[1:])):
        text = path.read_text()
        name, rounds = re.search(r"^desc: Trigger: Client Request: (.*) (\d+)$", text, re.MULTILINE).groups()
        parts[name][int(rounds)] = text
    return {name: Count(part[_ROUNDS], part[2 * _ROUNDS]) for name, part in parts.items()}


def _game(text):
    """All instructions, and all calls. What is not of a round is the same in a longer game."""
    arcs = _arcs(text)
    callees = {}
    for (caller, callee), (times, cost) in arcs.items():
        if caller != callee:
            before = callees.get(callee, (0, 0))
            callees[callee] = before[0] + times, before[1] + cost
    return int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1)), callees


def _arcs(text):
    """(object, function) of caller and callee, with the number of calls and what they cost in all.

    Callgrind's format: a name is written once and has a number from then on, and the line after one with
    `calls=` has the cost of these calls.
    """
    names, here, arcs = {}, {}, collections.defaultdict(lambda: (0, 0))
    lines = iter(text.splitlines())
    for line in lines:
        key, found, value = line.partition("=")
        if key in ("ob", "fn", "cob", "cfn"):
            number, _, name = value.partition(" ")
            kind = key[-2:]
            here[key] = names.setdefault((kind, number), name)
            if key == "fn":
                here.pop("cob", None)
        elif key == "calls" and found:
            arc = (here["ob"], here["fn"]), (here.pop("cob", here["ob"]), here["cfn"])
            times, cost = arcs[arc]
            arcs[arc] = times + int(value.split()[0]), cost + int(next(lines).split()[-1])
    return arcs


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, count in counts(pathlib.Path(folder)).items():
            print(f'    "{name}": {round(count.instructions)},')
