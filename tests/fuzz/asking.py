"""Run commands in this process, and check how they end."""

import functools
import json
import os
import sys

from runs.small import called

CASES = int(os.environ.get("HOLDFAST_FUZZ_CASES", "2000"))  # in all tests of this folder together


def ask(*args):
    """Status, standard output and standard error of a command; fails if it ends in any but a known way."""
    try:
        status, out, err = called(*args)
    except SystemExit as end:  # argparse has printed its usage
        status, out, err = end.code, "", ""
    assert status in (0, 1, 2), (status, err)
    assert "Traceback" not in err
    if status and err:
        last = err.splitlines()[-1]
        assert last.startswith("holdfast: "), err
        assert "\x1b" not in err
    return status, out, err


_opened: list[set[str]] = []  # where the hook writes the names of files that are opened


def _note(event, args):
    if event == "open" and _opened:
        _opened[-1].add(os.fspath(args[0]) if not isinstance(args[0], int) else "")


@functools.cache
def _watch():
    sys.addaudithook(_note)  # it cannot be removed


def ask_and_watch(*args):
    """What `ask` returns, and the names of all files that the command opened."""
    _watch()
    _opened.append(set())
    answer = ask(*args)
    return answer, _opened.pop()


def strict_json(text):
    """JSON as other programs read it: without NaN and Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} in JSON")

    return json.loads(text, parse_constant=refuse)
