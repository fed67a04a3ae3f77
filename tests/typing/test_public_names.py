"""`public_names.py`, which mypy checks, uses every public name."""

import ast
from pathlib import Path

import api_reference
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ast.parse((ROOT / "tests" / "typing" / "public_names.py").read_text(encoding="utf-8"))
USED = {node.attr for node in ast.walk(SCRIPT) if isinstance(node, ast.Attribute)} | {
    node.id for node in ast.walk(SCRIPT) if isinstance(node, ast.Name)
}


@pytest.fixture(scope="module")
def package():
    return api_reference.load()


@pytest.mark.parametrize("page", api_reference.PAGES)
def test_every_public_name_is_used(package, page):
    for path in api_reference.PAGES[page]:
        assert set(api_reference.public(package[path])) - USED == set()
