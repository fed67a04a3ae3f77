"""Commands on the pages: those of holdfast have these options, make has these targets, the README's run."""

import argparse
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from holdfast.cli.main import main
from holdfast.cli.parser import COMMANDS, LAB_COMMANDS, whole_parser

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FORMATS = {"model", "checkpoint"}  # `holdfast model 1` is what a file says of itself
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(page, program):
    """The calls of a program on a page, in blocks of code or in a line, as words."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(
        rf"^({program} .*)$", "\n".join(re.findall(r"```.*?```", text, flags=re.DOTALL)), flags=re.M
    )
    found += re.findall(rf"`({program} [^`]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [shlex.split(call, comments=True)[1:] for call in found]


def options():
    """The options of each command."""
    (choices,) = (it.choices for it in whole_parser()._actions if isinstance(it, argparse._SubParsersAction))
    return {name: set(parser._option_string_actions) for name, parser in choices.items()}


@pytest.fixture(scope="module")
def known():
    return options()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_exist(page, known):
    for name, *words in commands(page, "holdfast"):
        assert name in {*COMMANDS, *LAB_COMMANDS, *FORMATS}
        assert {word for word in words if word.startswith("--")} <= known.get(name, set())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_targets_of_make_exist(page):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    for words in commands(page, "make"):
        named = [word for word in words if re.fullmatch(r"[a-z-]+", word)]
        assert named[:1] == [] or named[0] in targets


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch, capsys):
    rows = np.random.default_rng(3).normal(size=(200, 3)).round(3)
    for name in ("sensors.csv", "today.csv"):
        np.savetxt(tmp_path / name, rows, fmt="%g", delimiter=",", header="a,b,benzene", comments="")
    monkeypatch.chdir(tmp_path)
    block = next(
        block for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL) if "holdfast" in block
    )
    calls = [shlex.split(line, comments=True)[1:] for line in block.splitlines()]
    assert len(calls) == 11
    for call in calls:
        if call != ["demo"]:  # tests/cli/test_help.py runs it
            assert main(call) == 0, capsys.readouterr()
    assert (tmp_path / "sensors.run" / "report.html").exists()
