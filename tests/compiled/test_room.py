"""Numba is at home in one room, and nobody enters it who does not have to."""

import ast
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2] / "src"

PROGRAM = f"""
import sys
sys.path.insert(0, {str(SOURCE)!r})
import holdfast as hf
print("numba" in sys.modules)
hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients([[1.0], [2.0], [3.0]]))
hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopShare(0.1)), dim=1).observe([1.0])
print("numba" in sys.modules)
"""


def test_neither_importing_holdfast_nor_a_short_game_starts_numba():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("path", sorted((SOURCE / "holdfast").rglob("*.py")), ids=lambda path: path.stem)
def test_no_other_room_imports_numba(path):
    """Not even inside a function; what a string holds is no import."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    assert path.parent.name == "_compiled" or not names & {"numba", "llvmlite"}


def test_what_python_never_calls_gets_no_machine_code_of_its_own():
    from holdfast._compiled import call
    from holdfast._compiled.lesson import dispatcher

    def half(x):
        return 0.5 * x

    def quarter(x):
        return half(half(x))

    assert call(quarter, 8.0) == 2.0
    (part,) = dispatcher(half).overloads.values()
    assert not part.library.codegen._engine.is_symbol_defined(part.fndesc.llvm_func_name)
