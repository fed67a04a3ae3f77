"""Start `killing.py`, which kills `holdfast learn` again and again."""

import subprocess
import sys
from pathlib import Path


def killed_runs(kills, seed, folder, *args):
    """The folders of runs that were killed so many times in all, and resumed until they ended."""
    command = [sys.executable, Path(__file__).with_name("killing.py"), kills, seed, folder, *args]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, chains = map(int, done.stdout.split())
    assert found == kills and chains > 0
    return [folder / str(chain) for chain in range(chains)]
