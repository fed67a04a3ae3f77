"""Run a program in a new Python process."""

import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).parents[1]
SOURCE = TESTS.parent / "src"


def printed(program, **variables):
    """The lines that a program prints; the modules of src and tests can be imported."""
    environment = os.environ | {"PYTHONPATH": f"{SOURCE}{os.pathsep}{TESTS}"} | variables
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()
