"""docs/paper.md: all names on it exist, and all bounds are on it."""

import ast
import re
from pathlib import Path

import pytest

import holdfast as hf
from holdfast import bounds
from holdfast_lab.reproduce.runner import NAMES as EXPERIMENTS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
TEXT = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
NAMES = sorted(set(re.findall(r"`([^`]+)`", TEXT)))


def exists(name):
    """Whether a name exists: a file, a test, a command, or a name of `hf` or `bounds`."""
    if name.startswith("holdfast reproduce"):
        return set(name.split()[2:]) <= set(EXPERIMENTS)
    if name.startswith("bounds."):
        return hasattr(bounds, name.removeprefix("bounds."))
    if name.startswith("hf."):
        module, _, last = name.removeprefix("hf.").rpartition(".")
        return hasattr(getattr(hf, module), last) if module else last in hf.__all__
    path, _, test = name.partition("::")
    if not (ROOT / path).is_file():
        return False
    if not test:
        return True
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_experiment_is_on_the_page():
    assert [name for name in EXPERIMENTS if f"`holdfast reproduce {name}`" not in TEXT] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_name_on_the_page_exists(name):
    assert exists(name), f"docs/paper.md names {name}, which does not exist"


def test_names_that_do_not_exist_are_found():
    for name in (
        "bounds.theorem_99",
        "hf.Nothing",
        "src/holdfast/nothing.py",
        "tests/bounds/test_topk.py::test_nothing",
    ):
        assert not exists(name)


def test_every_bound_is_on_the_page():
    public = bounds.__all__
    assert len(public) > 40
    assert [name for name in public if f"`bounds.{name}`" not in TEXT] == []


NUMBERED = (
    *("Algorithm 1", "Theorem 1", "Corollary 2", "Corollary 3", "Lemma 4", "Corollary 5"),
    *("Theorem 6", "Theorem 7", "Algorithm 2", "Theorem 8", "Proposition 9"),
)


@pytest.mark.parametrize("result", NUMBERED)
def test_every_numbered_result_has_code_and_a_test(result):
    code, tests = TEXT[: TEXT.index("## 2.")].split("### The tests")
    for part in (code, tests):
        assert any(line.startswith("|") and result in line for line in part.splitlines())


def test_every_note_is_cited_and_written():
    """Each letter in a table has a paragraph, and each paragraph a letter in a table."""
    section = TEXT[TEXT.index("## 2.") : TEXT.index("## 3.")]
    cited = {
        letter
        for line in section.splitlines()
        if line.startswith("|")
        for letter in re.findall(r"\(([a-m])\)", line)
    }
    written = set(re.findall(r"^\(([a-z])\) ", section, flags=re.MULTILINE))
    assert cited == written


def test_the_lines_of_the_page_are_short():
    assert [line for line in PAGE.splitlines() if len(line) > 140] == []
