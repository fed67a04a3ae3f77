"""`public_names.py` and `heavy_names.py` use every public name; mypy and pyright check them."""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import api_reference
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [Path(__file__).with_name(name) for name in ("public_names.py", "heavy_names.py")]
NODES = [node for script in SCRIPTS for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))]
USED = {node.attr for node in NODES if isinstance(node, ast.Attribute)} | {
    node.id for node in NODES if isinstance(node, ast.Name)
}


@pytest.fixture(scope="module")
def package():
    return api_reference.load()


@pytest.mark.parametrize("page", api_reference.PAGES)
def test_every_public_name_is_used(package, page):
    for path in api_reference.PAGES[page]:
        assert set(api_reference.public(package[path])) - USED == set()


@pytest.mark.parametrize(
    ("script", "needs"),
    [(SCRIPTS[0], []), (SCRIPTS[1], ["torch", "optax", "pyspark"])],
    ids=["public", "heavy"],
)
def test_pyright_in_strict_mode_knows_every_type(script, needs):
    for library in ("basedpyright", *needs):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"needs {library}")
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", script]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)
    assert found["summary"]["filesAnalyzed"] == 1
    assert [
        (each["range"]["start"]["line"] + 1, each["message"]) for each in found["generalDiagnostics"]
    ] == []
