"""Numba is started only where something is compiled, and compiles no more than is called."""

import pathlib
import subprocess
import sys

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


def test_what_python_never_calls_gets_no_machine_code_of_its_own(monkeypatch, tmp_path):
    from holdfast._compiled import call
    from holdfast._compiled.lesson import dispatcher

    # What comes from disk is not compiled here, and has no parts to look at.
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def half(x):
        return 0.5 * x

    def quarter(x):
        return half(half(x))

    assert call(quarter, 8.0) == 2.0
    (part,) = dispatcher(half).overloads.values()
    assert not part.library.codegen._engine.is_symbol_defined(part.fndesc.llvm_func_name)
